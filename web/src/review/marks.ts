/**
 * The review in the text: insertions are marked, deletions are shown, and each hunk has a bar above it.
 *
 * The bars are one set, built once for each answer of the server and mapped through every change; words are compared
 * only in the visible text, so that thousands of hunks cost no more than those on the screen.
 */

import { type Range, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, ViewPlugin, type ViewUpdate, WidgetType } from "@codemirror/view";
import { HunkBarWidget } from "./hunkBarWidget";
import { isOpen, normalizeNewlines, type PlacedHunk } from "./hunkPlaces";
import css from "./marks.module.css";
import { dropHunk, hunksField, type ReviewActions, reviewActions, setHunks } from "./reviewState";
import { diffWords } from "./wordDiff";

const bars = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(set, transaction) {
    const anew = transaction.effects.some((effect) => effect.is(setHunks) || effect.is(dropHunk));
    if (!anew) return set.map(transaction.changes);
    const { doc } = transaction.state;
    const open = transaction.state.field(hunksField).filter(({ hunk }) => isOpen(hunk));
    const lines = open.map(({ from }) => doc.lineAt(from).from);
    return Decoration.set(
      open.map(({ hunk }, at) => {
        const line = lines[at] ?? 0;
        const widget = new HunkBarWidget(hunk, at + 1, open.length, lines[at - 1] === line || lines[at + 1] === line);
        return Decoration.widget({ widget, block: true, side: -1 }).range(line);
      }),
      true,
    );
  },
  provide: (field) => EditorView.decorations.from(field),
});

class RemovedWords extends WidgetType {
  constructor(readonly text: string) {
    super();
  }

  override eq(other: RemovedWords): boolean {
    return other.text === this.text;
  }

  override toDOM(): HTMLElement {
    const removed = document.createElement("del");
    removed.className = css.removed ?? "";
    removed.textContent = this.text;
    return removed;
  }
}

const addedWords = Decoration.mark({ tagName: "ins", class: css.added ?? "" });
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
  for (const range of added) marks.push(addedWords.range(from + range.from, from + range.to));
  for (const { at, text } of removed) {
    marks.push(Decoration.widget({ widget: new RemovedWords(text), side: -1 }).range(from + at));
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

export function reviewMarks(actions: ReviewActions) {
  return [reviewActions.of(actions), hunksField, bars, words];
}
