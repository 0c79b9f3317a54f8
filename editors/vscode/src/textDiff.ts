/** The difference of two texts as edits, and a merge of two texts that began as one. Pure. */

import * as Y from "yjs";

/** Replaces the text from `from` to `to`, in UTF-16 units of the old text, with `insert`. */
export interface Edit {
  from: number;
  to: number;
  insert: string;
}

interface Piece {
  /** The tokens of the old text, and those of the new one that stand for them. */
  from: number;
  to: number;
  newFrom: number;
  newTo: number;
}

/** Two texts with little in common are not worth seconds of comparing. */
const MAX_STEPS = 1500;
const WORDS = /\r\n|[\p{L}\p{N}_]+|[^\S\r\n]+|[\s\S]/gu;
const LINES = /[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+/g;

export const splitWords = (text: string): string[] => text.match(WORDS) ?? [];
const splitLines = (text: string): string[] => text.match(LINES) ?? [];

/** The edits, in order, that make `fresh` of `old`: lines first, and words inside of changed lines. */
export function diffTexts(old: string, fresh: string): Edit[] {
  if (old === fresh) return [];
  const edits: Edit[] = [];
  for (const { from, to, insert } of diffTokens(splitLines(old), splitLines(fresh))) {
    const inner = diffTokens(splitWords(old.slice(from, to)), splitWords(insert));
    for (const edit of inner) edits.push({ from: edit.from + from, to: edit.to + from, insert: edit.insert });
  }
  return edits;
}

/** The edits, in order, of whole tokens; places in them count characters. */
export function diffTokens(old: readonly string[], fresh: readonly string[]): Edit[] {
  const places = [0];
  for (const token of old) places.push((places.at(-1) ?? 0) + token.length);
  return comparePieces(old, fresh).map(({ from, to, newFrom, newTo }) => ({
    from: places[from] ?? 0,
    to: places[to] ?? 0,
    insert: fresh.slice(newFrom, newTo).join(""),
  }));
}

function comparePieces(old: readonly string[], fresh: readonly string[]): Piece[] {
  let start = 0;
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) start += 1;
  let [oldEnd, newEnd] = [old.length, fresh.length];
  while (oldEnd > start && newEnd > start && old[oldEnd - 1] === fresh[newEnd - 1]) {
    oldEnd -= 1;
    newEnd -= 1;
  }
  if (start === oldEnd && start === newEnd) return [];
  const path = shortestPath(old.slice(start, oldEnd), fresh.slice(start, newEnd));
  const whole = { from: start, to: oldEnd, newFrom: start, newTo: newEnd };
  return path?.map((each) => shiftPiece(each, start)) ?? [whole];
}

const shiftPiece = ({ from, to, newFrom, newTo }: Piece, by: number): Piece => ({
  from: from + by,
  to: to + by,
  newFrom: newFrom + by,
  newTo: newTo + by,
});

/** The greedy algorithm of Myers; null if the texts have too little in common. */
function shortestPath(old: readonly string[], fresh: readonly string[]): Piece[] | null {
  const reach = new Map<number, number>([[1, 0]]);
  const trace: Map<number, number>[] = [];
  for (let steps = 0; steps <= Math.min(old.length + fresh.length, MAX_STEPS); steps += 1) {
    trace.push(new Map(reach));
    for (let diagonal = -steps; diagonal <= steps; diagonal += 2) {
      let at = isDown(reach, diagonal, steps) ? (reach.get(diagonal + 1) ?? 0) : (reach.get(diagonal - 1) ?? 0) + 1;
      while (at < old.length && at - diagonal < fresh.length && old[at] === fresh[at - diagonal]) at += 1;
      reach.set(diagonal, at);
      if (at >= old.length && at - diagonal >= fresh.length) return walkBack(trace, old.length, fresh.length);
    }
  }
  return null;
}

function isDown(reach: ReadonlyMap<number, number>, diagonal: number, steps: number): boolean {
  if (diagonal === -steps) return true;
  return diagonal !== steps && (reach.get(diagonal - 1) ?? -1) < (reach.get(diagonal + 1) ?? -1);
}

function walkBack(trace: readonly Map<number, number>[], oldLength: number, newLength: number): Piece[] {
  const pieces: Piece[] = [];
  let [at, newAt] = [oldLength, newLength];
  for (let steps = trace.length - 1; steps > 0; steps -= 1) {
    const reach = trace[steps] ?? new Map<number, number>();
    const diagonal = at - newAt;
    const down = isDown(reach, diagonal, steps);
    const before = down ? diagonal + 1 : diagonal - 1;
    const from = reach.get(before) ?? 0;
    const newFrom = from - before;
    const [to, newTo] = down ? [from, newFrom + 1] : [from + 1, newFrom];
    const last = pieces.at(-1);
    if (last && last.from === to && last.newFrom === newTo) Object.assign(last, { from, newFrom });
    else pieces.push({ from, to, newFrom, newTo });
    [at, newAt] = [from, newFrom];
  }
  return pieces.reverse();
}

/** `theirs` with what `mine` changed of `base`. Where both changed one place, the words of both stay. */
export function mergeTexts(base: string, mine: string, theirs: string): string {
  const begun = new Y.Doc();
  begun.getText("text").insert(0, base);
  const state = Y.encodeStateAsUpdate(begun);
  // The lower client comes first where both inserted: what the other side has stays in front.
  const [left, right] = [changed(state, 1, diffTexts(base, theirs)), changed(state, 2, diffTexts(base, mine))];
  Y.applyUpdate(left, Y.encodeStateAsUpdate(right));
  return left.getText("text").toString();
}

function changed(state: Uint8Array, client: number, edits: readonly Edit[]): Y.Doc {
  const doc = new Y.Doc();
  doc.clientID = client;
  Y.applyUpdate(doc, state);
  applyEdits(doc.getText("text"), edits);
  return doc;
}

/** Apply edits, given in order, to a shared text. */
export function applyEdits(text: Y.Text, edits: readonly Edit[]): void {
  for (const { from, to, insert } of edits.toReversed()) {
    if (to > from) text.delete(from, to - from);
    if (insert) text.insert(from, insert);
  }
}
