/** Words and tokens of a document, counted in small steps while idle. */

import type { Text } from "@codemirror/state";

export interface Counts {
  words: number;
  /** A model's count, approximately: the same estimate as the tools'. */
  tokens: number;
}

const SLICE_MS = 4;
const SAMPLE = 100_000;
const BYTES_PER_TOKEN = 4;

export function countWords(line: string): number {
  let words = 0;
  let inside = false;
  for (let at = 0; at < line.length; at += 1) {
    const code = line.charCodeAt(at);
    // Test the spaces of Latin texts first: nearly all are one of these.
    const blank = code <= 32 || (code > 127 && /\s/.test(line.charAt(at)));
    if (!blank && !inside) words += 1;
    inside = !blank;
  }
  return words;
}

export function estimateTokens(text: Text): number {
  const sample = text.sliceString(0, SAMPLE);
  if (sample === "") return 0;
  const bytes = new TextEncoder().encode(sample).length;
  return Math.ceil((bytes * text.length) / (sample.length * BYTES_PER_TOKEN));
}

/** Count, and report when done; returns the function that cancels it. */
export function countText(text: Text, done: (counts: Counts) => void): () => void {
  const lines = text.iterLines();
  let words = 0;
  let given = false;
  const goOn = () => {
    if (given) return;
    const until = performance.now() + SLICE_MS;
    do {
      for (let some = 0; some < 50; some += 1) {
        if (lines.next().done) return done({ words, tokens: estimateTokens(text) });
        words += countWords(lines.value);
      }
    } while (performance.now() < until);
    setTimeout(goOn, SLICE_MS);
  };
  goOn();
  return () => {
    given = true;
  };
}
