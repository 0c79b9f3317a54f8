/** The review in words. */

import { type Draft, type Hunk, isOpen } from "./placing";

/** What is to be decided about a document: the document itself, where it is one decision, or its hunks. */
export function openHunks({ hunks }: Draft): Hunk[] {
  const open = hunks.filter(isOpen);
  const whole = open.filter(({ kind }) => kind === "created" || kind === "deleted");
  return whole.length > 0 ? whole : open;
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

export function bannerText(draft: Draft): string {
  if (draft.kind === "created") return "AI created this document";
  if (draft.kind === "deleted") return "AI wants to delete this document";
  const places = openHunks(draft).filter(({ kind }) => kind === "modified").length;
  const changed = places > 0 ? `AI changed ${counted(places, "place")} here` : "";
  if (draft.kind !== "moved") return changed;
  const from = `AI moved this document from ${draft.base_path ?? "elsewhere"}`;
  return changed ? `${from} and changed ${counted(places, "place")}` : from;
}

const KINDS = { created: "New", modified: "Changed", moved: "Moved", deleted: "Deleted" } as const;

export function kindName(kind: Draft["kind"]): string {
  return KINDS[kind];
}

/** What agents did in the whole folder. */
export function summaryText(drafts: readonly Draft[]): string {
  const changes = drafts.reduce((sum, draft) => sum + openHunks(draft).length, 0);
  return `${counted(changes, "change")} by AI in ${counted(drafts.length, "document")} for you to decide`;
}
