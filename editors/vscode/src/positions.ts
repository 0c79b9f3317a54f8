/**
 * Places in a text: by line and column, as an editor counts, and by offset, in the document's own text. Pure.
 *
 * An editor has one kind of line break in a document, and the document itself may have several. Lines end at "\r\n",
 * "\n" and a lone "\r" in both, so a line and a column mean the same place in both, while offsets do not.
 */

/** A place as an editor counts: lines and UTF-16 units from 0. */
export interface Place {
  line: number;
  character: number;
}

const BREAK = /\r\n|\n|\r/g;

/** Where each line of a text begins, and how it ends. */
export class LineTable {
  readonly #starts = [0];
  readonly #ends: number[] = [];

  constructor(readonly text: string) {
    for (const found of text.matchAll(BREAK)) {
      this.#ends.push(found.index);
      this.#starts.push(found.index + found[0].length);
    }
    this.#ends.push(text.length);
  }

  get lines(): number {
    return this.#starts.length;
  }

  offset({ line, character }: Place): number {
    if (line >= this.lines) return this.text.length;
    return Math.min((this.#starts[line] ?? 0) + character, this.#ends[line] ?? 0);
  }

  /** Where an offset is; null in the middle of a "\r\n", where an editor has no place. */
  place(offset: number): Place | null {
    let low = 0;
    let high = this.lines - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    if (offset > (this.#ends[low] ?? 0)) return null;
    return { line: low, character: offset - (this.#starts[low] ?? 0) };
  }

  line(number: number): string {
    return this.text.slice(this.#starts[number] ?? this.text.length, this.#ends[number] ?? this.text.length);
  }
}

/** A text with every line break one unit long, which is how texts of an editor and of a document are compared. */
export function toPlain(text: string): string {
  return text.includes("\r") ? text.replace(BREAK, "\n") : text;
}

/** The line break that a text has most of. */
export function mainNewline(text: string): string {
  if (!text.includes("\r")) return "\n";
  const counts = new Map<string, number>();
  for (const [found] of text.matchAll(BREAK)) counts.set(found, (counts.get(found) ?? 0) + 1);
  return [...counts].reduce((best, each) => (each[1] > best[1] ? each : best))[0];
}

export function withNewline(text: string, newline: string): string {
  return text.replace(BREAK, newline);
}

/** A column in code points, as the server counts, in UTF-16 units. */
export function toUnits(line: string, codePoints: number): number {
  let at = 0;
  for (let left = codePoints; left > 0 && at < line.length; left -= 1)
    at += (line.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return at;
}

/** An offset in UTF-16 units, in code points. */
export function toCodePoints(text: string, offset: number): number {
  let count = 0;
  for (let at = 0; at < offset; count += 1) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return count;
}
