/** The bar of a hunk in the source view, with the removed text if that is better read separately. */

import { type EditorView, WidgetType } from "@codemirror/view";
import { createElement, createHunkBar, numberBar } from "./hunkBar";
import { stepFromBar } from "./hunkNavigation";
import { type Hunk, normalizeNewlines } from "./hunkPlaces";
import css from "./marks.module.css";
import { reviewActions } from "./reviewState";
import { diffWords } from "./wordDiff";

const BAR_HEIGHT = 30;
const LINE_HEIGHT = 24;

export class HunkBarWidget extends WidgetType {
  constructor(
    readonly hunk: Hunk,
    readonly number: number,
    readonly count: number,
  ) {
    super();
  }

  override eq(other: HunkBarWidget): boolean {
    return this.#looksLike(other) && other.number === this.number && other.count === this.count;
  }

  override updateDOM(bar: HTMLElement, _view: EditorView, before: this): boolean {
    if (!this.#looksLike(before)) return false;
    const own = bar.querySelector("[data-hunk]");
    if (own) numberBar(own, this.number, this.count);
    return true;
  }

  /** Whether another bar is the same but for its number. */
  #looksLike({ hunk }: HunkBarWidget): boolean {
    const { hunk: own } = this;
    const texts = hunk.base === own.base && hunk.working === own.working && hunk.proposed === own.proposed;
    const labels = hunk.labels.join() === own.labels.join();
    const same = hunk.hunk_id === own.hunk_id && hunk.conflict === own.conflict;
    return texts && labels && same;
  }

  override get estimatedHeight(): number {
    const lines = this.hunk.working === "" ? normalizeNewlines(this.hunk.base).split("\n").length - 1 : 0;
    return (this.hunk.conflict ? BAR_HEIGHT : 0) + lines * LINE_HEIGHT;
  }

  override ignoreEvent(): boolean {
    return true;
  }

  override toDOM(view: EditorView): HTMLElement {
    const actions = view.state.facet(reviewActions);
    const bar = { ...actions, stepFrom: (id: string, step: number) => stepFromBar(view, id, step) };
    const root = createHunkBar(this.hunk, this.number, this.count, bar);
    root.append(...this.#removed());
    return root;
  }

  #removed(): HTMLElement[] {
    const { hunk } = this;
    const { block } = hunk.conflict
      ? { block: "" }
      : diffWords(normalizeNewlines(hunk.base), normalizeNewlines(hunk.working));
    if (block === "") return [];
    const removed = createElement("del", css.removedBlock);
    removed.textContent = block.replace(/\n$/, "");
    removed.dataset.of = hunk.hunk_id;
    return [removed];
  }
}
