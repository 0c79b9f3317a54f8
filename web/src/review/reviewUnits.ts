/** The larger units around a change, which are decided in one go: a sentence, a paragraph, the document, the turn. Pure. */

import type { Line, Text } from "@codemirror/state";
import { type Hunk, isOpen, type PlacedHunk } from "./hunkPlaces";

export interface ReviewUnit {
  kind: "sentence" | "item" | "row" | "paragraph" | "list" | "table" | "document" | "turn";
  hunks: Hunk[];
}

const ITEM = /^\s*(?:[-*+]|\d{1,9}[.)])(?:\s|$)/;
const ROW = /^\s*\|/;
/** A longer paragraph is no prose: its sentences are not looked for. */
const LONGEST = 20_000;
const sentences = new Intl.Segmenter(undefined, { granularity: "sentence" });

/** The units around a change, the smallest first; only those that decide more than the one before. */
export function listUnits(text: Text, placed: readonly PlacedHunk[], hunk: Hunk): ReviewUnit[] {
  const open = placed.filter((each) => isDecidable(each.hunk));
  const own = open.find((each) => each.hunk.hunk_id === hunk.hunk_id);
  if (!own) return [];
  const found: ReviewUnit[] = [];
  let most = 1;
  const add = (kind: ReviewUnit["kind"], hunks: Hunk[]) => {
    if (hunks.length <= most) return;
    most = hunks.length;
    found.push({ kind, hunks });
  };
  const within = ({ from, to }: Stretch) =>
    open.filter((each) => each.from >= from && each.to <= to).map((each) => each.hunk);
  const line = text.lineAt(own.from);
  const paragraph = findParagraph(text, line);
  const shape = ROW.test(line.text) ? "table" : isInList(text, line, paragraph) ? "list" : "prose";
  if (shape === "prose") {
    const sentence = findSentence(text, paragraph, own);
    if (sentence) add("sentence", within(sentence));
    add("paragraph", within(paragraph));
  } else {
    add(shape === "table" ? "row" : "item", within(line));
    add(shape, within(paragraph));
  }
  add(
    "document",
    open.map((each) => each.hunk),
  );
  return found;
}

/** Whether it is accepted or rejected as it is: in a conflict nobody has chosen a side yet. */
function isDecidable(hunk: Hunk): boolean {
  return isOpen(hunk) && !hunk.conflict && hunk.applied === undefined;
}

interface Stretch {
  from: number;
  to: number;
}

/** The lines around one, as far as the next empty ones. */
function findParagraph(text: Text, line: Line): Stretch {
  let [first, last] = [line.number, line.number];
  while (first > 1 && text.line(first - 1).text.trim() !== "") first -= 1;
  while (last < text.lines && text.line(last + 1).text.trim() !== "") last += 1;
  return { from: text.line(first).from, to: text.line(last).to };
}

function isInList(text: Text, line: Line, { from }: Stretch): boolean {
  return ITEM.test(line.text) || ITEM.test(text.lineAt(from).text);
}

function findSentence(text: Text, { from, to }: Stretch, own: Stretch): Stretch | null {
  if (to - from > LONGEST) return null;
  for (const { index, segment } of sentences.segment(text.sliceString(from, to).replaceAll("\n", " "))) {
    const [start, end] = [from + index, from + index + segment.length];
    if (own.from >= start && own.from < end) return own.to <= end ? { from: start, to: end } : null;
  }
  return null;
}
