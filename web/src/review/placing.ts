/** Where hunks lie in the editor's text. Pure. */

import type { ChangeDesc, Text } from "@codemirror/state";
import type { Schemas } from "@/api/client";

export type Hunk = Schemas["HunkShape"];
export type Draft = Schemas["DraftShape"];

/** A hunk and its stretch of the text; empty where something was taken out. */
export interface Placed {
  hunk: Hunk;
  from: number;
  to: number;
}

export interface Placing {
  placed: Placed[];
  /** Whether all were found: the text may have gone on since the review was told. */
  whole: boolean;
}

/** A text with every line break one unit long, as the editor has it. */
export function plain(text: string): string {
  return text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
}

/** Whether there is anything of an agent's to decide in a hunk. A person's own typing stands as it is. */
export function isOpen({ author, conflict }: Hunk): boolean {
  return conflict || author === "agent" || author === "mixed";
}

/** Find hunks, which are in the text's order. One that is not where it should be stays where it was seen `before`. */
export function place(hunks: readonly Hunk[], text: Text, before: readonly Placed[] = []): Placing {
  const known = new Map(before.map((each) => [each.hunk.hunk_id, each]));
  const placed: Placed[] = [];
  let whole = true;
  let end = 0;
  for (const hunk of hunks) {
    const from = find(hunk, text, end);
    const seen = from === null ? known.get(hunk.hunk_id) : undefined;
    if (from !== null) placed.push({ hunk, from, to: from + plain(hunk.working).length });
    else whole = false;
    if (seen && seen.from >= end) placed.push({ ...seen, hunk });
    end = placed.at(-1)?.to ?? end;
  }
  return { placed, whole };
}

function find(hunk: Hunk, text: Text, after: number): number | null {
  if (hunk.working_start_line > text.lines) return null;
  const line = text.line(hunk.working_start_line);
  const start = Math.max(line.from, Math.min(after, line.to));
  const working = plain(hunk.working);
  if (working === "") return /^[\r\n]/.test(hunk.base) && start === line.from ? line.to : start;
  if (text.sliceString(start, start + working.length) === working) return start;
  // A hunk may begin within a line, but not beyond it.
  const found = text.sliceString(start, line.to + working.length).indexOf(working);
  return found < 0 || start + found > line.to ? null : start + found;
}

/** Hunks after the text has changed. What is typed at a hunk's edge does not belong to it. */
export function moved(placed: readonly Placed[], changes: ChangeDesc): Placed[] {
  return placed.map((each) => {
    const from = changes.mapPos(each.from, each.from === each.to ? -1 : 1);
    return { ...each, from, to: Math.max(from, changes.mapPos(each.to, -1)) };
  });
}

/** The hunk at a place: one that holds it, or ends or begins there. */
export function hunkAt(placed: readonly Placed[], place: number): Placed | undefined {
  return placed.find(({ from, to }) => from <= place && place < Math.max(to, from + 1));
}

/** The text that was there before the hunks. */
export function baseOf(text: Text, placed: readonly Placed[]): string {
  let base = "";
  let at = 0;
  for (const { hunk, from, to } of placed) {
    base += text.sliceString(at, from) + plain(hunk.base);
    at = to;
  }
  return base + text.sliceString(at);
}
