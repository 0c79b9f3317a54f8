/** The live documents of this window: one for each document that is open in it, in front or not. */

import { useStore } from "@/state/store";
import { waitWith } from "./arriving";
import { LiveDocument } from "./liveDocument";
import type { Session } from "./session";

const documents = new Map<string, LiveDocument>();

export function liveDocument(path: string): LiveDocument {
  let found = documents.get(path);
  if (!found) {
    found = new LiveDocument(path);
    documents.set(path, found);
  }
  return found;
}

/** The session of a document that is open here, if it has one by now. */
export function sessionOf(path: string): Session | null {
  return documents.get(path)?.session ?? null;
}

waitWith(async (paths) => {
  const wanted = [...documents.values()].filter(({ path }) => !paths || paths.includes(path));
  return (await Promise.all(wanted.map((document) => document.arrived()))).every(Boolean);
});

/** Let go of a document that is not open any more, once what was typed into it has arrived. */
async function letGo(document: LiveDocument): Promise<void> {
  await document.arrived();
  const { order, active } = useStore.getState();
  const open = order.includes(document.path) || active === document.path;
  if (open || document.wouldLose || documents.get(document.path) !== document) return;
  documents.delete(document.path);
  document.destroy();
}

useStore.subscribe(({ order }, before) => {
  for (const path of before.order) {
    const document = order.includes(path) ? undefined : documents.get(path);
    if (document) void letGo(document);
  }
});

globalThis.addEventListener?.("beforeunload", (event) => {
  if ([...documents.values()].some((document) => document.wouldLose)) event.preventDefault();
});
