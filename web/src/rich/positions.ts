/**
 * Offsets in the plain text of a rich document, and the positions that they mean.
 *
 * The text is TipTap's `getText({ blockSeparator: "\n\n" })`. Offsets here are UTF-16 units, as everywhere in a
 * browser; the server counts code points and converts at its edge. An offset means the place of the character after it;
 * at the end of a block's text, the end of that block; between the two newlines of a separator, the place before the
 * block that they belong to. `src/redraft/formats/rich/positions.py` does the same, and both are tested with the same
 * vectors, made by TipTap itself.
 */

import { getTextSerializersFromSchema } from "@tiptap/core";
import type { Node } from "@tiptap/pm/model";

export const SEPARATOR = "\n\n";

/** A part of the text: of a text node, of an atom with text, or a separator. */
interface Run {
  readonly offset: number;
  readonly length: number;
  /** The node's own position. */
  readonly position: number;
  /** Where the text before a separator ended; -1 for any other run. */
  readonly gap: number;
  readonly atom: boolean;
}

export class Positions {
  readonly text: string;
  readonly #runs: readonly Run[];
  readonly #size: number;
  readonly #last: number;

  constructor(doc: Node) {
    const walk = new Walk(doc);
    this.text = walk.pieces.join("");
    this.#runs = walk.runs;
    this.#size = doc.content.size;
    this.#last = walk.here;
  }

  /** The position of an offset; throws a `RangeError` outside of the text. */
  position(offset: number): number {
    this.#check(offset);
    const run = this.#runs[before(this.#runs, (each) => each.offset <= offset)];
    if (run === undefined || offset === this.text.length) return this.#last;
    const inside = offset - run.offset;
    if (run.gap >= 0) return inside ? run.position : run.gap;
    return run.atom ? run.position : run.position + inside;
  }

  /** The positions of a passage: neighbours without text (an image) stay outside. */
  range(start: number, end: number): { from: number; to: number } {
    const from = this.position(start);
    return { from, to: start === end ? from : Math.max(from, this.#after(end)) };
  }

  /** How much of the text comes before a position. */
  offset(position: number): number {
    if (!Number.isInteger(position) || position < 0 || position > this.#size) {
      throw new RangeError(`position ${position} is outside of the document, which has ${this.#size}`);
    }
    const run = this.#runs[before(this.#runs, (each) => each.position < position)];
    if (run === undefined) return 0;
    const whole = run.atom || run.gap >= 0;
    return run.offset + (whole ? run.length : Math.min(run.length, position - run.position));
  }

  #after(offset: number): number {
    this.#check(offset);
    const run = this.#runs[before(this.#runs, (each) => each.offset < offset)];
    if (run === undefined) return this.position(offset);
    const inside = offset - run.offset;
    if (run.gap >= 0 || run.atom) return run.position + (inside === run.length ? 1 : 0);
    return run.position + inside;
  }

  #check(offset: number): void {
    if (!Number.isInteger(offset) || offset < 0 || offset > this.text.length) {
      throw new RangeError(`offset ${offset} is outside of the text, which has ${this.text.length}`);
    }
  }
}

/** One pass over a document, in order. `here` is where the text so far ends. */
class Walk {
  readonly runs: Run[] = [];
  readonly pieces: string[] = [];
  here = 0;
  #length = 0;

  constructor(doc: Node) {
    const serializers = getTextSerializersFromSchema(doc.type.schema);
    const range = { from: 0, to: doc.content.size };
    doc.descendants((node, position, parent, index) => {
      if (node.isBlock) this.#block(node, position);
      const serializer = serializers[node.type.name];
      if (serializer && parent) {
        this.#add(serializer({ node, pos: position, parent, index, range }), position, true, -1);
        if (!node.isBlock) this.here = position + node.nodeSize;
        return false;
      }
      if (node.isText) this.#add(node.text ?? "", position, false, -1);
      if (node.isInline) this.here = position + node.nodeSize;
      return true;
    });
  }

  #block(node: Node, position: number): void {
    if (position > 0) this.#add(SEPARATOR, position, false, this.here);
    if (position > 0 || node.isTextblock) this.here = position + 1;
  }

  #add(text: string, position: number, atom: boolean, gap: number): void {
    if (!text) return;
    this.runs.push({ offset: this.#length, length: text.length, position, gap, atom });
    this.pieces.push(text);
    this.#length += text.length;
  }
}

/** The last index for which the predicate holds, -1 if none; those for which it holds come first. */
function before(runs: readonly Run[], holds: (run: Run) => boolean): number {
  let low = 0;
  let high = runs.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const run = runs[middle];
    if (run !== undefined && holds(run)) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
