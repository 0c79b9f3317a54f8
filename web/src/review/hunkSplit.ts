/** Where a hunk that is too large to be judged at once is split in two. */

import type { Hunk } from "./hunkPlaces";

const LINE = /\r\n?|\n/g;

/** Whether to offer it: for an agent's text, if it is too much at once, on more than one line. */
export function canBeSplit(hunk: Hunk): boolean {
  const { kind, oversized_hunk, author, conflict, working } = hunk;
  return kind === "modified" && oversized_hunk && author === "agent" && !conflict && lineStarts(working).length > 0;
}

/**
 * The offset in the hunk's new text, in code points: where the given line below its first begins, or, if none is given
 * or there is no such line, the paragraph nearest to the middle, else the line.
 */
export function findSplit(working: string, line?: number): number {
  const found = lineStarts(working);
  const named = line === undefined ? undefined : found[line - 1];
  if (named !== undefined) return countCodePoints(working, named);
  const middle = working.length / 2;
  const paragraphs = found.filter((at) => /(\r\n?|\n)[^\S\r\n]*(\r\n?|\n)$/.test(working.slice(0, at)));
  const [nearest = 0] = (paragraphs.length > 0 ? paragraphs : found).sort(
    (one, other) => Math.abs(one - middle) - Math.abs(other - middle),
  );
  return countCodePoints(working, nearest);
}

/** Where its lines begin, except for the first. */
function lineStarts(working: string): number[] {
  return [...working.matchAll(LINE)].map((match) => match.index + match[0].length).filter((at) => at < working.length);
}

function countCodePoints(text: string, end: number): number {
  return [...text.slice(0, end)].length;
}
