/** What the status bar shows about the editor. Updated with a delay, so that no key waits for it. */

import type { EditorState } from "@codemirror/state";
import { EditorView, ViewPlugin } from "@codemirror/view";
import { newlinesField } from "./binding";
import type { NewlineStyle } from "./newlines";
import { type Counts, countText } from "./textCounts";

export interface EditorFacts {
  line: number;
  column: number;
  selected: number;
  newlines: NewlineStyle;
  counts: Counts | null;
}

const PLACE_AFTER_MS = 50;
const COUNT_AFTER_MS = 600;

export class Facts {
  #facts: EditorFacts = { line: 1, column: 1, selected: 0, newlines: "LF", counts: null };
  #listeners = new Set<() => void>();
  #placing: ReturnType<typeof setTimeout> | undefined;
  #counting: ReturnType<typeof setTimeout> | undefined;
  #giveUp: () => void = () => undefined;
  #state: EditorState | null = null;

  readonly current = (): EditorFacts => this.#facts;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Follow an editor from its first state on. */
  track() {
    const start = ViewPlugin.define((view) => {
      this.#state = view.state;
      this.#placing ??= setTimeout(() => this.#place());
      this.#countLater(0);
      return {};
    });
    const going = EditorView.updateListener.of(({ state, docChanged, selectionSet }) => {
      this.#state = state;
      if (docChanged || selectionSet) this.#placing ??= setTimeout(() => this.#place(), PLACE_AFTER_MS);
      if (docChanged) this.#countLater(COUNT_AFTER_MS);
    });
    return [start, going];
  }

  stop(): void {
    clearTimeout(this.#placing);
    this.#placing = undefined;
    clearTimeout(this.#counting);
    this.#giveUp();
  }

  #place(): void {
    this.#placing = undefined;
    if (!this.#state) return;
    const { main, ranges } = this.#state.selection;
    const line = this.#state.doc.lineAt(main.head);
    const selected = ranges.reduce((sum, { from, to }) => sum + to - from, 0);
    const newlines = this.#state.field(newlinesField, false)?.style ?? "LF";
    this.update({ line: line.number, column: main.head - line.from + 1, selected, newlines });
  }

  #countLater(after: number): void {
    this.#giveUp();
    clearTimeout(this.#counting);
    this.#counting = setTimeout(() => this.#count(), after);
  }

  #count(): void {
    if (this.#state) this.#giveUp = countText(this.#state.doc, (counts) => this.update({ counts }));
  }

  /** Report the facts of a view other than the source editor. */
  update(part: Partial<EditorFacts>): void {
    this.#facts = { ...this.#facts, ...part };
    for (const listener of this.#listeners) listener();
  }
}
