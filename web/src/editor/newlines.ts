/**
 * Positions in the shared text, which has its newlines as in the file, and positions in the editor, where every line
 * break is one unit long.
 *
 * A line ends at "\r\n", at "\n" or at a lone "\r", as everywhere in the program. Only breaks of two units make a
 * difference: in a document of one style all are or none is; in a mixed one, those that differ in length from the
 * others are listed. What is typed gets the prevailing style; an existing break is never changed.
 */

import { type ChangeDesc, MapMode, Text } from "@codemirror/state";

export type Newline = "\n" | "\r\n" | "\r";
export type NewlineStyle = "LF" | "CRLF" | "CR" | "mixed";

export interface Newlines {
  /** What Enter writes. */
  newline: Newline;
  style: NewlineStyle;
  /** The positions of the breaks, in order, that are not as long as `newline`. */
  odd: readonly number[];
  /** Whether there are lone "\r": together with a "\n" after one, two breaks become one. */
  fragile: boolean;
}

const BREAK = /\r\n?|\n/g;
const LONE = /\r(?!\n)/;

/** A shared text as the editor has it. */
export function readNewlines(shared: string): { text: Text; newlines: Newlines } {
  const text = Text.of(shared.split(/\r\n?|\n/));
  if (!shared.includes("\r")) return { text, newlines: { newline: "\n", style: "LF", odd: [], fragile: false } };
  const counts = { "\n": 0, "\r\n": 0, "\r": 0 };
  for (const [found] of shared.matchAll(BREAK)) counts[found as Newline] += 1;
  const used = (Object.keys(counts) as Newline[]).filter((each) => counts[each] > 0);
  const newline = used.reduce((best, each) => (counts[each] > counts[best] ? each : best));
  const style = used.length > 1 ? "mixed" : NAMES[newline];
  const odd = used.length > 1 ? findOddBreaks(shared, 0, newline) : [];
  return { text, newlines: { newline, style, odd, fragile: counts["\r"] > 0 } };
}

const NAMES = { "\n": "LF", "\r\n": "CRLF", "\r": "CR" } as const;

/** The positions of breaks not as long as `newline`, in editor positions, where `shared` begins at `start`. */
export function findOddBreaks(shared: string, start: number, newline: Newline): number[] {
  const odd: number[] = [];
  let long = 0;
  for (const match of shared.matchAll(BREAK)) {
    const [found] = match;
    if (found.length !== newline.length) odd.push(start + match.index - long);
    long += found.length - 1;
  }
  return odd;
}

/** Whether a piece of shared text has a lone "\r" in it, or at its end, where it may meet a "\n". */
export function hasLone(shared: string): boolean {
  return LONE.test(shared);
}

/** From an editor position to one in the shared text. */
export function toShared(text: Text, { newline, odd }: Newlines, place: number): number {
  const before = countBefore(odd, place);
  return newline.length === 1 ? place + before : place + text.lineAt(place).number - 1 - before;
}

/** From a position in the shared text to one in the editor; null inside a "\r\n". */
export function toEditor(text: Text, newlines: Newlines, index: number): number | null {
  if (newlines.newline.length === 1 && newlines.odd.length === 0) return index;
  // Positions grow with indices: a binary search finds the last one that is not after it.
  let low = Math.max(0, index - text.lines + 1);
  let high = Math.min(index, text.length);
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (toShared(text, newlines, middle) <= index) low = middle;
    else high = middle - 1;
  }
  return toShared(text, newlines, low) === index ? low : null;
}

/** The newlines after a change in the editor; `added` are odd breaks that it added. */
export function mapBreaks(newlines: Newlines, changes: ChangeDesc, added: readonly number[] = []): Newlines {
  if (newlines.odd.length === 0 && added.length === 0) return newlines;
  const odd = newlines.odd
    .map((place) => changes.mapPos(place, 1, MapMode.TrackAfter))
    .filter((place) => place !== null)
    .concat(added)
    .sort((one, other) => one - other);
  return { ...newlines, odd };
}

function countBefore(odd: readonly number[], place: number): number {
  let low = 0;
  let high = odd.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((odd[middle] ?? 0) < place) low = middle + 1;
    else high = middle;
  }
  return low;
}
