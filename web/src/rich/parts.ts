/**
 * Parts of a long document: the server parses and writes only the blocks that changed, and a few around them.
 *
 * Top-level blocks of markdown do not depend on each other. So a part is right if its outermost blocks come back as they
 * were: then the text around it means what it meant. If they do not (somebody opened a comment that closes far below), or
 * if the part has something that concerns the whole text (a link's definition), the whole text is sent.
 */

import { Fragment, type Node } from "@tiptap/pm/model";
import { blocksOf } from "./blocks";
import { lineAt, lineStarts } from "./lines";
import type { BlockLines, MarkdownApi, ParsedMarkdown, SerialisedMarkdown } from "./markdownApi";

/** A markdown text and its document, with the lines of its blocks. */
export interface ReadText {
  text: string;
  doc: Node;
  blocks: readonly BlockLines[];
  context: string;
}

/** Blocks in a row, and where they are in the text. */
interface Part {
  first: number;
  /** The number behind the last. */
  end: number;
  from: number;
  to: number;
  line: number;
}

// A shorter text is sent whole: it takes the server a few milliseconds.
const SHORT = 10_000;
// Writing a block may change the blank lines and list signs of its neighbours; the next one must not change.
const AROUND = 2;
const FRONTMATTER = /^\ufeff?(?:---|\+\+\+)/;
const DIRECTIVE = /^[ \t>]*:{3}/m;

/** What a node in front of the person was written as, if markdown cannot express all of it. */
const writtenAs = new WeakMap<Node, Node>();

/** A parsed text; blocks that `front` has too are the same objects, which are compared at no cost. */
export function readText(text: string, { doc, blocks, context }: ParsedMarkdown, front: Node): ReadText {
  const nodes = blocksOf(front.type.schema.nodeFromJSON(doc));
  return { text, doc: withBlocks(front, adopt(nodes, blocksOf(front))), blocks, context };
}

/** The markdown of `doc`, which was made by typing into what `read` gives. */
export async function serialiseNear(api: MarkdownApi, read: ReadText, doc: Node): Promise<ReadText> {
  const [olds, news] = [blocksOf(read.doc), blocksOf(doc).filter(isWritten)];
  if (read.text.length > SHORT && news.length > 0) {
    const shorter = Math.min(olds.length, news.length);
    let start = 0;
    while (start < shorter && isSame(olds[start], news[start])) start += 1;
    let rest = 0;
    while (rest < shorter - start && isSame(olds.at(-1 - rest), news.at(-1 - rest))) rest += 1;
    const part = partAround(read, start, olds.length - rest);
    const nodes = news.slice(part.first, part.end + news.length - olds.length);
    const about = { context: read.context, first: part.first === 0 };
    const before = read.text.slice(part.from, part.to);
    const content = nodes.map((node) => node.toJSON());
    const whole = putBack(read, part, await api.serialise({ type: "doc", content }, before, about), nodes);
    if (whole) return whole;
  }
  const made = await api.serialise(doc.toJSON(), read.text);
  return readText(made.markdown, made, doc);
}

/** What `text` gives, which is a changed version of that of `read`. */
export async function parseNear(api: MarkdownApi, read: ReadText, text: string): Promise<ReadText> {
  if (text === read.text) return read;
  if (read.text.length > SHORT) {
    const part = changedPart(read, text);
    const markdown = text.slice(part.from, text.length - (read.text.length - part.to));
    const parsed = await api.parse(markdown, { context: read.context, first: part.first === 0 });
    const whole = putBack(read, part, { ...parsed, markdown }, blocksOf(read.doc).slice(part.first, part.end));
    if (whole) return whole;
  }
  return readText(text, await api.parse(text), read.doc);
}

function isWritten(node: Node): boolean {
  return node.type.name !== "paragraph" || node.childCount > 0;
}

function isSame(old: Node | undefined, front: Node | undefined): boolean {
  if (!old || !front) return false;
  return old === front || writtenAs.get(front) === old || old.eq(front);
}

/** The blocks in which a text differs from what was read. */
function changedPart(read: ReadText, text: string): Part {
  const [before, shorter] = [read.text, Math.min(read.text.length, text.length)];
  let start = 0;
  while (start < shorter && before.charCodeAt(start) === text.charCodeAt(start)) start += 1;
  let rest = 0;
  const end = (of: string) => of.charCodeAt(of.length - 1 - rest);
  while (rest < shorter - start && end(before) === end(text)) rest += 1;
  const starts = lineStarts(before);
  const [top, bottom] = [lineAt(starts, start), lineAt(starts, before.length - rest)];
  const first = read.blocks.findIndex((block) => block.end > top);
  const last = read.blocks.findLastIndex((block) => block.start <= bottom);
  const from = first < 0 ? read.blocks.length : first;
  return partAround(read, from, Math.max(from, last + 1));
}

/** The part with blocks from `first` up to `end`, and those around them. */
function partAround({ text, blocks }: ReadText, first: number, end: number): Part {
  const [begin, stop] = [Math.max(0, first - AROUND), Math.min(blocks.length, end + AROUND)];
  const starts = lineStarts(text);
  const line = begin === 0 ? 0 : (blocks[begin]?.start ?? 0);
  const below = stop === blocks.length ? undefined : starts[blocks[stop - 1]?.end ?? 0];
  return { first: begin, end: stop, from: starts[line] ?? 0, to: below ?? text.length, line };
}

/** The text with a part in its new form; null if that may change what the rest means. */
function putBack(read: ReadText, part: Part, made: SerialisedMarkdown, front: readonly Node[]): ReadText | null {
  const { text, doc, blocks, context } = read;
  const all = blocksOf(doc);
  const old = all.slice(part.first, part.end);
  const parsed = blocksOf(doc.type.schema.nodeFromJSON(made.doc));
  if (made.blocks.length !== parsed.length) return null;
  const [first, last, opening, closing] = [parsed[0], parsed.at(-1), old[0], old.at(-1)];
  const sameFirst = opening && first?.eq(opening);
  if (!sameFirst && (part.first > 0 || FRONTMATTER.test(made.markdown))) return null;
  if (part.end < all.length && !(closing && last?.eq(closing))) return null;
  if (DIRECTIVE.test(made.markdown) || definitions(old) !== definitions(parsed)) return null;
  const nodes = adopt(parsed, front);
  if (nodes.length === front.length) {
    nodes.forEach((node, at) => {
      const shown = front[at];
      if (shown && shown !== node) writtenAs.set(shown, node);
    });
  }
  const before = text.slice(part.from, part.to);
  const grown = lineStarts(made.markdown).length - lineStarts(before).length;
  return {
    text: text.slice(0, part.from) + made.markdown + text.slice(part.to),
    doc: withBlocks(doc, [...all.slice(0, part.first), ...nodes, ...all.slice(part.end)]),
    blocks: [
      ...blocks.slice(0, part.first),
      ...made.blocks.map((each) => shift(each, part.line)),
      ...(grown === 0 ? blocks.slice(part.end) : blocks.slice(part.end).map((each) => shift(each, grown))),
    ],
    context,
  };
}

function shift({ start, end }: BlockLines, by: number): BlockLines {
  return { start: start + by, end: end + by };
}

/** The link definitions in some blocks, which links anywhere may use. */
function definitions(nodes: readonly Node[]): string {
  const found: string[] = [];
  const look = (node: Node) => {
    if (node.attrs.kind === "definition") found.push(String(node.attrs.markdown));
    return !node.isTextblock;
  };
  for (const node of nodes) {
    look(node);
    node.descendants(look);
  }
  return found.join("\n");
}

function withBlocks(doc: Node, nodes: readonly Node[]): Node {
  return doc.type.create(null, Fragment.fromArray([...nodes]));
}

/** The nodes, as the objects of `known` where it has the same ones, from both ends. */
function adopt(nodes: readonly Node[], known: readonly Node[]): Node[] {
  const found = [...nodes];
  const shorter = Math.min(nodes.length, known.length);
  const take = (at: number, other: number) => {
    const [node, same] = [found[at], known[other]];
    if (!node || !same?.eq(node)) return false;
    found[at] = same;
    return true;
  };
  let start = 0;
  while (start < shorter && (take(start, start) || nodes.length === known.length)) start += 1;
  for (let rest = 1; rest <= shorter - start && take(nodes.length - rest, known.length - rest); rest += 1);
  return found;
}
