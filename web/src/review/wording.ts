/** How a hunk is shown: word by word, or the old text as a whole above the new one where little is left of it. */

import { presentableDiff } from "@codemirror/merge";

/** Text that was taken out just before the place `at`. */
export interface Removed {
  at: number;
  text: string;
}

export interface Wording {
  added: { from: number; to: number }[];
  removed: Removed[];
  /** The old text, where it is better read by itself. */
  block: string;
}

const DIFF = { scanLimit: 500, timeout: 50 };
const KEPT_AT_LEAST = 0.3;
const CACHE = 500;

const cache = new Map<string, Wording>();

/** What became of `base` in `working`, with places in `working`. Remembered, since it is asked for at every scroll. */
export function wording(base: string, working: string): Wording {
  const key = `${base}\0${working}`;
  let found = cache.get(key);
  if (!found) {
    if (cache.size >= CACHE) cache.clear();
    found = worded(base, working);
    cache.set(key, found);
  }
  return found;
}

function worded(base: string, working: string): Wording {
  if (working === "") return { added: [], removed: [], block: base };
  if (base === "") return { added: [{ from: 0, to: working.length }], removed: [], block: "" };
  const changes = presentableDiff(base, working, DIFF);
  const added = changes.filter(({ fromB, toB }) => toB > fromB).map(({ fromB, toB }) => ({ from: fromB, to: toB }));
  const gone = changes.reduce((sum, { fromA, toA }) => sum + toA - fromA, 0);
  if (base.length - gone < KEPT_AT_LEAST * base.length) {
    return { added: [{ from: 0, to: working.length }], removed: [], block: base };
  }
  const removed = changes
    .filter(({ fromA, toA }) => toA > fromA)
    .map(({ fromA, toA, fromB }) => ({ at: fromB, text: base.slice(fromA, toA) }));
  return { added, removed, block: "" };
}
