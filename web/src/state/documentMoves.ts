/** Moved documents, by the person or anybody else: this window follows them. */

import { show, useStore } from "./store";

/** Where each document was, and where it is now. */
export type DocumentMoves = ReadonlyMap<string, string>;

type Listener = (moves: DocumentMoves, open: readonly string[]) => void;

const listeners = new Set<Listener>();

/** Be notified of moved documents, before anything is shown under its new name; and of all that are open. */
export function onMove(listener: Listener): void {
  listeners.add(listener);
}

/** Apply moves to what this window shows, all at once: two may have swapped their names. */
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

/** What is known about moved documents, by their new names. */
function renameKeys<Value>(by: Record<string, Value>, moves: DocumentMoves): Record<string, Value> {
  const known = [...moves].flatMap(([from, to]): [string, Value][] => {
    const value = by[from];
    return value === undefined ? [] : [[to, value]];
  });
  return Object.fromEntries(known);
}

/**
 * The server reported which documents are open, each with its tab, which it keeps when it is moved. This runs before
 * anybody sees the news: code with the old names still finds the document in front by its tab.
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
  // This is called often, and mostly nothing is new.
  const same = known.length === open.length && known.every(([path, tab]) => now.get(tab) === path);
  if (!same) show({ tabs: Object.fromEntries(open.map(({ path, tab_id }) => [path, tab_id])) });
}
