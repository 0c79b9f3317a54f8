/**
 * The review in the text: insertions are marked, deletions are shown, and each hunk has a bar at its words.
 *
 * The bars are one set, built once for each answer of the server and mapped through every change; words are compared
 * only in the visible text, so that thousands of hunks cost no more than those on the screen.
 */

import { type Range, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, ViewPlugin, type ViewUpdate, WidgetType } from "@codemirror/view";
import { FloatingBars } from "./floatingBars";
import { HunkBarWidget } from "./hunkBarWidget";
import { isOpen, normalizeNewlines, type PlacedHunk } from "./hunkPlaces";
import css from "./marks.module.css";
import { currentHunk, dropHunk, hunksField, pinHunk, type ReviewActions, reviewActions, setHunks } from "./reviewState";
import { diffWords } from "./wordDiff";

const bars = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(set, transaction) {
    const anew = transaction.effects.some((effect) => effect.is(setHunks) || effect.is(dropHunk));
    if (!anew) return set.map(transaction.changes);
    const { doc } = transaction.state;
    const open = transaction.state.field(hunksField).filter(({ hunk }) => isOpen(hunk));
    return Decoration.set(
      open.map(({ hunk, from }, at) => {
        const widget = new HunkBarWidget(hunk, at + 1, open.length);
        return Decoration.widget({ widget, block: true, side: -1 }).range(doc.lineAt(from).from);
      }),
      true,
    );
  },
  provide: (field) => EditorView.decorations.from(field),
});

class RemovedWords extends WidgetType {
  constructor(
    readonly text: string,
    readonly hunk: string,
  ) {
    super();
  }

  override eq(other: RemovedWords): boolean {
    return other.text === this.text && other.hunk === this.hunk;
  }

  override toDOM(): HTMLElement {
    const removed = document.createElement("del");
    removed.className = css.removed ?? "";
    removed.textContent = this.text;
    removed.dataset.of = this.hunk;
    return removed;
  }
}

const addedWords = (hunk: string) =>
  Decoration.mark({ tagName: "ins", class: css.added ?? "", attributes: { "data-of": hunk } });
const lines = {
  plain: Decoration.line({ class: css.hunk ?? "" }),
  own: Decoration.line({ class: css.own ?? "" }),
  conflict: Decoration.line({ class: css.conflict ?? "" }),
  current: Decoration.line({ class: css.current ?? "" }),
};

function marksOf(view: EditorView, { hunk, from, to }: PlacedHunk, marks: Range<Decoration>[]): void {
  const { doc } = view.state;
  const { viewport } = view;
  const kind = hunk.conflict ? "conflict" : hunk.author === "user" ? "own" : "plain";
  const end = to > from && doc.lineAt(to).from === to ? to - 1 : to;
  const current = view.state.selection.main.head >= from && view.state.selection.main.head <= end && isOpen(hunk);
  for (let at = Math.max(from, viewport.from); to > from && at <= Math.min(end, viewport.to); ) {
    const line = doc.lineAt(at);
    marks.push(lines[kind].range(line.from));
    if (current) marks.push(lines.current.range(line.from));
    at = line.to + 1;
  }
  if (hunk.conflict || hunk.author === "user") return;
  const { added, removed } = diffWords(normalizeNewlines(hunk.base), doc.sliceString(from, to));
  for (const range of added) marks.push(addedWords(hunk.hunk_id).range(from + range.from, from + range.to));
  for (const { at, text } of removed) {
    marks.push(Decoration.widget({ widget: new RemovedWords(text, hunk.hunk_id), side: -1 }).range(from + at));
  }
}

const words = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;

    constructor(view: EditorView) {
      this.decorations = this.marks(view);
    }

    update(update: ViewUpdate): void {
      const before = update.startState.field(hunksField);
      const now = update.state.field(hunksField);
      if (now.length === 0 && before.length === 0) return;
      if (update.docChanged || update.viewportChanged || update.selectionSet || before !== now) {
        this.decorations = this.marks(update.view);
      }
    }

    marks(view: EditorView): DecorationSet {
      const { from, to } = view.viewport;
      const marks: Range<Decoration>[] = [];
      for (const placed of view.state.field(hunksField)) {
        if (placed.from <= to && placed.to >= from && placed.hunk.kind === "modified") marksOf(view, placed, marks);
      }
      return Decoration.set(marks, true);
    }
  },
  { decorations: (plugin) => plugin.decorations },
);

/** Shows the bar of the change that is looked at, at its words. */
const floating = ViewPlugin.fromClass(
  class {
    readonly bars: FloatingBars;

    constructor(readonly view: EditorView) {
      const { contentDOM: root, scrollDOM: scroller } = view;
      const current = () => (view.hasFocus ? (currentHunk(view)?.hunk_id ?? null) : null);
      this.bars = new FloatingBars({ root, scroller, current });
    }

    update(update: ViewUpdate): void {
      const [before, now] = [update.startState, update.state].map((state) => state.field(hunksField));
      if (before?.length === 0 && now?.length === 0) return;
      if (update.transactions.some((each) => each.isUserEvent("input") || each.isUserEvent("delete")))
        this.bars.noteTyping();
      else if (update.selectionSet) this.bars.noteMove();
      const changed = before !== now;
      const pinned = update.transactions.flatMap(({ effects }) => effects).find((each) => each.is(pinHunk));
      if (pinned) this.bars.pin(pinned.value as string);
      if (update.selectionSet || update.geometryChanged || update.focusChanged || changed || pinned) {
        // After the text is drawn, where its words are measured.
        this.view.requestMeasure({ key: this, read: () => null, write: () => this.bars.update() });
      }
    }

    destroy(): void {
      this.bars.end();
    }
  },
);

export function reviewMarks(actions: ReviewActions) {
  return [reviewActions.of(actions), hunksField, bars, words, floating];
}
