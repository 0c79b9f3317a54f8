/** Where hunks lie in the editor's text. Pure. */

import type { ChangeDesc, Text } from "@codemirror/state";
import type { Schemas } from "@/api/client";
import { toRange } from "@/editor/places";

export type Hunk = Schemas["HunkShape"];
export type Draft = Schemas["DraftShape"];

interface Stretch {
  from: number;
  to: number;
}

/** A hunk and its stretch of the text; empty where something was taken out. */
export interface PlacedHunk extends Stretch {
  hunk: Hunk;
}

export interface HunkPlaces {
  placed: PlacedHunk[];
  /** Whether all were found: the text may have gone on since the review was told. */
  whole: boolean;
}

/** A text with every line break one unit long, as the editor has it. */
export function normalizeNewlines(text: string): string {
  return text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
}

/** Whether there is anything of an agent's to decide in a hunk. A person's own typing stands as it is. */
export function isOpen({ author, conflict }: Hunk): boolean {
  return conflict || author === "agent" || author === "mixed";
}

/** Where hunks, which are in the text's order, lie. One that is not where it is told stays where it was seen `before`. */
export function placeHunks(hunks: readonly Hunk[], text: Text, before: readonly PlacedHunk[] = []): HunkPlaces {
  const known = new Map(before.map((each) => [each.hunk.hunk_id, each]));
  const told = hunks.map((hunk) => findPlace(hunk, text));
  const whole = told.every((found) => found !== null);
  const placed: PlacedHunk[] = [];
  hunks.forEach((hunk, at) => {
    const seen = known.get(hunk.hunk_id);
    const found = told[at] ?? seen;
    // Nothing there shows whether an empty one is right: in a text that has gone on, it is where it was seen.
    const best = !whole && hunk.working === "" ? (seen ?? found) : found;
    if (best && best.from >= (placed.at(-1)?.to ?? 0)) placed.push({ hunk, from: best.from, to: best.to });
  });
  return { placed, whole };
}

/** The place that the server tells, by line and column; null where something else stands there. */
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

/** The hunk at a place: one that holds it, or ends or begins there. */
export function findHunkAt(placed: readonly PlacedHunk[], place: number): PlacedHunk | undefined {
  return placed.find(({ from, to }) => from <= place && place < Math.max(to, from + 1));
}

/** The text that was there before the hunks. */
export function baseOf(text: Text, placed: readonly PlacedHunk[]): string {
  let base = "";
  let at = 0;
  for (const { hunk, from, to } of placed) {
    base += text.sliceString(at, from) + normalizeNewlines(hunk.base);
    at = to;
  }
  return base + text.sliceString(at);
}
