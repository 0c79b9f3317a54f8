/**
 * Highlighting for a document that is too long to be parsed from its beginning: the visible part is parsed alone, with
 * the lines that show what it belongs to, and a moment after the key, so that no key waits for it.
 *
 * Keeping a whole parse up to date costs a key as much as the text before it: at the end of 10 MB of markdown 70 ms,
 * where every block is visited again, although none has changed. The cost of parsing a part is that what began far
 * above (a fence, a deep list) may be misread, and that nothing can be folded.
 */

import { type Extension, RangeSetBuilder, type Text } from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  type EditorView,
  type PluginValue,
  ViewPlugin,
  type ViewUpdate,
} from "@codemirror/view";
import type { Input, Parser } from "@lezer/common";
import { type Highlighter, highlightTree } from "@lezer/highlight";

interface Stretch {
  from: number;
  to: number;
}

/** What else above a position has to be parsed to understand it; in text order. */
export type Above = (text: Text, place: number) => Stretch[];

const AFTER_MS = 50;
const MARGIN = 2_000;
const MOST = 60_000;
const LINES_ABOVE = 1_000;

/** The lines that a position is indented under, the nearest last, and the very first line, as JSON and YAML nest. */
export const findIndentContext: Above = (text, place) => {
  const found: Stretch[] = [];
  const own = text.lineAt(place);
  let depth = measureIndent(own.text);
  for (let at = own.number - 1; at >= Math.max(2, own.number - LINES_ABOVE) && depth > 0; at -= 1) {
    const line = text.line(at);
    if (line.length === 0 || measureIndent(line.text) >= depth) continue;
    depth = measureIndent(line.text);
    found.unshift(withBreak(text, line));
  }
  return depth > 0 && own.number > 1 ? [withBreak(text, text.line(1)), ...found] : found;
};

/** The line that opens the fence around a position, as far as can be seen from there. */
export const findFence: Above = (text, place) => {
  const { number } = text.lineAt(place);
  let open: Stretch | null = null;
  for (let at = Math.max(1, number - LINES_ABOVE); at < number; at += 1) {
    const line = text.line(at);
    if (/^ {0,3}(?:```|~~~)/.test(line.text)) open = open ? null : withBreak(text, line);
  }
  return open ? [open] : [];
};

function measureIndent(line: string): number {
  const found = line.search(/\S/);
  return found < 0 ? Number.POSITIVE_INFINITY : found;
}

function withBreak({ length }: Text, { from, to }: Stretch): Stretch {
  return { from, to: Math.min(to + 1, length) };
}

/** What to parse for a visible range: whole lines, a few more, and their context. */
export function findAround(text: Text, seen: Stretch, above: Above): Stretch[] {
  const from = text.lineAt(Math.max(0, seen.from - MARGIN)).from;
  const to = Math.min(text.lineAt(Math.min(text.length, seen.to + MARGIN)).to, from + MOST);
  const under = above(text, from).filter((stretch) => stretch.to - stretch.from < MARGIN);
  return [...under, { from, to: Math.max(to, from) }];
}

/** The highlighting of a range, each mark with its class. */
export function highlightIn(text: Text, parts: readonly Stretch[], parser: Parser, looks: Highlighter): DecorationSet {
  const [first, last] = [parts[0], parts.at(-1)];
  const marks = new RangeSetBuilder<Decoration>();
  if (!first || !last || last.from === last.to) return marks.finish();
  const tree = parser.parse(new Reading(text), [], parts);
  // A tree counts from where its text begins; the context lines above are not shown.
  highlightTree(
    tree,
    looks,
    (from, to, classes) => marks.add(first.from + from, first.from + to, createMark(classes)),
    last.from - first.from,
    last.to - first.from,
  );
  return marks.finish();
}

const knownMarks = new Map<string, Decoration>();

function createMark(classes: string): Decoration {
  let found = knownMarks.get(classes);
  if (!found) {
    found = Decoration.mark({ class: classes });
    knownMarks.set(classes, found);
  }
  return found;
}

/** A text in the form that parsers read: in pieces. */
class Reading implements Input {
  readonly lineChunks = false;

  constructor(readonly text: Text) {}

  get length(): number {
    return this.text.length;
  }

  chunk(from: number): string {
    return this.text.sliceString(from, Math.min(this.text.length, from + MARGIN));
  }

  read(from: number, to: number): string {
    return this.text.sliceString(from, to);
  }
}

class Nearby implements PluginValue {
  decorations: DecorationSet;
  #soon: ReturnType<typeof setTimeout> | undefined;

  constructor(
    readonly view: EditorView,
    readonly marksOf: (text: Text, seen: Stretch) => DecorationSet,
  ) {
    this.decorations = this.#marks();
  }

  update({ docChanged, viewportChanged, changes }: ViewUpdate): void {
    if (docChanged) this.decorations = this.decorations.map(changes);
    if (docChanged || viewportChanged) this.#soon ??= setTimeout(() => this.#anew(), AFTER_MS);
  }

  destroy(): void {
    clearTimeout(this.#soon);
  }

  #anew(): void {
    this.#soon = undefined;
    this.decorations = this.#marks();
    this.view.dispatch({});
  }

  #marks(): DecorationSet {
    const { state, visibleRanges, viewport } = this.view;
    return this.marksOf(state.doc, { from: visibleRanges[0]?.from ?? viewport.from, to: viewport.to });
  }
}

/** Highlights the visible part as a parser sees it. */
export function highlightNearby(parser: Parser, above: Above, looks: Highlighter): Extension {
  const marksOf = (text: Text, seen: Stretch) => highlightIn(text, findAround(text, seen, above), parser, looks);
  return ViewPlugin.define((view) => new Nearby(view, marksOf), { decorations: (plugin) => plugin.decorations });
}
