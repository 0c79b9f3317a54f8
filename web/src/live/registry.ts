/** The live documents of this window: one for each open document, in front or not. */

import { onMove } from "@/state/documentMoves";
import { useStore } from "@/state/store";
import { setDeliveryWait } from "./delivery";
import { LiveDocument } from "./liveDocument";
import type { Session } from "./session";

const documents = new Map<string, LiveDocument>();
/** Earlier names of open documents: callers that do not know the new name yet find them under these, too. */
const movedTo = new Map<string, string>();

export function liveDocument(path: string): LiveDocument {
  let found = current(path);
  if (!found) {
    found = new LiveDocument(path, (document) => void release(document));
    documents.set(path, found);
  }
  return found;
}

/** The session of a document that is open here, if it has one by now. */
export function sessionOf(path: string): Session | null {
  return current(path)?.session ?? null;
}

function current(path: string): LiveDocument | undefined {
  const to = movedTo.get(path);
  return documents.get(path) ?? (to === undefined ? undefined : documents.get(to));
}

onMove((moves, open) => {
  const moving = [...moves].flatMap(([from, to]) => {
    const document = documents.get(from);
    documents.delete(from);
    return document ? [{ document, from, to }] : [];
  });
  for (const { document, from, to } of moving) {
    const there = documents.get(to);
    if (there) end(there); // it is gone, or there would not be another one
    documents.set(to, document);
    for (const [before, after] of movedTo) if (after === from) movedTo.set(before, to);
    movedTo.set(from, to);
    movedTo.delete(to);
    document.moveTo(to);
  }
  for (const path of open) movedTo.delete(path); // the current document of that name takes precedence
});

setDeliveryWait(async (paths) => {
  const wanted = [...documents.values()].filter(({ path }) => !paths || paths.includes(path));
  return (await Promise.all(wanted.map((document) => document.waitForDelivery()))).every(Boolean);
});

/** Release a document that is no longer open, once what was typed into it has arrived. */
async function release(document: LiveDocument): Promise<void> {
  await document.waitForDelivery();
  const { order, active, tabs } = useStore.getState();
  const { path, watched } = document;
  const open = watched || order.includes(path) || active === path || path in tabs;
  if (open || document.wouldLose || documents.get(document.path) !== document) return;
  end(document);
}

function end(document: LiveDocument): void {
  documents.delete(document.path);
  document.destroy();
}

useStore.subscribe(({ order }, before) => {
  for (const path of before.order) {
    const document = order.includes(path) ? undefined : documents.get(path);
    if (document) void release(document);
  }
});

globalThis.addEventListener?.("beforeunload", (event) => {
  if ([...documents.values()].some((document) => document.wouldLose)) event.preventDefault();
});
