/** A unified diff for reading: lines with their numbers, and the changed words in a changed line. */

import { presentableDiff } from "@codemirror/merge";
import { describeChange, findChangedWords } from "@/review/changeText";

export interface DiffLine {
  kind: "same" | "added" | "removed";
  text: string;
  /** Counted from 1; undefined if the line is not on that side. */
  old?: number;
  new?: number;
  /** The changed part of the line, as [from, to); empty if all of it changed. */
  marks: [number, number][];
}

const SECTION = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

/** The lines of a patch's sections, without headers and remarks. */
export function linesOf(patch: string): DiffLine[] {
  const lines: DiffLine[] = [];
  let [old, fresh, inside] = [0, 0, false];
  for (const line of patch.split("\n")) {
    const section = SECTION.exec(line);
    if (section) {
      [old, fresh, inside] = [Number(section[1]), Number(section[2]), true];
    } else if (inside && line.startsWith("-")) {
      lines.push({ kind: "removed", text: line.slice(1), old: old++, marks: [] });
    } else if (inside && line.startsWith("+")) {
      lines.push({ kind: "added", text: line.slice(1), new: fresh++, marks: [] });
    } else if (inside && line.startsWith(" ")) {
      lines.push({ kind: "same", text: line.slice(1), old: old++, new: fresh++, marks: [] });
    }
  }
  return lines;
}

/** The lines of a document's hunks. The hunks are in order, each numbered as if there were no others: after the first,
 * line numbers are adjusted to all of them together. */
export function linesOfHunks(patches: readonly string[]): DiffLine[][] {
  let by = 0;
  return patches.map((patch) => {
    const shift = by;
    const lines = linesOf(patch);
    const { added, removed } = counts(lines);
    by += added - removed;
    return lines.map((line) => (line.new === undefined ? line : { ...line, new: line.new + shift }));
  });
}

/** What a hunk changed, in a few words. */
export function wordsOf(patch: string): string {
  const { before, after } = sidesOf(patch);
  return describeChange(before, after);
}

/** The words that a hunk removed, and those that it inserted. */
export function sidesOf(patch: string): { before: string; after: string } {
  const lines = linesOf(patch);
  const [before, after] = (["removed", "added"] as const).map((wanted) =>
    lines.flatMap(({ kind, text }) => (kind === wanted ? [text] : [])).join("\n"),
  ) as [string, string];
  return findChangedWords(before, after);
}

/** Hunks from `first` on that changed the same or neighbouring lines, and can only be read together. */
export interface Unit {
  first: number;
  count: number;
  lines: DiffLine[];
}

/** A document's hunks for reading. A lone hunk is shown separately; several with the lines of the whole change. */
export function unitsOf(patches: readonly string[], whole: string): Unit[] {
  const units: (Unit & { reach: Reach })[] = [];
  for (const [at, lines] of linesOfHunks(patches).entries()) {
    const reach = reachOf(lines, 0, lines.length);
    const last = units.at(-1);
    if (last && reach.from <= last.reach.to) {
      last.count += 1;
      last.reach.to = Math.max(last.reach.to, reach.to);
      last.lines = [...last.lines, ...lines];
    } else units.push({ first: at, count: 1, lines, reach });
  }
  const all = units.some(({ count }) => count > 1) ? linesOf(whole) : [];
  return units.map(({ reach, ...unit }) =>
    unit.count === 1 ? unit : { ...unit, lines: part(all, reach) ?? unit.lines },
  );
}

/** Lines of the text before, from and up to. */
interface Reach {
  from: number;
  to: number;
}

/** What the changed lines from `start` up to `end` replace. */
function reachOf(lines: readonly DiffLine[], start: number, end: number): Reach {
  const first = lines.findIndex((line, at) => at >= start && line.kind !== "same");
  const olds = lines.slice(start, end).flatMap((line) => (line.kind === "removed" && line.old ? [line.old] : []));
  const before = lines[first - 1]?.old;
  const from = olds[0] ?? (before === undefined ? 1 : before + 1);
  return { from, to: (olds.at(-1) ?? from - 1) + 1 };
}

const AROUND = 3;

/** The runs of changed lines that touch a range, with a few lines around them; null if there are none. */
function part(lines: readonly DiffLine[], reach: Reach): DiffLine[] | null {
  let [start, end] = [-1, -1];
  for (let at = 0; at < lines.length; at += 1) {
    if (lines[at]?.kind === "same") continue;
    let behind = at;
    while (behind < lines.length && lines[behind]?.kind !== "same") behind += 1;
    const { from, to } = reachOf(lines, at, behind);
    if (from <= reach.to && to >= reach.from) [start, end] = [start < 0 ? at : start, behind];
    at = behind;
  }
  if (start < 0) return null;
  const follows = (at: number) =>
    lines[at]?.kind === "same" && (lines[at - 1]?.kind !== "same" || lines[at - 1]?.old === (lines[at]?.old ?? 0) - 1);
  let [first, last] = [start, end];
  while (start - first < AROUND && lines[first - 1]?.kind === "same" && (first === start || follows(first))) first -= 1;
  while (last - end < AROUND && follows(last)) last += 1;
  return lines.slice(first, last);
}

/** The same lines with changed words marked, for each run of removed and then added lines. */
export function markWords(lines: readonly DiffLine[]): DiffLine[] {
  const done: DiffLine[] = [];
  let at = 0;
  while (at < lines.length) {
    const removed = run(lines, at, "removed");
    const added = run(lines, at + removed.length, "added");
    if (removed.length && added.length) done.push(...pair(removed, added));
    else done.push(...removed, ...added);
    at += removed.length + added.length;
    const same = lines[at];
    if (same?.kind === "same") {
      done.push(same);
      at += 1;
    }
  }
  return done;
}

function run(lines: readonly DiffLine[], from: number, kind: DiffLine["kind"]): DiffLine[] {
  let to = from;
  while (lines[to]?.kind === kind) to += 1;
  return lines.slice(from, to);
}

/** Beyond this share of changed characters, marking words says less than marking the whole line. */
const MOSTLY = 0.7;

function pair(removed: readonly DiffLine[], added: readonly DiffLine[]): DiffLine[] {
  const [before, after] = [removed, added].map((side) => side.map((line) => line.text).join("\n")) as [string, string];
  const changes = presentableDiff(before, after);
  const left = changes.map(({ fromA, toA }): [number, number] => [fromA, toA]);
  const right = changes.map(({ fromB, toB }): [number, number] => [fromB, toB]);
  return [...spread(removed, left, before.length), ...spread(added, right, after.length)];
}

function spread(lines: readonly DiffLine[], ranges: readonly [number, number][], length: number): DiffLine[] {
  const changed = ranges.reduce((sum, [from, to]) => sum + to - from, 0);
  if (changed > MOSTLY * length) return [...lines];
  let start = 0;
  return lines.map((line) => {
    const end = start + line.text.length;
    const marks = ranges
      .filter(([from, to]) => from < end && to > start)
      .map(([from, to]): [number, number] => [Math.max(from - start, 0), Math.min(to, end) - start]);
    start = end + 1;
    return { ...line, marks };
  });
}

/** What happened to a text, line by line, according to a change: only its own lines, without context. */
export function linesBetween(before: string, after: string, old: number, fresh: number): DiffLine[] {
  const [removed, added] = [before, after].map((text) => text.replace(/\n$/, "").split("\n")) as [string[], string[]];
  return [
    ...(before ? removed : []).map((text, at): DiffLine => ({ kind: "removed", text, old: old + at, marks: [] })),
    ...(after ? added : []).map((text, at): DiffLine => ({ kind: "added", text, new: fresh + at, marks: [] })),
  ];
}

export interface Size {
  added: number;
  removed: number;
}

export function sizeOf(patches: readonly string[]): Size {
  return counts(patches.flatMap(linesOf));
}

function counts(lines: readonly DiffLine[]): Size {
  const count = (kind: DiffLine["kind"]) => lines.filter((line) => line.kind === kind).length;
  return { added: count("added"), removed: count("removed") };
}

/** How many lines of a document of this length stayed the same; null for a truncated patch. */
export function countUnchanged({ patch, lines, truncated }: { patch: string; lines: number; truncated: boolean }) {
  return truncated ? null : lines - sizeOf([patch]).added;
}

/** Neighbouring unchanged, or changed, lines grouped. */
export interface Group {
  changed: boolean;
  lines: DiffLine[];
}

export function groupLines(lines: readonly DiffLine[]): Group[] {
  const groups: Group[] = [];
  for (const line of lines) {
    const changed = line.kind !== "same";
    const last = groups.at(-1);
    if (last?.changed === changed) last.lines.push(line);
    else groups.push({ changed, lines: [line] });
  }
  return groups;
}
