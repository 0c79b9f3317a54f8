/**
 * The blocks of a rich document, and bringing into it what became of a text elsewhere. Pure.
 *
 * What the person has in front of them may hold more than its markdown says (an empty paragraph, a blank at the end of
 * one) and more than was written yet. So a new reading of the text never replaces the document: what changed from the
 * old reading to the new one is carried out in it, step by step.
 */

import { diff } from "@codemirror/merge";
import { Fragment, type Node, Slice } from "@tiptap/pm/model";
import { Transform } from "@tiptap/pm/transform";

/** A stretch of numbered things in one list, and what takes its place in another. */
export interface Stretch {
  fromA: number;
  toA: number;
  fromB: number;
  toB: number;
}

/** The stretches in which two lists of blocks differ. */
export function diffBlocks(old: readonly Node[], fresh: readonly Node[]): Stretch[] {
  const shorter = Math.min(old.length, fresh.length);
  let start = 0;
  while (start < shorter && isSame(old[start], fresh[start])) start += 1;
  let end = 0;
  while (end < shorter - start && isSame(old.at(-1 - end), fresh.at(-1 - end))) end += 1;
  // Each block that says something else becomes a letter, so that blocks are compared as texts are.
  const letters = new Map<string, string>();
  const letter = (node: Node) => {
    const said = JSON.stringify(node);
    const known = letters.get(said) ?? String.fromCharCode(letters.size + 1);
    letters.set(said, known);
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

/** Which number a block that nobody touched has in the other list; null for one that is not in it. */
export function numberIn(stretches: readonly Stretch[], number: number): number | null {
  let shift = 0;
  for (const { fromA, toA, fromB, toB } of stretches) {
    if (number < fromA) break;
    if (number < toA) return toB - fromB === toA - fromA ? number - fromA + fromB : null;
    shift = toB - toA;
  }
  return number + shift;
}

/** What a bringing did: where it ended in the document, or that it has to wait. */
export interface BringResult {
  /** Whether everything was brought; nothing was where not. */
  whole: boolean;
  /** The end of what was brought in last; null where nothing was. */
  end: number | null;
}

const WAIT: BringResult = { whole: false, end: null };

/**
 * Carry out in `doc`, a transform of what the person has in front of them, what became of `old` in `fresh`.
 *
 * Where both changed one place, the person's has to be written first if `typed` says that it is not yet; else what they
 * have there can be told from the text only by what no markdown says, and gives way.
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

/** The stretches of others; those that meet the same one of the person's together, where that one gives way. */
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

/** A step inside of one block, counted from where the block begins. */
interface Inner {
  from: number;
  to: number;
  slice: Slice;
}

/** Where both changed one block, but not the same place in it: the step that others made, beside the person's. */
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

/** The one stretch in which two fragments differ. */
function difference(one: Fragment, other: Fragment): Difference | null {
  const from = one.findDiffStart(other);
  const end = one.findDiffEnd(other);
  if (from === null || end === null) return null;
  // What stands twice is found from both ends.
  const over = Math.max(0, from - Math.min(end.a, end.b));
  return { from, endA: end.a + over, endB: end.b + over };
}

function sliceOf(fragment: Fragment, from: number, to: number): Slice {
  const first = fragment.firstChild;
  if (!first) return Slice.empty;
  const doc = first.type.schema.topNodeType.create(null, fragment);
  return doc.slice(from, to);
}

/** Put blocks in the place of others by the smallest step, so that a cursor near by stays where it is. */
function replaceBlocks(doc: Transform, from: number, to: number, blocks: readonly Node[]): void {
  const [start, end] = [startOf(doc.doc, from), startOf(doc.doc, to)];
  const wanted = Fragment.from(blocks);
  const there = Fragment.from(blocksOf(doc.doc).slice(from, to));
  const found = difference(there, wanted);
  if (!found) return;
  const trial = new Transform(doc.doc);
  try {
    trial.replace(start + found.from, start + found.endA, sliceOf(wanted, found.from, found.endB));
  } catch {
    // Its ends lie at depths that do not fit each other.
  }
  const now = Fragment.from(blocksOf(trial.doc).slice(from, from + blocks.length));
  const right =
    trial.docChanged && now.eq(wanted) && trial.doc.childCount === doc.doc.childCount - (to - from) + blocks.length;
  if (right) for (const step of trial.steps) doc.step(step);
  else doc.replaceWith(start, end, wanted);
}
