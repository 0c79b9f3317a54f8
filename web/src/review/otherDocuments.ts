/** From the last change of a document to the first one of the next document in which something waits. */

import { client, reviewQuery } from "@/api/queries";
import { openDocument } from "@/state/documents";
import type { Draft, Hunk } from "./hunkPlaces";
import { listOpenHunks, sortDrafts } from "./reviewText";
import type { ReviewUnit } from "./reviewUnits";

/** The document that comes after this one in a direction, cyclically; null if nothing waits elsewhere. */
export function nextDraft(drafts: readonly Draft[], path: string, step: number): Draft | null {
  const all = sortDrafts(drafts.filter((draft) => draft.pending || draft.path === path));
  const at = all.findIndex((draft) => draft.path === path);
  const others = all.filter((draft) => draft.path !== path);
  if (others.length === 0) return null;
  if (at < 0) return (step > 0 ? others[0] : others.at(-1)) ?? null;
  return all[(at + step + all.length) % all.length] ?? null;
}

/** Go to the first change of the next document, or to the last one of the document before; returns whether there is one. */
export function goToNextDocument(path: string, step: number): boolean {
  const draft = nextDraft(client.getQueryData(reviewQuery.queryKey) ?? [], path, step);
  if (draft) void openAtChange(draft, step);
  return draft !== null;
}

/** The units around a change in its document, and its turn, if that reaches further. */
export function withTurn(units: readonly ReviewUnit[], { turn }: Hunk): ReviewUnit[] {
  const drafts = client.getQueryData(reviewQuery.queryKey) ?? [];
  const hunks = drafts.flatMap(listOpenHunks).filter((hunk) => hunk.turn === turn && !hunk.conflict);
  const most = units.at(-1)?.hunks.length ?? 1;
  return turn !== null && hunks.length > most ? [...units, { kind: "turn", hunks }] : [...units];
}

/** Open a document at its first change, or at its last one. */
export function openAtChange(draft: Draft, step = 1): Promise<boolean> {
  const inText = listOpenHunks(draft).filter(({ kind }) => kind === "modified");
  const hunk = step > 0 ? inText[0] : inText.at(-1);
  return openDocument(draft.path, hunk && { line: hunk.working_start_line, column: hunk.working_column });
}
