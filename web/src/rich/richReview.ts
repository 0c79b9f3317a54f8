/** The review in the rich view: insertions are marked, deletions are shown, and each hunk has a bar at its words. */

import { Extension, type Extensions } from "@tiptap/core";
import { DOMSerializer, Fragment, type Node, type Schema } from "@tiptap/pm/model";
import { type EditorState, Plugin, PluginKey, TextSelection, type Transaction } from "@tiptap/pm/state";
import { Decoration, DecorationSet, type EditorView } from "@tiptap/pm/view";
import { FloatingBars } from "@/review/floatingBars";
import { type BarActions, createHunkBar, numberBar } from "@/review/hunkBar";
import { type Hunk, isOpen } from "@/review/hunkPlaces";
import css from "@/review/marks.module.css";
import type { Change } from "./changes";

/** An open hunk, and where its blocks are now. */
interface Stop {
  hunk: Hunk;
  from: number;
  to: number;
}

interface Review {
  marks: DecorationSet;
  stops: readonly Stop[];
  /** The hunk whose bar was asked for last. */
  pinned?: { id: string };
}

const NOTHING: Review = { marks: DecorationSet.empty, stops: [] };
const key = new PluginKey<Review>("review");

type ReviewMeta = { changes: readonly Change[] } | { drop: readonly string[] } | { pin: string };

/** Show these changes from now on. */
export function showChanges(view: EditorView, changes: readonly Change[]): void {
  if (changes.length === 0 && key.getState(view.state) === NOTHING) return;
  view.dispatch(view.state.tr.setMeta(key, { changes } satisfies ReviewMeta));
}

/** Hunks were decided just now. */
export function dropHunks(view: EditorView, drop: readonly string[]): void {
  view.dispatch(view.state.tr.setMeta(key, { drop } satisfies ReviewMeta));
}

function firstOf(view: EditorView, turn: number | undefined): Stop | undefined {
  return key.getState(view.state)?.stops.find(({ hunk }) => hunk.turn === turn);
}

/** Whether a hunk of this turn is shown. */
export function hasHunkOf(view: EditorView, turn: number | undefined): boolean {
  return firstOf(view, turn) !== undefined;
}

/** Show the first hunk of a turn and its bar, wherever the cursor is. */
export function showFirstHunk(view: EditorView, turn: number | undefined): void {
  const first = firstOf(view, turn);
  if (!first) return;
  scrollTo(view, first, "nearest");
  view.dispatch(view.state.tr.setMeta(key, { pin: first.hunk.hunk_id } satisfies ReviewMeta));
}

/** Where the words of a hunk are. */
export function stretchOfHunk(view: EditorView, id: string): { from: number; to: number } | undefined {
  return key.getState(view.state)?.stops.find(({ hunk }) => hunk.hunk_id === id);
}

function scrollTo(view: EditorView, { from }: Stop, block: ScrollLogicalPosition = "center"): void {
  const { node } = view.domAtPos(Math.min(from, view.state.doc.content.size));
  (node instanceof Element ? node : node.parentElement)?.scrollIntoView({ block });
}

/**
 * From the cursor to the nearest hunk in a direction, of those that are `wanted`; after the last one `goOn` leads to
 * another document.
 */
export function stepToHunk(
  view: EditorView,
  step: number,
  goOn: (step: number) => boolean,
  wanted: (hunk: Hunk) => boolean = () => true,
): boolean {
  const stops = (key.getState(view.state)?.stops ?? []).filter(({ hunk }) => wanted(hunk));
  const { head } = view.state.selection;
  const at = textPosition(view.state, head);
  const onward =
    step > 0
      ? stops.find((stop) => textPosition(view.state, stop.from) > at)
      : stops.findLast((stop) => textPosition(view.state, stop.from) < at);
  if (!onward && goOn(step)) return true;
  const next = onward ?? (step > 0 ? stops[0] : stops.at(-1));
  if (!next) return false;
  goTo(view, next);
  return true;
}

function goTo(view: EditorView, stop: Stop): void {
  const { tr } = view.state;
  view.dispatch(tr.setSelection(TextSelection.near(tr.doc.resolve(stop.from), 1)));
  scrollTo(view, stop);
  view.focus();
}

/** Put the cursor at the first hunk of a turn. */
export function goToFirstHunk(view: EditorView, turn: number): void {
  const first = firstOf(view, turn);
  if (first) goTo(view, first);
}

/** Where a cursor that is sent to a position comes to stand. */
function textPosition({ doc }: EditorState, position: number): number {
  return TextSelection.near(doc.resolve(Math.min(position, doc.content.size)), 1).head;
}

function stepFromBar(view: EditorView, id: string, step: number, goOn: (step: number) => boolean): () => void {
  const stops = key.getState(view.state)?.stops ?? [];
  const at = stops.findIndex(({ hunk }) => hunk.hunk_id === id);
  const isLast = stops[at + step] === undefined;
  const next = stops[(at + step + stops.length) % stops.length];
  return () => {
    if (isLast && goOn(step)) return;
    if (!next || next.hunk.hunk_id === id) return;
    scrollTo(view, next);
    const first = `[data-hunk="${CSS.escape(next.hunk.hunk_id)}"] button[data-first]`;
    view.dom.querySelector<HTMLElement>(first)?.focus({ preventScroll: true });
  };
}

/** The open hunk that the cursor is in, or comes to stand in. */
function currentHunk(state: EditorState): Hunk | undefined {
  const { head } = state.selection;
  const stops = key.getState(state)?.stops ?? [];
  const within = stops.find(({ from, to }) => from <= head && head < Math.max(to, from + 1));
  const beside = (stop: Stop) => stop.to === head || (stop.from < head && textPosition(state, stop.from) === head);
  return (within ?? stops.find(beside))?.hunk;
}

export function reviewExtensions(actions: Omit<BarActions, "stepFrom">): Extensions {
  const decide = (act: "accept" | "reject") => (view: EditorView) => {
    const hunk = currentHunk(view.state);
    if (!hunk) return false;
    if (act === "accept" && hunk.conflict) actions.settle(hunk);
    else actions.decide(act, hunk);
    return true;
  };
  // Escape first closes an open menu, as everywhere.
  const last = Extension.create({
    name: "rejecting",
    priority: 1,
    addKeyboardShortcuts() {
      return { Escape: () => decide("reject")(this.editor.view) };
    },
  });
  const first = Extension.create({
    name: "reviewing",
    priority: 900,
    addKeyboardShortcuts() {
      return {
        "Mod-Enter": () => decide("accept")(this.editor.view),
        "Alt-j": () => stepToHunk(this.editor.view, 1, actions.goOn),
        "Alt-k": () => stepToHunk(this.editor.view, -1, actions.goOn),
      };
    },
    addProseMirrorPlugins() {
      let view: EditorView | null = null;
      const bars: BarActions = {
        ...actions,
        get byTurn() {
          return actions.byTurn;
        },
        stepFrom: (id, step) => (view ? stepFromBar(view, id, step, actions.goOn) : () => {}),
      };
      return [
        new Plugin<Review>({
          key,
          state: { init: () => NOTHING, apply: (tr, value) => nextReview(tr, value, bars) },
          props: { decorations: (state) => key.getState(state)?.marks },
          view: (made) => {
            view = made;
            const floating = floatBars(made);
            return {
              update: (_, before) => {
                numberBars(made, before);
                floating.update(before);
              },
              destroy: () => floating.end(),
            };
          },
        }),
      ];
    },
  });
  return [first, last];
}

/** Shows the bar of the hunk that is looked at, at its words. */
function floatBars(view: EditorView): { update: (before: EditorState) => void; end: () => void } {
  const scroller = view.dom.closest<HTMLElement>("[data-scroller]") ?? view.dom;
  const current = () => (view.hasFocus() ? (currentHunk(view.state)?.hunk_id ?? null) : null);
  const bars = new FloatingBars({ root: view.dom, scroller, current });
  view.dom.addEventListener("focus", () => bars.update());
  view.dom.addEventListener("blur", () => bars.update());
  return {
    update: (before) => {
      const [now, then] = [key.getState(view.state), key.getState(before)];
      if (!now || (now === NOTHING && then === NOTHING)) return;
      if (view.state.doc !== before.doc && view.hasFocus()) bars.noteTyping();
      else if (!view.state.selection.eq(before.selection)) bars.noteMove();
      if (now.pinned && now.pinned !== then?.pinned) bars.pin(now.pinned.id);
      bars.update();
    },
    end: () => bars.end(),
  };
}

function nextReview(tr: Transaction, value: Review, actions: BarActions): Review {
  const meta = tr.getMeta(key) as ReviewMeta | undefined;
  if (meta && "changes" in meta) return meta.changes.length > 0 ? buildReview(tr.doc, meta.changes, actions) : NOTHING;
  if (meta && "pin" in meta) return { ...value, pinned: { id: meta.pin } };
  if (meta) return meta.drop.reduce(withoutHunk, value);
  if (!tr.docChanged || value === NOTHING) return value;
  const stops = value.stops.map(({ hunk, from, to }) => ({
    hunk,
    from: tr.mapping.map(from, 1),
    to: tr.mapping.map(to, -1),
  }));
  return { marks: value.marks.map(tr.mapping, tr.doc), stops };
}

/** Without the marks of one hunk; blocks that it shares with others stay marked until the next review arrives. */
function withoutHunk({ marks, stops }: Review, id: string): Review {
  const removed = marks.find(undefined, undefined, (spec) => {
    const { hunks } = spec as { hunks?: string[] };
    return hunks?.length === 1 && hunks[0] === id;
  });
  return { marks: marks.remove(removed), stops: stops.filter(({ hunk }) => hunk.hunk_id !== id) };
}

function buildReview(doc: Node, changes: readonly Change[], actions: BarActions): Review {
  const open = changes.flatMap(({ hunks }) => hunks.filter(isOpen));
  const all: Decoration[] = [];
  const stops: Stop[] = [];
  for (const change of changes) {
    all.push(...marksOf(change));
    for (const hunk of change.hunks.filter(isOpen)) {
      const number = stops.length + 1;
      stops.push({ hunk, ...stretchOf(change, hunk) });
      const bar = () => createHunkBar(hunk, number, open.length, actions);
      const { hunk_id, author, conflict, labels, base, working, proposed } = hunk;
      const shown = JSON.stringify([hunk_id, author, conflict, labels, base, working, proposed, actions.byTurn]);
      all.push(
        Decoration.widget(change.at, bar, { side: -2, key: shown, hunks: [hunk.hunk_id], ...IGNORED_BY_EDITOR }),
      );
    }
  }
  return { marks: DecorationSet.create(doc, all), stops };
}

/** Where a hunk's words are; the blocks of its change, if none are marked. */
function stretchOf({ at, blocks, added, removed, gone }: Change, { hunk_id }: Hunk): { from: number; to: number } {
  const own = [
    ...added.filter(({ of }) => of === hunk_id),
    ...[...removed, ...gone].filter(({ of }) => of === hunk_id).map((mark) => ({ from: mark.at, to: mark.at })),
  ];
  const from = Math.min(...(own.length > 0 ? own.map((mark) => mark.from) : [at]));
  return { from, to: Math.max(from, ...(own.length > 0 ? own : blocks).map((mark) => mark.to)) };
}

/** Number the bars as they are now. */
function numberBars(view: EditorView, before: EditorState): void {
  const [now, then] = [view.state, before].map((state) => key.getState(state)?.stops.map(({ hunk }) => hunk) ?? []);
  if (!now || (now.length === then?.length && now.every((hunk, at) => hunk === then[at]))) return;
  const numbers = new Map(now.map(({ hunk_id }, at) => [hunk_id, at + 1]));
  for (const bar of view.dom.querySelectorAll<HTMLElement>("[data-hunk]")) {
    const number = numbers.get(bar.dataset.hunk ?? "");
    if (number) numberBar(bar, number, now.length);
  }
}

// The editor ignores keys and clicks in a bar.
const IGNORED_BY_EDITOR = { stopEvent: () => true, ignoreSelection: true };

function marksOf({ hunks, blocks, added, removed, gone }: Change): Decoration[] {
  const conflict = hunks.some((each) => each.conflict);
  const own = !hunks.some(isOpen);
  const name = (conflict ? css.conflict : own ? css.own : css.hunk) ?? "";
  const all = { hunks: hunks.map(({ hunk_id }) => hunk_id) };
  const marks = blocks.map(({ from, to }) => Decoration.node(from, to, { class: `${name} rich-hunk` }, all));
  if (conflict || own) return marks;
  const open = new Set(hunks.filter(isOpen).map(({ hunk_id }) => hunk_id));
  for (const { from, to, of = "" } of added) {
    if (!open.has(of)) continue; // the person's own words
    const ins = { nodeName: "ins", class: css.added ?? "", "data-of": of };
    marks.push(Decoration.inline(from, to, ins, { hunks: [of] }));
  }
  const gap = (of: string) => ({ side: -1, hunks: [of], ...IGNORED_BY_EDITOR });
  for (const { at, text, of = "" } of removed) {
    if (!open.has(of)) continue;
    const key = `- ${at} ${of} ${text}`;
    marks.push(Decoration.widget(at, () => ofHunk(renderRemoved(text), of), { key, ...gap(of) }));
  }
  for (const { at, nodes, of = "" } of gone) {
    if (!open.has(of)) continue;
    const key = `${of} ${JSON.stringify(nodes)}`;
    marks.push(Decoration.widget(at, () => ofHunk(renderRemovedBlocks(nodes), of), { key, ...gap(of) }));
  }
  return marks;
}

function ofHunk(removed: HTMLElement, id: string): HTMLElement {
  removed.dataset.of = id;
  return removed;
}

function renderRemoved(text: string): HTMLElement {
  const removed = document.createElement("del");
  removed.className = css.removed ?? "";
  removed.textContent = text;
  return removed;
}

/** Removed blocks, as they looked. */
function renderRemovedBlocks(nodes: readonly Node[]): HTMLElement {
  const removed = document.createElement("del");
  removed.className = `${css.removedBlock ?? ""} rich-gone`;
  removed.contentEditable = "false";
  const [first] = nodes;
  if (first) removed.append(serializer(first.type.schema).serializeFragment(Fragment.from(nodes)));
  return removed;
}

/** A removed image is shown by its description: an image element would be loaded from wherever it says. */
function serializer(schema: Schema): DOMSerializer {
  const image = (node: Node) => ["span", { class: "rich-image" }, String(node.attrs.alt || node.attrs.src)] as const;
  return new DOMSerializer({ ...DOMSerializer.nodesFromSchema(schema), image }, DOMSerializer.marksFromSchema(schema));
}
