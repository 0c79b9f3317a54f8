/** The edits that turn one text into another, and merging those of two sides. Pure. */

import { diff } from "@codemirror/merge";
import { ChangeSet, Text } from "@codemirror/state";
import type { Edit } from "@/live/textMerge";

// Two texts with little in common are not worth seconds of comparing.
const PATIENCE = { scanLimit: 1000, timeout: 200 };

/** The smallest edits, in order, that turn `old` into `fresh`; no character is split. */
export function editsBetween(old: string, fresh: string): Edit[] {
  const edits: Edit[] = [];
  for (const change of diff(old, fresh, PATIENCE)) {
    let { fromA, toA, fromB, toB } = change;
    if (isInside(old, fromA) || isInside(fresh, fromB)) [fromA, fromB] = [fromA - 1, fromB - 1];
    if (isInside(old, toA) || isInside(fresh, toB)) [toA, toB] = [toA + 1, toB + 1];
    const last = edits.at(-1);
    // The previous one was widened up to here, or beyond: what both have in common is written once.
    if (last && last.to >= fromA) {
      last.insert += fresh.slice(fromB + last.to - fromA, toB);
      last.to = toA;
    } else edits.push({ from: fromA, to: toA, insert: fresh.slice(fromB, toB) });
  }
  return edits.map((edit, at) => diffByWords(old, edit, edits[at - 1]?.to ?? 0));
}

const FARTHEST = 200;

/**
 * The same insertion, starting at a word: "one two" made from "two" by inserting "one " rather than "ne two" after an
 * "o", so that what others type at the same time does not come between.
 */
function diffByWords(text: string, edit: Edit, first: number): Edit {
  const { from, to, insert } = edit;
  if (to > from || insert === "") return edit;
  for (let back = 0; back < FARTHEST && from - back >= first; back += 1) {
    const moved = text.slice(from - back, from) + insert.slice(0, Math.max(0, insert.length - back));
    const piece = moved.slice(0, insert.length);
    const at = from - back;
    if (!isInWord(text[at - 1], piece[0]) && !isInWord(piece.at(-1), text[at]))
      return { from: at, to: at, insert: piece };
    const [before, last] = [text[at - 1], piece.at(-1)];
    if (before === undefined || before !== last) break;
  }
  return edit;
}

function isInWord(before: string | undefined, after: string | undefined): boolean {
  return before !== undefined && after !== undefined && /\S/.test(before) && /\S/.test(after);
}

/** Whether a position is inside a surrogate pair. */
function isInside(text: string, at: number): boolean {
  const [before, after] = [text.charCodeAt(at - 1), text.charCodeAt(at)];
  return before >= 0xd800 && before < 0xdc00 && after >= 0xdc00 && after < 0xe000;
}

/** Edits of a text of this length, as a change set that can be moved over another side's. */
export function changeSet(edits: readonly Edit[], length: number): ChangeSet {
  // As one line each: positions here are units of the text itself, whose newlines may be two units long.
  return ChangeSet.of(
    edits.map(({ from, to, insert }) => ({ from, to, insert: Text.of([insert]) })),
    length,
  );
}

export function emptyChange(length: number): ChangeSet {
  return ChangeSet.empty(length);
}

export function editsOf(changes: ChangeSet): Edit[] {
  const edits: Edit[] = [];
  changes.iterChanges((from, to, _fromB, _toB, inserted) => {
    edits.push({ from, to, insert: inserted.sliceString(0) });
  });
  return edits;
}

/** A text after edits of it. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  return edits.reduceRight((all, { from, to, insert }) => all.slice(0, from) + insert + all.slice(to), text);
}
