/** What an agent has written at once, shown in the text like a proposal: kept, or undone. Pure. */

import type { Text } from "@codemirror/state";
import type { Schemas } from "@/api/client";
import { type DiffLine, linesOfHunks } from "@/history/patch";
import type { Hunk } from "./hunkPlaces";

type TurnHunk = Schemas["TurnHunkShape"];

/** The hunks of an applied turn in one document, as the review has them. Shortened ones are only in the history. */
export function toAppliedHunks(turn: number, path: string, hunks: readonly TurnHunk[]): Hunk[] {
  const here = hunks.filter((hunk) => hunk.file_path === path);
  return linesOfHunks(here.map(({ patch }) => patch)).flatMap((lines, at) => {
    const hunk = here[at];
    return hunk && !hunk.truncated ? toHunk(turn, hunk.hunk_id, lines) : [];
  });
}

function toHunk(turn: number, id: string, lines: readonly DiffLine[]): Hunk[] {
  const first = lines.findIndex(({ kind }) => kind !== "same");
  const last = lines.findLastIndex(({ kind }) => kind !== "same");
  if (first < 0) return [];
  const changed = lines.slice(first, last + 1);
  const side = (without: DiffLine["kind"]) =>
    changed.flatMap(({ kind, text }) => (kind === without ? [] : [`${text}\n`])).join("");
  const [base, working] = [side("added"), side("removed")];
  const above = lines.slice(0, first).findLast((line) => line.new !== undefined)?.new;
  const start = changed.find((line) => line.new !== undefined)?.new ?? (above ?? 0) + 1;
  const hunk: Hunk = {
    hunk_id: id,
    applied: turn,
    turn,
    kind: "modified",
    author: "agent",
    conflict: false,
    labels: [],
    oversized_hunk: false,
    base,
    working,
    proposed: working,
    start_line: start,
    working_start_line: start,
    working_column: 0,
    working_at: 0,
  };
  return [hunk];
}

/** The hunks of a review in the text, together with what was written at once. */
export function withApplied(hunks: readonly Hunk[], applied: readonly Hunk[], text: Text): Hunk[] {
  const all = [...hunks.filter(({ kind }) => kind === "modified"), ...relocate(applied, text)];
  return all.sort(
    (one, other) => one.working_start_line - other.working_start_line || one.working_column - other.working_column,
  );
}

/** The hunks whose lines are still in a text, each with where they are now: the nearest place, if there are several. */
export function relocate(hunks: readonly Hunk[], text: Text): Hunk[] {
  if (hunks.length === 0) return [];
  const lines = text.toJSON();
  return hunks.flatMap((hunk) => {
    const wanted = hunk.working === "" ? [] : hunk.working.slice(0, -1).split("\n");
    const line = findLines(lines, wanted, hunk.working_start_line - 1);
    if (line === null) return [];
    // The last line of a text may have no line break.
    const whole = line + wanted.length < lines.length;
    const cut = (words: string) => (whole ? words : words.replace(/\n$/, ""));
    return [{ ...hunk, working: cut(hunk.working), base: cut(hunk.base), working_start_line: line + 1 }];
  });
}

function findLines(lines: readonly string[], wanted: readonly string[], near: number): number | null {
  const most = lines.length - wanted.length;
  for (let away = 0; away <= Math.max(near, most - near); away += 1) {
    for (const at of away === 0 ? [near] : [near - away, near + away]) {
      if (at >= 0 && at <= most && wanted.every((line, by) => lines[at + by] === line)) return at;
    }
    if (wanted.length === 0) return null;
  }
  return null;
}
