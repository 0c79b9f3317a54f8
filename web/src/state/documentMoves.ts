/** Documents that were moved, by the person or by anybody else: this window goes along. */

import { show, useStore } from "./store";

/** Where each document was, and where it is now. */
export type DocumentMoves = ReadonlyMap<string, string>;

type Listener = (moves: DocumentMoves, open: readonly string[]) => void;

const listeners = new Set<Listener>();

/** Be told of documents that were moved, before anything is shown under its new name; and of all that are open. */
export function onMoved(listener: Listener): void {
  listeners.add(listener);
}

/** What this window shows of documents goes where they went, all at once: two may have traded their names. */
export function followMoves(moves: DocumentMoves, open: readonly string[] = []): void {
  const { order, active, views, tabs } = useStore.getState();
  const now = (path: string) => moves.get(path) ?? path;
  for (const listener of listeners) listener(moves, open);
  if (moves.size === 0) return;
  show({
    order: [...new Set(order.map(now))],
    active: active === null ? null : now(active),
    // The old names are still shown for a moment.
    views: { ...views, ...renameKeys(views, moves) },
    tabs: { ...tabs, ...renameKeys(tabs, moves) },
  });
}

/** What is known of the documents that went, by their new names. */
function renameKeys<Value>(by: Record<string, Value>, moves: DocumentMoves): Record<string, Value> {
  const known = [...moves].flatMap(([from, to]): [string, Value][] => {
    const value = by[from];
    return value === undefined ? [] : [[to, value]];
  });
  return Object.fromEntries(known);
}

/**
 * The server told which documents are open, each with the tab that it keeps when it is moved. This is done before anybody
 * is shown the news: whoever has the old ones still finds the document in front by its tab.
 */
export function followTabs(open: readonly { tab_id: string; path: string }[]): void {
  const now = new Map(open.map(({ tab_id, path }) => [tab_id, path]));
  const known = Object.entries(useStore.getState().tabs);
  const moves = new Map<string, string>();
  for (const [path, tab] of known) {
    const to = now.get(tab);
    if (to !== undefined && to !== path) moves.set(path, to);
  }
  followMoves(moves, [...now.values()]);
  // This is asked for often, and mostly nothing is new.
  const same = known.length === open.length && known.every(([path, tab]) => now.get(tab) === path);
  if (!same) show({ tabs: Object.fromEntries(open.map(({ path, tab_id }) => [path, tab_id])) });
}
