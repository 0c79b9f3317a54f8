/** The lines of a text, for looking up places in long ones. Pure. */

let known: { text: string; starts: readonly number[] } = { text: "", starts: [0] };

/** Where each line begins; the last text's are kept. */
export function lineStarts(text: string): readonly number[] {
  if (known.text === text) return known.starts;
  const starts = [0];
  if (text.includes("\r")) for (const found of text.matchAll(/\r\n?|\n/g)) starts.push(found.index + found[0].length);
  else for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  // A part of a text must not displace the text.
  if (text.length >= known.text.length / 2) known = { text, starts };
  return starts;
}

/** The number of the line that an offset is in, from 0. */
export function lineAt(starts: readonly number[], offset: number): number {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

const NEWLINE = /\r\n?|\n/;

export function linesOf(text: string): string[] {
  return text.split(NEWLINE);
}

/** The lines from `start` up to `end`, without their ends. */
export function sliceLines(text: string, start: number, end: number): string[] {
  const starts = lineStarts(text);
  return linesOf(text.slice(starts[start] ?? text.length, starts[end] ?? text.length)).slice(0, end - start);
}
