/** Where hunks are in the editor's text. Pure. */

import type { ChangeDesc, Text } from "@codemirror/state";
import type { Schemas } from "@/api/client";
import { toRange } from "@/editor/places";

/** `applied` is the turn that wrote it, if that did not wait for a decision: it can be kept or undone. */
export type Hunk = Schemas["HunkShape"] & { applied?: number };
export type Draft = Schemas["DraftShape"];

interface Stretch {
  from: number;
  to: number;
}

/** A hunk and its range of the text; empty if something was removed. */
export interface PlacedHunk extends Stretch {
  hunk: Hunk;
}

export interface HunkPlaces {
  placed: PlacedHunk[];
  /** Whether all were found: the text may have changed since the review was fetched. */
  whole: boolean;
}

/** A text with every line break one unit long, as in the editor. */
export function normalizeNewlines(text: string): string {
  return text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
}

/** Whether a hunk has anything of an agent's to decide. A person's own typing stays as it is. */
export function isOpen({ author, conflict }: Hunk): boolean {
  return conflict || author === "agent" || author === "mixed";
}

/** Where hunks, given in text order, are. One that is not at its reported place stays where it was seen `before`. */
export function placeHunks(hunks: readonly Hunk[], text: Text, before: readonly PlacedHunk[] = []): HunkPlaces {
  const known = new Map(before.map((each) => [each.hunk.hunk_id, each]));
  const reported = hunks.map((hunk) => findPlace(hunk, text));
  const whole = reported.every((found) => found !== null);
  const placed: PlacedHunk[] = [];
  hunks.forEach((hunk, at) => {
    const seen = known.get(hunk.hunk_id);
    const found = reported[at] ?? seen;
    // Nothing there shows whether an empty one is right: in a changed text, use where it was seen.
    const best = !whole && hunk.working === "" ? (seen ?? found) : found;
    if (best && best.from >= (placed.at(-1)?.to ?? 0)) placed.push({ hunk, from: best.from, to: best.to });
  });
  return { placed, whole };
}

/** The place that the server reports, by line and column; null if something else is there. */
function findPlace({ working_start_line: line, working_column: column, working }: Hunk, text: Text): Stretch | null {
  if (line > text.lines) return null;
  const { from } = toRange(text, { line, column });
  const to = from + normalizeNewlines(working).length;
  return text.sliceString(from, to) === normalizeNewlines(working) ? { from, to } : null;
}

/** Hunks after the text has changed. What is typed at a hunk's edge does not belong to it. */
export function mapHunks(placed: readonly PlacedHunk[], changes: ChangeDesc): PlacedHunk[] {
  return placed.map((each) => {
    const from = changes.mapPos(each.from, each.from === each.to ? -1 : 1);
    return { ...each, from, to: Math.max(from, changes.mapPos(each.to, -1)) };
  });
}

/** The hunk at a position: one that contains it, or ends or begins there. */
export function findHunkAt(placed: readonly PlacedHunk[], place: number): PlacedHunk | undefined {
  return placed.find(({ from, to }) => from <= place && place < Math.max(to, from + 1));
}

/** The text before the hunks. */
export function baseOf(text: Text, placed: readonly PlacedHunk[]): string {
  let base = "";
  let at = 0;
  for (const { hunk, from, to } of placed) {
    base += text.sliceString(at, from) + normalizeNewlines(hunk.base);
    at = to;
  }
  return base + text.sliceString(at);
}
