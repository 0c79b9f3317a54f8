/** How a hunk is shown: word by word, or, if little is left of whole lines, the old text above the new one. */

import { presentableDiff } from "@codemirror/merge";

/** Text that was removed just before the position `at`. */
export interface RemovedText {
  at: number;
  text: string;
}

export interface WordDiff {
  added: { from: number; to: number }[];
  removed: RemovedText[];
  /** The old text, if it is better read separately. */
  block: string;
}

const DIFF = { scanLimit: 500, timeout: 50 };
const KEPT_AT_LEAST = 0.3;
const CACHE = 500;

const cache = new Map<string, WordDiff>();

/**
 * The difference from `base` to `working`, with positions in `working`. Cached, since it is needed at every scroll.
 * Words within a line are never shown separately; `whole` means that the texts are whole lines, although without line
 * ends.
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
  const changes = wholeWords(presentableDiff(base, working, DIFF), base, working);
  const added = changes.filter(({ fromB, toB }) => toB > fromB).map(({ fromB, toB }) => ({ from: fromB, to: toB }));
  const removedLength = changes.reduce((sum, { fromA, toA }) => sum + toA - fromA, 0);
  if (base.length - removedLength < KEPT_AT_LEAST * base.length) {
    return whole ? { added: all(working), removed: [], block: base } : inlineDiff(base, working);
  }
  const removed = changes
    .filter(({ fromA, toA }) => toA > fromA)
    .map(({ fromA, toA, fromB }) => ({ at: fromB, text: base.slice(fromA, toA) }));
  return { added, removed, block: "" };
}

/** Writings in which a blank ends a word; in others a change is shown letter by letter. */
const LETTER = /[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{M}\p{N}'’_]/u;

interface Replaced {
  fromA: number;
  toA: number;
  fromB: number;
  toB: number;
}

/** Changes widened to whole words, so that no word is shown half old and half new. */
function wholeWords(changes: readonly Replaced[], base: string, working: string): Replaced[] {
  const inWord = (text: string, at: number) => LETTER.test(text[at - 1] ?? "") && LETTER.test(text[at] ?? "");
  const found: Replaced[] = [];
  for (const { fromA, toA, fromB, toB } of changes) {
    const next = { fromA, toA, fromB, toB };
    const last = found.at(-1);
    const least = { a: last?.toA ?? 0, b: last?.toB ?? 0 };
    // What is kept between two changes is the same on both sides.
    while (next.fromA > least.a && next.fromB > least.b && (inWord(base, next.fromA) || inWord(working, next.fromB))) {
      next.fromA -= 1;
      next.fromB -= 1;
    }
    while (
      next.toA < base.length &&
      next.toB < working.length &&
      base[next.toA] === working[next.toB] &&
      (inWord(base, next.toA) || inWord(working, next.toB))
    ) {
      next.toA += 1;
      next.toB += 1;
    }
    if (last && next.fromA <= last.toA && next.fromB <= last.toB) {
      last.toA = Math.max(last.toA, next.toA);
      last.toB = Math.max(last.toB, next.toB);
    } else found.push(next);
  }
  return found;
}

/** Words within a line: the old ones right before the new ones. */
function inlineDiff(base: string, working: string): WordDiff {
  return { added: all(working), removed: [{ at: 0, text: base }], block: "" };
}

function all(text: string): { from: number; to: number }[] {
  return text ? [{ from: 0, to: text.length }] : [];
}
