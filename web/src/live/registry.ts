/** The live documents of this window: one for each document that is open in it, in front or not. */

import { useStore } from "@/state/store";
import { waitWith } from "./arriving";
import { LiveDocument } from "./liveDocument";
import type { Session } from "./session";

const documents = new Map<string, LiveDocument>();
const movedTo = new Map<string, string>();

/** The live document of a path; where it was moved just now, `from` is where it was before. */
export function liveDocument(path: string, from = path): LiveDocument {
  const found = documents.get(path);
  if (found) return found;
  const before = documents.get(from);
  const made = new LiveDocument(path, before);
  documents.set(path, made);
  movedTo.delete(path);
  if (before) {
    movedTo.set(from, path);
    end(before);
  }
  return made;
}

/** The session of a document that is open here, if it has one by now; that of a document that was moved goes on. */
export function sessionOf(path: string): Session | null {
  const to = movedTo.get(path);
  return to === undefined ? (documents.get(path)?.session ?? null) : sessionOf(to);
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
  end(document);
}

function end(document: LiveDocument): void {
  documents.delete(document.path);
  document.destroy();
}

// As long as it takes whoever shows a document that was moved to hear of that, and take it over.
const HANDED_OVER_MS = 2000;

useStore.subscribe(({ order, active }, before) => {
  before.order.forEach((path, at) => {
    const document = order.includes(path) ? undefined : documents.get(path);
    if (!document) return;
    const to = order.length === before.order.length ? order[at] : undefined;
    if (to === undefined) void letGo(document);
    else if (to !== active) liveDocument(to, path);
    else setTimeout(() => void letGo(document), HANDED_OVER_MS);
  });
});

globalThis.addEventListener?.("beforeunload", (event) => {
  if ([...documents.values()].some((document) => document.wouldLose)) event.preventDefault();
});
