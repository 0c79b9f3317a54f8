/** Where the hunks of a review are in an editor's text, and what is decided about them. Pure. */

import { LineTable, toPlain, toUnits } from "./positions";
import type { Draft, Hunk } from "./shapes";

/** A hunk and its range of the text, in UTF-16 units with every line break one unit long. */
export interface PlacedHunk {
  hunk: Hunk;
  from: number;
  to: number;
}

/** Whether there is something to decide. A person's own typing stays as it is. */
export function isOpen({ author, conflict }: Hunk): boolean {
  return conflict || author === "agent" || author === "mixed";
}

/** What is to be decided about a document: the document itself, if it is one decision, or its hunks. */
export function openHunks({ hunks }: Draft): Hunk[] {
  const open = hunks.filter(isOpen);
  const whole = open.filter(({ kind }) => kind === "created");
  return whole.length > 0 ? whole : open;
}

/** Whether a hunk stands for the document: its creation, its new name or its deletion. */
export const isWhole = ({ kind }: Hunk): boolean => kind !== "modified";

/** Where hunks are in a text. One that is not where the server says stays where it was seen `before`. */
export function placeHunks(hunks: readonly Hunk[], text: string, before: readonly PlacedHunk[] = []): PlacedHunk[] {
  const table = new LineTable(text);
  const known = new Map(before.map((each) => [each.hunk.hunk_id, each]));
  const placed: PlacedHunk[] = [];
  for (const hunk of hunks) {
    const found = findPlace(hunk, table) ?? known.get(hunk.hunk_id);
    if (found && found.from >= (placed.at(-1)?.to ?? 0)) placed.push({ hunk, from: found.from, to: found.to });
  }
  return placed;
}

function findPlace(hunk: Hunk, table: LineTable): { from: number; to: number } | null {
  if (isWhole(hunk)) return { from: 0, to: hunk.kind === "created" ? table.text.length : 0 };
  const line = hunk.working_start_line - 1;
  if (line >= table.lines) return null;
  const words = toPlain(hunk.working);
  const from = table.offset({ line, character: toUnits(table.line(line), hunk.working_column) });
  return table.text.startsWith(words, from) ? { from, to: from + words.length } : null;
}

/** Hunks after the text from `from` to `to` was replaced by `length` units. What is typed at an edge is not in them. */
export function shiftHunks(placed: readonly PlacedHunk[], from: number, to: number, length: number): PlacedHunk[] {
  const by = length - (to - from);
  const shift = (at: number, stays: boolean) =>
    at < from || (at === from && stays) ? at : at >= to ? at + by : from + length;
  return placed.map((each) => {
    const start = shift(each.from, each.from === each.to);
    return { ...each, from: start, to: Math.max(start, shift(each.to, true)) };
  });
}

/** The hunk at a place: one that contains it, or ends or begins there. */
export function hunkAt(placed: readonly PlacedHunk[], place: number): PlacedHunk | undefined {
  return placed.find(({ from, to }) => from <= place && place <= to);
}

/** The hunks that a stretch of lines shows. */
export function hunksBetween(placed: readonly PlacedHunk[], from: number, to: number): PlacedHunk[] {
  return placed.filter((each) => each.from <= to && from <= each.to);
}

/** The text as it was before the open hunks. */
export function baseOf(text: string, placed: readonly PlacedHunk[]): string {
  let base = "";
  let at = 0;
  for (const { hunk, from, to } of placed) {
    if (!isOpen(hunk) || (isWhole(hunk) && hunk.kind !== "created")) continue;
    base += text.slice(at, from) + toPlain(hunk.base);
    at = to;
  }
  return base + text.slice(at);
}

/** The hunk that was shown, as the server has it now: typing may have given it another name. */
export function findAgain(shown: Hunk, draft: Draft | undefined): Hunk | undefined {
  const open = draft === undefined ? [] : openHunks(draft);
  const same = open.find(({ hunk_id }) => hunk_id === shown.hunk_id);
  const alike = open.filter(
    ({ kind, turn, base }) => kind === shown.kind && turn === shown.turn && base === shown.base,
  );
  return same ?? (alike.length === 1 ? alike[0] : undefined);
}

const LABELS: Record<string, string> = {
  paragraph_removed: "a paragraph is gone",
  number_changed: "a number changed",
  date_changed: "a date changed",
  link_changed: "a link changed",
  code_changed: "code changed",
  quotation_changed: "a quotation changed",
  name_changed: "a name changed",
  condition_changed: "a condition changed",
};

/** What to look at first. */
export const describeLabels = ({ labels }: Hunk): string => labels.map((each) => LABELS[each] ?? each).join(", ");

const MAX_WORDS = 60;

/** A hunk in one line. */
export function describeHunk({ kind, base, working, conflict, proposed }: Hunk, most = MAX_WORDS): string {
  if (kind === "created") return "New document";
  if (kind === "deleted") return "Delete the document";
  if (kind === "moved") return "Move the document";
  const [old, fresh] = [shorten(base, most), shorten(conflict ? proposed : working, most)];
  if (old === "") return `+ ${fresh}`;
  if (fresh === "") return `− ${old}`;
  return `${old} → ${fresh}`;
}

function shorten(text: string, most: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}
