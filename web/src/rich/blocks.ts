/**
 * The blocks of a rich document, and applying changes of the text to it. Pure.
 *
 * The document in front of the person may contain more than its markdown can express (an empty paragraph, a space at
 * the end of one) and more than was written yet. So a newly parsed text never replaces the document: the changes from
 * the old to the new parsed text are applied to it, step by step.
 */

import { diff } from "@codemirror/merge";
import { Fragment, type Node, Slice } from "@tiptap/pm/model";
import { Transform } from "@tiptap/pm/transform";
import { editsBetween } from "./edits";

/** A range of numbered items in one list, and what replaces it in another. */
export interface Stretch {
  fromA: number;
  toA: number;
  fromB: number;
  toB: number;
}

/** The ranges in which two lists of blocks differ. */
export function diffBlocks(old: readonly Node[], fresh: readonly Node[]): Stretch[] {
  const shorter = Math.min(old.length, fresh.length);
  let start = 0;
  while (start < shorter && isSame(old[start], fresh[start])) start += 1;
  let end = 0;
  while (end < shorter - start && isSame(old.at(-1 - end), fresh.at(-1 - end))) end += 1;
  // Each distinct block becomes a character, so that blocks can be compared like texts.
  const letters = new Map<string, string>();
  const letter = (node: Node) => {
    const json = JSON.stringify(node);
    const known = letters.get(json) ?? String.fromCharCode(letters.size + 1);
    letters.set(json, known);
    return known;
  };
  const text = (nodes: readonly Node[]) =>
    nodes
      .slice(start, nodes.length - end)
      .map(letter)
      .join("");
  return diff(text(old), text(fresh)).map(({ fromA, toA, fromB, toB }) => ({
    fromA: fromA + start,
    toA: toA + start,
    fromB: fromB + start,
    toB: toB + start,
  }));
}

function isSame(one: Node | undefined, other: Node | undefined): boolean {
  return one !== undefined && other !== undefined && one.eq(other);
}

export function blocksOf(doc: Node): readonly Node[] {
  return doc.content.content;
}

/** Where a block of a document begins; the end of the document for one beyond the last. */
export function startOf(doc: Node, number: number): number {
  let at = 0;
  for (let each = 0; each < number && each < doc.childCount; each += 1) at += doc.child(each).nodeSize;
  return at;
}

/** The number that an untouched block has in the other list; null if it is not in it. */
export function numberIn(stretches: readonly Stretch[], number: number): number | null {
  let shift = 0;
  for (const { fromA, toA, fromB, toB } of stretches) {
    if (number < fromA) break;
    if (number < toA) return toB - fromB === toA - fromA ? number - fromA + fromB : null;
    shift = toB - toA;
  }
  return number + shift;
}

/** The outcome: where it ended in the document, or that it has to wait. */
export interface BringResult {
  /** Whether everything was applied; if not, nothing was. */
  whole: boolean;
  /** The end of what was applied last; null if nothing was. */
  end: number | null;
}

const WAIT: BringResult = { whole: false, end: null };

/**
 * Apply to `doc`, a transform of the document in front of the person, the changes from `old` to `fresh`.
 *
 * If both changed one place, the person's has to be written first if `typed` says that it is not yet; otherwise their
 * version differs from the text only by what markdown cannot express, and yields.
 */
export function bringChanges(doc: Transform, old: Node, fresh: Node, typed: boolean): BringResult {
  const [olds, news, mine] = [blocksOf(old), blocksOf(fresh), blocksOf(doc.doc)];
  const own = diffBlocks(olds, mine);
  const steps: { from: number; to: number; stretch: Stretch; inner: Inner | null }[] = [];
  for (const stretch of mergeStretches(diffBlocks(olds, news), own, typed)) {
    const clash = own.filter((each) => overlaps(each, stretch));
    const inner = clash.length === 0 ? null : changeWithin(olds, news, mine, stretch, clash);
    if (clash.length > 0 && inner === null && typed) return WAIT;
    const from = placeIn(own, stretch.fromA, clash[0]);
    const to = clash.length === 0 ? from + stretch.toA - stretch.fromA : endIn(own, stretch.toA);
    steps.push({ from, to, stretch, inner });
  }
  let end: number | null = null;
  for (const { from, to, stretch, inner } of steps.toReversed()) {
    const start = startOf(doc.doc, from);
    const before = doc.mapping.maps.length;
    if (inner) doc.replace(start + inner.from, start + inner.to, inner.slice);
    else replaceBlocks(doc, from, to, news.slice(stretch.fromB, stretch.toB));
    const map = doc.mapping.slice(before);
    end = end === null ? endOfSteps(doc, before) : map.map(end);
  }
  return { whole: true, end };
}

/** Where the last of the steps from a number on ends. */
function endOfSteps(doc: Transform, before: number): number | null {
  let end: number | null = null;
  doc.mapping.maps.slice(before).forEach((map, at) => {
    map.forEach((_from, _to, _fresh, stop) => {
      end = doc.mapping.slice(before + at + 1).map(stop);
    });
  });
  return end;
}

function overlaps(one: Stretch, other: Stretch): boolean {
  return one.fromA < other.toA && one.toA > other.fromA;
}

/** The others' ranges; those that meet the same range of the person's are joined, if that one yields. */
function mergeStretches(theirs: Stretch[], own: readonly Stretch[], typed: boolean): Stretch[] {
  if (typed) return theirs;
  const found: Stretch[] = [];
  for (const stretch of theirs) {
    const clash = own.filter((each) => overlaps(each, stretch));
    const fromA = Math.min(stretch.fromA, ...clash.map((each) => each.fromA));
    const toA = Math.max(stretch.toA, ...clash.map((each) => each.toA));
    const wide = { fromA, toA, fromB: stretch.fromB - (stretch.fromA - fromA), toB: stretch.toB + toA - stretch.toA };
    const before = found.at(-1);
    if (before && before.toA > wide.fromA) Object.assign(before, { toA: wide.toA, toB: wide.toB });
    else found.push(wide);
  }
  return found;
}

function placeIn(own: readonly Stretch[], number: number, clash: Stretch | undefined): number {
  const before = own.filter((each) => each.toA <= number && each !== clash).at(-1);
  const shift = before ? before.toB - before.toA : 0;
  return clash ? Math.min(number + shift, clash.fromB) : number + shift;
}

function endIn(own: readonly Stretch[], number: number): number {
  const before = own.filter((each) => each.toA <= number && (each.fromA < number || each.toA > each.fromA)).at(-1);
  return number + (before ? before.toB - before.toA : 0);
}

/** A step inside one block, counted from where the block begins. */
interface Inner {
  from: number;
  to: number;
  slice: Slice;
}

/** If both changed one block, but not the same place in it: the others' step, beside the person's. */
function changeWithin(
  olds: readonly Node[],
  news: readonly Node[],
  mine: readonly Node[],
  stretch: Stretch,
  clash: readonly Stretch[],
): Inner | null {
  const [own] = clash;
  const isOne = (each: Stretch) => each.toA - each.fromA === 1 && each.toB - each.fromB === 1;
  if (!own || clash.length > 1 || !isOne(own) || !isOne(stretch)) return null;
  const [before, after, here] = [olds[stretch.fromA], news[stretch.fromB], mine[own.fromB]];
  if (!before || !after || !here) return null;
  const theirs = difference(Fragment.from(before), Fragment.from(after));
  const ours = difference(Fragment.from(before), Fragment.from(here));
  if (!theirs || !ours) return null;
  const slice = Fragment.from(after);
  const cut = sliceOf(slice, theirs.from, theirs.endB);
  if (theirs.endA < ours.from) return { from: theirs.from, to: theirs.endA, slice: cut };
  const shift = ours.endB - ours.endA;
  if (theirs.from > ours.endA) return { from: theirs.from + shift, to: theirs.endA + shift, slice: cut };
  return null;
}

interface Difference {
  from: number;
  endA: number;
  endB: number;
}

/** The one range in which two fragments differ. */
function difference(one: Fragment, other: Fragment): Difference | null {
  const from = one.findDiffStart(other);
  const end = one.findDiffEnd(other);
  if (from === null || end === null) return null;
  // Repeated content is found from both ends.
  const over = Math.max(0, from - Math.min(end.a, end.b));
  return { from, endA: end.a + over, endB: end.b + over };
}

function sliceOf(fragment: Fragment, from: number, to: number): Slice {
  const first = fragment.firstChild;
  if (!first) return Slice.empty;
  const doc = first.type.schema.topNodeType.create(null, fragment);
  return doc.slice(from, to);
}

/**
 * Replace blocks with the smallest steps, so that a cursor in them or nearby stays at its words. Empty paragraphs, which
 * markdown cannot express, stay.
 */
function replaceBlocks(doc: Transform, from: number, to: number, blocks: readonly Node[]): void {
  replaceNodes(doc, startOf(doc.doc, from), blocksOf(doc.doc).slice(from, to), blocks);
}

/** Replace the neighbouring nodes that begin at `start`. */
function replaceNodes(doc: Transform, start: number, olds: readonly Node[], fresh: readonly Node[]): void {
  let at = start;
  const placed = olds.map((node) => {
    const each = { node, at };
    at += node.nodeSize;
    return each;
  });
  const written = placed.filter(({ node }) => !(node.type.name === "paragraph" && node.childCount === 0));
  const pairs = [placed, written].find((each) => each.length === fresh.length);
  if (!pairs) replaceRange(doc, start, olds, fresh);
  else
    pairs
      .map((old, number) => ({ ...old, wanted: fresh[number] }))
      .toReversed()
      .forEach((pair) => {
        if (pair.wanted) replaceNode(doc, pair.at, pair.node, pair.wanted);
      });
}

function replaceNode(doc: Transform, at: number, old: Node, fresh: Node): void {
  if (old.eq(fresh)) return;
  if (old.isTextblock && fresh.isTextblock && old.type.spec.code === fresh.type.spec.code) {
    if (!old.sameMarkup(fresh)) doc.setNodeMarkup(at, fresh.type, fresh.attrs, fresh.marks);
    replaceWords(doc, at, old, fresh);
  } else if (old.sameMarkup(fresh) && !old.isAtom && !old.isTextblock)
    replaceNodes(doc, at + 1, blocksOf(old), blocksOf(fresh));
  else replaceRange(doc, at, [old], [fresh]);
}

/** Replace what differs in a text block, each range of it alone; then the marks, which the letters do not show. */
function replaceWords(doc: Transform, at: number, old: Node, fresh: Node): void {
  let shift = 0;
  const ranges = editsBetween(lettersOf(old), lettersOf(fresh)).map(({ from, to, insert }) => {
    const start = from + shift;
    shift += insert.length - (to - from);
    return { from, to, content: fresh.content.cut(start, start + insert.length) };
  });
  for (const { from, to, content } of ranges.toReversed()) doc.replaceWith(at + 1 + from, at + 1 + to, content);
  const now = doc.doc.nodeAt(at)?.content;
  const left = now && difference(now, fresh.content);
  if (left) doc.replaceWith(at + 1 + left.from, at + 1 + left.endA, fresh.content.cut(left.from, left.endB));
}

/** A text block's text, with as many units as it has positions. */
function lettersOf(node: Node): string {
  return node.content.content.map((each) => each.text ?? "\ufffc".repeat(each.nodeSize)).join("");
}

/** Replace neighbouring nodes with one step. */
function replaceRange(doc: Transform, start: number, olds: readonly Node[], fresh: readonly Node[]): void {
  const [there, wanted] = [Fragment.from(olds), Fragment.from(fresh)];
  const found = difference(there, wanted);
  if (!found) return;
  const trial = new Transform(doc.doc);
  try {
    trial.replace(start + found.from, start + found.endA, sliceOf(wanted, found.from, found.endB));
  } catch {
    // Its ends are at incompatible depths.
  }
  const before = doc.doc.resolve(start);
  const after = trial.doc.resolve(start);
  const first = before.index();
  const now = Fragment.from(blocksOf(after.parent).slice(first, first + fresh.length));
  const count = before.parent.childCount - olds.length + fresh.length;
  if (trial.docChanged && now.eq(wanted) && after.parent.childCount === count)
    for (const step of trial.steps) doc.step(step);
  else doc.replaceWith(start, start + there.size, wanted);
}

/**
 * Put back the blanks at the ends of paragraphs that the steps of a transform took away: markdown has none there, but
 * whoever typed one goes on typing after it.
 */
export function keepTrailingBlanks(doc: Transform): void {
  doc.before.descendants((node, at) => {
    if (!node.isTextblock) return true;
    const { lastChild } = node;
    const [blank] = (!node.type.spec.code && /[ \t]+$/.exec(lastChild?.text ?? "")) || [];
    if (!blank || !lastChild) return false;
    const end = doc.doc.resolve(doc.mapping.map(at + node.nodeSize - 1));
    const { parent, parentOffset } = end;
    const isEnd = parent.isTextblock && !parent.type.spec.code && parentOffset === parent.content.size;
    if (isEnd && /\S$/.test(parent.textContent)) doc.insert(end.pos, node.type.schema.text(blank, lastChild.marks));
    return false;
  });
}
