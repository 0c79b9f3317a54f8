/** Merges what was typed into one text into another with the same base. Nothing that was typed is dropped. */

import { type Change, presentableDiff } from "@codemirror/merge";

/** Replaces the text from `from` to `to` with `insert`. */
export interface Edit {
  from: number;
  to: number;
  insert: string;
}

interface Piece {
  from: number;
  to: number;
  mine: Change[];
  theirs: Change[];
}

/** The edits, in order, that bring `mine`'s changes of `base` into `theirs`. If both changed one place, both stay. */
export function mergeInto(base: string, mine: string, theirs: string): Edit[] {
  const edits: Edit[] = [];
  let mineShift = 0;
  let theirShift = 0;
  for (const piece of groupChanges(diffByWords(base, mine), diffByWords(base, theirs))) {
    const mineAfter = mineShift + lengthChange(piece.mine);
    const theirsAfter = theirShift + lengthChange(piece.theirs);
    const ours = mine.slice(piece.from + mineShift, piece.to + mineAfter);
    const other = theirs.slice(piece.from + theirShift, piece.to + theirsAfter);
    if (piece.mine.length > 0) {
      const insert = piece.theirs.length > 0 ? joinBoth(ours, other) : ours;
      if (insert !== other) edits.push({ from: piece.from + theirShift, to: piece.to + theirsAfter, insert });
    }
    mineShift = mineAfter;
    theirShift = theirsAfter;
  }
  return edits;
}

/** Each side's words; those that both have, once. */
function joinBoth(ours: string, theirs: string): string {
  if (theirs.includes(ours)) return theirs;
  if (ours.includes(theirs)) return ours;
  let common = 0;
  while (ours[common] === theirs[common]) common += 1;
  while (common > 0 && isWord(ours, common)) common -= 1;
  return theirs + ours.slice(common);
}

function lengthChange(some: Change[]): number {
  return some.reduce((sum, { fromA, toA, fromB, toB }) => sum + (toB - fromB) - (toA - fromA), 0);
}

/** The changes of both sides, grouped if they overlap or touch. */
function groupChanges(mine: readonly Change[], theirs: readonly Change[]): Piece[] {
  const found: Piece[] = [];
  const all = [...mine.map((change) => ({ change, own: true })), ...theirs.map((change) => ({ change, own: false }))];
  all.sort((one, other) => one.change.fromA - other.change.fromA || one.change.toA - other.change.toA);
  for (const { change, own } of all) {
    let piece = found.at(-1);
    if (!piece || change.fromA > piece.to) {
      piece = { from: change.fromA, to: change.toA, mine: [], theirs: [] };
      found.push(piece);
    }
    piece.to = Math.max(piece.to, change.toA);
    (own ? piece.mine : piece.theirs).push(change);
  }
  return found;
}

// Two texts with little in common are not worth seconds of comparing.
const PATIENCE = { scanLimit: 1000, timeout: 500 };

/** The changes by whole words: those of two sides must not be interleaved letter by letter. */
function diffByWords(from: string, to: string): Change[] {
  const found = presentableDiff(from, to, PATIENCE);
  const wide: Change[] = [];
  found.forEach(({ fromA, toA, fromB, toB }, at) => {
    const last = wide.at(-1);
    const [first, end] = [last?.toA ?? 0, found[at + 1]?.fromA ?? from.length];
    let [before, after] = [0, 0];
    if ((toA > fromA && isWord(from, fromA)) || (toB > fromB && isWord(to, fromB))) {
      while (fromA - before > first && isWord(from, fromA - before - 1)) before += 1;
    }
    if ((toA > fromA && isWord(from, toA - 1)) || (toB > fromB && isWord(to, toB - 1))) {
      while (toA + after < end && isWord(from, toA + after)) after += 1;
    }
    const change = { fromA: fromA - before, toA: toA + after, fromB: fromB - before, toB: toB + after };
    if (last && last.toA === change.fromA) Object.assign(last, { toA: change.toA, toB: change.toB });
    else wide.push(change);
  });
  return wide;
}

function isWord(text: string, at: number): boolean {
  return !/\s/.test(text.charAt(at));
}
