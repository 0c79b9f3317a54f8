/** How a hunk is shown: word by word, or, where little is left of whole lines, the old text above the new one. */

import { presentableDiff } from "@codemirror/merge";

/** Text that was taken out just before the place `at`. */
export interface RemovedText {
  at: number;
  text: string;
}

export interface WordDiff {
  added: { from: number; to: number }[];
  removed: RemovedText[];
  /** The old text, where it is better read by itself. */
  block: string;
}

const DIFF = { scanLimit: 500, timeout: 50 };
const KEPT_AT_LEAST = 0.3;
const CACHE = 500;

const cache = new Map<string, WordDiff>();

/**
 * What became of `base` in `working`, with places in `working`. Remembered, since it is asked for at every scroll. Words
 * within a line are never shown apart; `whole` says that the texts are lines of their own, though none ends in them.
 */
export function diffWords(
  base: string,
  working: string,
  whole = base.includes("\n") || working.includes("\n"),
): WordDiff {
  const key = `${base}\0${working}\0${whole}`;
  let found = cache.get(key);
  if (!found) {
    if (cache.size >= CACHE) cache.clear();
    found = computeDiff(base, working, whole);
    cache.set(key, found);
  }
  return found;
}

function computeDiff(base: string, working: string, whole: boolean): WordDiff {
  if (working === "") return whole ? { added: [], removed: [], block: base } : inlineDiff(base, working);
  if (base === "") return { added: all(working), removed: [], block: "" };
  const changes = presentableDiff(base, working, DIFF);
  const added = changes.filter(({ fromB, toB }) => toB > fromB).map(({ fromB, toB }) => ({ from: fromB, to: toB }));
  const gone = changes.reduce((sum, { fromA, toA }) => sum + toA - fromA, 0);
  if (base.length - gone < KEPT_AT_LEAST * base.length) {
    return whole ? { added: all(working), removed: [], block: base } : inlineDiff(base, working);
  }
  const removed = changes
    .filter(({ fromA, toA }) => toA > fromA)
    .map(({ fromA, toA, fromB }) => ({ at: fromB, text: base.slice(fromA, toA) }));
  return { added, removed, block: "" };
}

/** Words within a line: what they were, right in front of what they are. */
function inlineDiff(base: string, working: string): WordDiff {
  return { added: all(working), removed: [{ at: 0, text: base }], block: "" };
}

function all(text: string): { from: number; to: number }[] {
  return text ? [{ from: 0, to: text.length }] : [];
}
