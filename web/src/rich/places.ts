/**
 * Maps places in the markdown to positions in the rich document, and back. Pure.
 *
 * By the block, whose lines are known, and by the text in it: exact if the block's text is its source, close if there
 * is markup in between.
 */

import { type Change, diff } from "@codemirror/merge";
import type { Node } from "@tiptap/pm/model";
import type { BlockLines } from "./markdownApi";

/** A place in the markdown, from 0; columns count UTF-16 units. */
export interface SourcePlace {
  line: number;
  column: number;
}

/** A document, and the markdown that it represents. */
export interface RichText {
  doc: Node;
  text: string;
  blocks: readonly BlockLines[];
}

const NEWLINE = /\r\n?|\n/;
const PATIENCE = { scanLimit: 300, timeout: 50 };

export function linesOf(text: string): string[] {
  return text.split(NEWLINE);
}

interface Block {
  node: Node;
  position: number;
  lines: BlockLines;
}

/** The blocks that have lines: an empty paragraph has none. */
function blocks({ doc, blocks: lines }: RichText): Block[] {
  const found: { node: Node; position: number }[] = [];
  doc.forEach((node, position) => {
    if (node.type.name !== "paragraph" || node.childCount > 0) found.push({ node, position });
  });
  // While something typed is not written yet, either side may have more: the first ones are the same.
  return found.flatMap((each, at) => {
    const own = lines[at];
    return own ? [{ ...each, lines: own }] : [];
  });
}

/** Where a place of the markdown is in the document. */
export function toPosition(standing: RichText, { line, column }: SourcePlace): number {
  const all = blocks(standing);
  const block = all.find(({ lines }) => line < lines.end) ?? all.at(-1);
  if (!block) return 0;
  const { text, positions } = toPlain(block.node, block.position);
  const source = linesOf(standing.text).slice(block.lines.start, block.lines.end);
  if (line < block.lines.start) return positions[0] ?? block.position;
  if (line >= block.lines.end) return positions.at(-1) ?? block.position;
  const before = source.slice(0, line - block.lines.start);
  const offset = before.reduce((sum, each) => sum + each.length + 1, 0) + column;
  return positions[mapOffset(source.join("\n"), text, offset)] ?? block.position;
}

/** Where a position of the document is in the markdown. */
export function toPlace(standing: RichText, position: number): SourcePlace {
  const all = blocks(standing);
  const block = all.findLast((each) => each.position <= position) ?? all[0];
  if (!block) return { line: 0, column: 0 };
  const { text, positions } = toPlain(block.node, block.position);
  const source = linesOf(standing.text).slice(block.lines.start, block.lines.end);
  const at = positions.findLastIndex((each) => each <= position);
  let column = mapOffset(text, source.join("\n"), Math.max(0, at));
  let line = 0;
  for (; line < source.length - 1 && column > (source[line]?.length ?? 0); line += 1)
    column -= (source[line]?.length ?? 0) + 1;
  return { line: block.lines.start + line, column: Math.min(column, source[line]?.length ?? 0) };
}

/** The last comparison: many places of one block are mapped, one after the other. */
let last: { from: string; to: string; changes: readonly Change[] } | null = null;

/** An offset of one text in the text that it became. */
function mapOffset(from: string, to: string, offset: number): number {
  if (last?.from !== from || last.to !== to) last = { from, to, changes: diff(from, to, PATIENCE) };
  let shift = 0;
  for (const { fromA, toA, fromB, toB } of last.changes) {
    if (offset < fromA || (offset === fromA && toA === fromA)) break;
    if (offset < toA) return Math.min(toB, fromB + offset - fromA);
    shift = toB - toA;
  }
  return Math.max(0, Math.min(to.length, offset + shift));
}

/** The text of a block, and the position of each of its characters and of its end. */
export interface Plain {
  text: string;
  positions: number[];
}

export function toPlain(node: Node, position: number): Plain {
  const positions: number[] = [];
  let text = "";
  let end = position + (node.isTextblock ? 1 : 0);
  const add = (piece: string, at: number, step: number) => {
    for (let each = 0; each < piece.length; each += 1) positions.push(at + each * step);
    text += piece;
  };
  const visit = (each: Node, at: number) => {
    if (each.isTextblock && text !== "") add("\n", end, 0);
    if (each.isTextblock) end = at + 1;
    if (each.isText) add(each.text ?? "", at, 1);
    else if (each.type.name === "hardBreak") add("\n", at, 0);
    else if (each.attrs.markdown) add(String(each.attrs.markdown), at, 0);
    if (each.isInline) end = at + each.nodeSize;
    return true;
  };
  visit(node, position);
  node.descendants((each, at) => visit(each, position + 1 + at));
  positions.push(end);
  return { text, positions };
}
