/**
 * What a review changed, in the rich document. Pure.
 *
 * Hunks are about lines. The blocks of those lines, in the current and in the earlier text, are compared block by block
 * and then word by word; blocks that two hunks share are compared once.
 */

import type { Text } from "@codemirror/state";
import type { Node } from "@tiptap/pm/model";
import { type Hunk, normalizeNewlines, type PlacedHunk } from "@/review/hunkPlaces";
import { diffWords } from "@/review/wordDiff";
import { blocksOf, diffBlocks, numberIn, startOf } from "./blocks";
import type { BlockLines } from "./markdownApi";
import { type Plain, type RichText, type SourcePlace, toPlain, toPosition } from "./places";

/** A parsed document, with the lines of its blocks. */
export interface Read {
  doc: Node;
  blocks: readonly BlockLines[];
}

/** A hunk and its lines, in the current and in the earlier text. */
export interface LinedHunk {
  hunk: Hunk;
  working: BlockLines;
  base: BlockLines;
  /** Its words in the current text. */
  from: SourcePlace;
  to: SourcePlace;
}

/** Words or blocks as they are marked, and the hunk that they belong to. */
interface Owned {
  of?: string;
}

/** What is shown of hunks that share blocks: positions are those of the document in front. */
export interface Change {
  hunks: Hunk[];
  /** Where the first of it begins. */
  at: number;
  /** The blocks that they are about. */
  blocks: { from: number; to: number }[];
  added: ({ from: number; to: number } & Owned)[];
  /** Words that were removed. */
  removed: ({ at: number; text: string } & Owned)[];
  /** Blocks that were removed. */
  gone: ({ at: number; nodes: Node[] } & Owned)[];
}

export function withLines(placed: readonly PlacedHunk[], text: Text, base: Text): LinedHunk[] {
  let shift = 0;
  return placed.map(({ hunk, from, to }) => {
    const { length } = normalizeNewlines(hunk.base);
    const start = from + shift;
    shift += length - (to - from);
    return {
      hunk,
      working: between(text, from, to),
      base: between(base, start, start + length),
      from: placeIn(text, from),
      to: placeIn(text, to),
    };
  });
}

function placeIn(text: Text, position: number): SourcePlace {
  const line = text.lineAt(position);
  return { line: line.number - 1, column: position - line.from };
}

function between(text: Text, from: number, to: number): BlockLines {
  const line = text.lineAt(from);
  const start = line.number - 1;
  if (to > from) return { start, end: text.lineAt(to - 1).number };
  // Nothing there: between two lines, or inside one.
  return { start, end: from > line.from ? start + 1 : start };
}

/** The numbers of the blocks of some lines. */
function findTouchedBlocks(blocks: readonly BlockLines[], { start, end }: BlockLines): Numbers {
  const from = count(blocks, (each) => each.end <= start);
  const inside = blocks[from];
  if (start === end) return { from, to: inside && inside.start < start ? from + 1 : from };
  return {
    from,
    to: Math.max(
      from,
      count(blocks, (each) => each.start < end),
    ),
  };
}

function count(blocks: readonly BlockLines[], holds: (each: BlockLines) => boolean): number {
  const found = blocks.findIndex((each) => !holds(each));
  return found < 0 ? blocks.length : found;
}

interface Numbers {
  from: number;
  to: number;
}

/** Add the blocks whose lines, on the other side, are in the same block as the hunk's. */
function widen(
  numbers: Numbers,
  blocks: readonly BlockLines[],
  lines: BlockLines,
  others: Numbers,
  otherBlocks: readonly BlockLines[],
  otherLines: BlockLines,
): void {
  if (others.from === others.to) return;
  const [first, last] = [otherBlocks[others.from], otherBlocks[others.to - 1]];
  if (first && first.start < otherLines.start) {
    const start = first.start + lines.start - otherLines.start;
    numbers.from = Math.min(numbers.from, findTouchedBlocks(blocks, { start, end: start + 1 }).from);
  }
  if (last && last.end > otherLines.end) {
    const end = last.end + lines.end - otherLines.end;
    numbers.to = Math.max(numbers.to, findTouchedBlocks(blocks, { start: end - 1, end }).to);
  }
}

interface Group {
  hunks: LinedHunk[];
  working: Numbers;
  base: Numbers;
}

function groupHunks(working: Read, base: Read, hunks: readonly LinedHunk[]): Group[] {
  const groups: Group[] = [];
  for (const each of hunks) {
    const here = findTouchedBlocks(working.blocks, each.working);
    const there = findTouchedBlocks(base.blocks, each.base);
    widen(there, base.blocks, each.base, here, working.blocks, each.working);
    widen(here, working.blocks, each.working, there, base.blocks, each.base);
    const last = groups.at(-1);
    if (last && (here.from < last.working.to || there.from < last.base.to)) {
      last.hunks.push(each);
      last.working.to = Math.max(last.working.to, here.to);
      last.base.to = Math.max(last.base.to, there.to);
    } else groups.push({ hunks: [each], working: here, base: there });
  }
  return groups;
}

/** The changes as shown in `doc`, which represents `working`, whose markdown is `text`, and may be slightly newer. */
export function findChanges(doc: Node, working: Read, base: Read, hunks: readonly LinedHunk[], text: string): Change[] {
  const here = diffBlocks(blocksOf(working.doc), blocksOf(doc));
  return groupHunks(working, base, hunks).map((group) => {
    const from = numberIn(here, group.working.from) ?? Math.min(group.working.from, doc.childCount);
    const last = group.working.to - 1;
    const to = last < group.working.from ? from : (numberIn(here, last) ?? last) + 1;
    const shown = { from, to: Math.min(Math.max(from, to), doc.childCount) };
    const change = toChange(doc, group, shown, blocksOf(base.doc));
    assignOwners(change, group.hunks, { doc, text, blocks: working.blocks });
    return change;
  });
}

/** Say of each mark which hunk it belongs to: the one whose words are there, or nearest. */
function assignOwners({ added, removed, gone }: Change, hunks: readonly LinedHunk[], standing: RichText): void {
  const marks = [
    ...added.map((mark) => ({ mark, from: mark.from, to: mark.to })),
    ...[...removed, ...gone].map((mark) => ({ mark, from: mark.at, to: mark.at })),
  ];
  const [only] = hunks;
  const places =
    hunks.length === 1
      ? []
      : hunks.map(({ hunk, from, to }) => ({
          hunk,
          from: toPosition(standing, from),
          to: toPosition(standing, to),
        }));
  for (const { mark, from, to } of marks) {
    const distance = (place: { from: number; to: number }) => Math.max(place.from - to, from - place.to, 0);
    const near = places.reduce<(typeof places)[number] | undefined>(
      (best, place) => (best && distance(best) <= distance(place) ? best : place),
      undefined,
    );
    const owner = near?.hunk ?? only?.hunk;
    if (owner) mark.of = owner.hunk_id;
  }
}

function toChange(doc: Node, group: Group, here: Numbers, olds: readonly Node[]): Change {
  const { from, to } = here;
  const at = startOf(doc, from);
  const change: Change = {
    hunks: group.hunks.map(({ hunk }) => hunk),
    at,
    blocks: [],
    added: [],
    removed: [],
    gone: [],
  };
  const news = blocksOf(doc).slice(from, to);
  const before = olds.slice(group.base.from, group.base.to);
  if (change.hunks.some(({ conflict }) => conflict)) {
    // What is here is the person's own, and may be unchanged.
    if (news.length > 0) change.blocks.push({ from: at, to: startOf(doc, to) });
    return change;
  }
  for (const { fromA, toA, fromB, toB } of diffBlocks(before, news)) {
    let start = startOf(doc, from + fromB);
    const left = before.slice(fromA, toA);
    for (const node of news.slice(fromB, toB)) {
      change.blocks.push({ from: start, to: start + node.nodeSize });
      const old = left.findIndex((each) => compare(change, each, node, start));
      if (old < 0) mark(change, node, start);
      else {
        const skipped = left.splice(0, old + 1).slice(0, old);
        if (skipped.length > 0) change.gone.push({ at: start, nodes: skipped });
      }
      start += node.nodeSize;
    }
    if (left.length > 0) change.gone.push({ at: toB > fromB ? startOf(doc, from + fromB) : start, nodes: left });
  }
  return change;
}

/** Mark a whole block as added. */
function mark(change: Change, node: Node, start: number): void {
  const plain = toPlain(node, start);
  addRange(change, plain, 0, plain.text.length);
}

/** Compare an old block with the new one, word by word, if that reads best. */
function compare(change: Change, old: Node, fresh: Node, start: number): boolean {
  if (old.type !== fresh.type || fresh.isAtom) return false;
  const before = toPlain(old, 0).text;
  const plain = toPlain(fresh, start);
  const { text, positions } = plain;
  if (before === text) return false; // the same words in another shape: both are shown whole
  const { added, removed, block } = diffWords(before, text, true);
  if (block !== "") return false;
  for (const range of added) addRange(change, plain, range.from, range.to);
  for (const each of removed) change.removed.push({ at: positions[each.at] ?? start + 1, text: each.text });
  return true;
}

/** A range of a block's text, in pieces that are each in one line of one paragraph. */
function addRange(change: Change, { text, positions }: Plain, from: number, to: number): void {
  let start = from;
  for (const line of text.slice(from, to).split("\n")) {
    const [first, last] = [positions[start], positions[start + line.length - 1]];
    if (line !== "" && first !== undefined && last !== undefined) change.added.push({ from: first, to: last + 1 });
    start += line.length + 1;
  }
}
