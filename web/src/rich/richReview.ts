/** The review in the rich view: insertions are marked, deletions are shown, and each hunk has a bar above it. */

import { Extension, type Extensions } from "@tiptap/core";
import { DOMSerializer, Fragment, type Node, type Schema } from "@tiptap/pm/model";
import { type EditorState, Plugin, PluginKey, TextSelection, type Transaction } from "@tiptap/pm/state";
import { Decoration, DecorationSet, type EditorView } from "@tiptap/pm/view";
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
}

const NOTHING: Review = { marks: DecorationSet.empty, stops: [] };
const key = new PluginKey<Review>("review");

type ReviewMeta = { changes: readonly Change[] } | { drop: string };

/** Show these changes from now on. */
export function showChanges(view: EditorView, changes: readonly Change[]): void {
  if (changes.length === 0 && key.getState(view.state) === NOTHING) return;
  view.dispatch(view.state.tr.setMeta(key, { changes } satisfies ReviewMeta));
}

/** A hunk was decided just now. */
export function dropHunk(view: EditorView, id: string): void {
  view.dispatch(view.state.tr.setMeta(key, { drop: id } satisfies ReviewMeta));
}

/** From the cursor to the nearest hunk in a direction; of those that are `wanted`. */
export function stepToHunk(view: EditorView, step: number, wanted: (hunk: Hunk) => boolean = () => true): boolean {
  const stops = (key.getState(view.state)?.stops ?? []).filter(({ hunk }) => wanted(hunk));
  const { head } = view.state.selection;
  const after = (stop: Stop) => stop.from > head;
  const before = (stop: Stop) => stop.to < head;
  const next = step > 0 ? (stops.find(after) ?? stops[0]) : (stops.findLast(before) ?? stops.at(-1));
  if (!next) return false;
  const { tr } = view.state;
  view.dispatch(tr.setSelection(TextSelection.near(tr.doc.resolve(next.from), 1)).scrollIntoView());
  view.focus();
  return true;
}

function stepFromBar(view: EditorView, id: string, step: number): () => void {
  const stops = key.getState(view.state)?.stops ?? [];
  const at = stops.findIndex(({ hunk }) => hunk.hunk_id === id);
  const next = stops[(at + step + stops.length) % stops.length];
  if (!next || next.hunk.hunk_id === id) return () => {};
  const first = `[data-hunk="${CSS.escape(next.hunk.hunk_id)}"] button[data-first]`;
  return () => {
    const bar = view.dom.querySelector<HTMLElement>(first);
    bar?.scrollIntoView({ block: "center" });
    bar?.focus();
  };
}

/** The open hunk that the cursor is in. */
function currentHunk(state: EditorState): Hunk | undefined {
  const { head } = state.selection;
  return key.getState(state)?.stops.find(({ from, to }) => from <= head && head <= to)?.hunk;
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
        "Alt-j": () => stepToHunk(this.editor.view, 1),
        "Alt-k": () => stepToHunk(this.editor.view, -1),
      };
    },
    addProseMirrorPlugins() {
      let view: EditorView | null = null;
      const bars: BarActions = {
        ...actions,
        get byTurn() {
          return actions.byTurn;
        },
        stepFrom: (id, step) => (view ? stepFromBar(view, id, step) : () => {}),
      };
      return [
        new Plugin<Review>({
          key,
          state: { init: () => NOTHING, apply: (tr, value) => nextReview(tr, value, bars) },
          props: { decorations: (state) => key.getState(state)?.marks },
          view: (made) => {
            view = made;
            return { update: numberBars };
          },
        }),
      ];
    },
  });
  return [first, last];
}

function nextReview(tr: Transaction, value: Review, actions: BarActions): Review {
  const meta = tr.getMeta(key) as ReviewMeta | undefined;
  if (meta && "changes" in meta) return meta.changes.length > 0 ? buildReview(tr.doc, meta.changes, actions) : NOTHING;
  if (meta) return withoutHunk(value, meta.drop);
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
    const here = change.hunks.filter(isOpen);
    for (const hunk of here) {
      const number = stops.length + 1;
      const to = Math.max(change.at, ...change.blocks.map((each) => each.to));
      stops.push({ hunk, from: change.at, to });
      const crowded = here.length > 1;
      const bar = () => createHunkBar(hunk, number, open.length, actions, crowded);
      const { hunk_id, author, conflict, labels, base, working, proposed } = hunk;
      const parts = [hunk_id, author, conflict, labels, base, working, proposed];
      const shown = JSON.stringify([...parts, crowded, actions.byTurn]);
      all.push(
        Decoration.widget(change.at, bar, { side: -2, key: shown, hunks: [hunk.hunk_id], ...IGNORED_BY_EDITOR }),
      );
    }
  }
  return { marks: DecorationSet.create(doc, all), stops };
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
  const spec = { hunks: hunks.map(({ hunk_id }) => hunk_id) };
  const conflict = hunks.some((each) => each.conflict);
  const own = !hunks.some(isOpen);
  const name = (conflict ? css.conflict : own ? css.own : css.hunk) ?? "";
  const marks = blocks.map(({ from, to }) => Decoration.node(from, to, { class: `${name} rich-hunk` }, spec));
  if (conflict || own) return marks;
  for (const { from, to } of added) {
    marks.push(Decoration.inline(from, to, { nodeName: "ins", class: css.added ?? "" }, spec));
  }
  for (const { at, text } of removed) {
    marks.push(
      Decoration.widget(at, () => renderRemoved(text), {
        side: -1,
        key: `- ${at} ${text}`,
        ...spec,
        ...IGNORED_BY_EDITOR,
      }),
    );
  }
  for (const { at, nodes } of gone) {
    const json = JSON.stringify(nodes);
    marks.push(
      Decoration.widget(at, () => renderRemovedBlocks(nodes), { side: -1, key: json, ...spec, ...IGNORED_BY_EDITOR }),
    );
  }
  return marks;
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
