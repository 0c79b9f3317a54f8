/** A unified diff for reading: lines with their numbers, and inside a changed line the words that changed. */

import { presentableDiff } from "@codemirror/merge";

export interface DiffLine {
  kind: "same" | "added" | "removed";
  text: string;
  /** Counted from 1; where the line is on that side. */
  old?: number;
  new?: number;
  /** What of the line changed, as [from, to); empty where all of it did. */
  marks: [number, number][];
}

const SECTION = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

/** The lines of a patch's sections; headers and remarks are left out. */
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

/** The lines of a document's hunks, which come in its order and are each told as if there were no others: behind the
 * first, lines are counted on as all of them together have it. */
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

/** The same lines with their changed words marked, run by run of what was removed and then added. */
export function marked(lines: readonly DiffLine[]): DiffLine[] {
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

/** Beyond this share of changed characters, marks say less than the whole line does. */
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

/** What became of a text, line by line, as far as a change tells: its own lines, with no others around them. */
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

/** How many lines stayed the same in a document of so many. A patch that is cut short does not tell: null. */
export function unchangedIn({ patch, lines, truncated }: { patch: string; lines: number; truncated: boolean }) {
  return truncated ? null : lines - sizeOf([patch]).added;
}

/** Neighbouring lines that stayed, or that changed, together. */
export interface Group {
  changed: boolean;
  lines: DiffLine[];
}

export function grouped(lines: readonly DiffLine[]): Group[] {
  const groups: Group[] = [];
  for (const line of lines) {
    const changed = line.kind !== "same";
    const last = groups.at(-1);
    if (last?.changed === changed) last.lines.push(line);
    else groups.push({ changed, lines: [line] });
  }
  return groups;
}
