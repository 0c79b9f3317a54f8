/** The bar above a hunk in the source view, with the text that it takes out where that is better read by itself. */

import { type EditorView, WidgetType } from "@codemirror/view";
import { element, hunkBar } from "./bar";
import css from "./marks.module.css";
import { type Hunk, plain } from "./placing";
import { reviewActions } from "./reviewState";
import { stepFrom } from "./stepping";
import { wording } from "./wording";

const BAR_HEIGHT = 30;
const LINE_HEIGHT = 24;

export class HunkBar extends WidgetType {
  constructor(
    readonly hunk: Hunk,
    readonly number: number,
    readonly count: number,
  ) {
    super();
  }

  override eq({ hunk, number, count }: HunkBar): boolean {
    const { hunk: own } = this;
    const same = hunk.base === own.base && hunk.working === own.working && hunk.conflict === own.conflict;
    return same && hunk.hunk_id === own.hunk_id && number === this.number && count === this.count;
  }

  override get estimatedHeight(): number {
    const lines = this.hunk.working === "" ? plain(this.hunk.base).split("\n").length - 1 : 0;
    return BAR_HEIGHT + lines * LINE_HEIGHT;
  }

  override ignoreEvent(): boolean {
    return true;
  }

  override toDOM(view: EditorView): HTMLElement {
    const actions = view.state.facet(reviewActions);
    const bar = { ...actions, stepFrom: (id: string, step: number) => stepFrom(view, id, step) };
    const root = hunkBar(this.hunk, this.number, this.count, bar);
    root.append(...this.#removed());
    return root;
  }

  #removed(): HTMLElement[] {
    const { hunk } = this;
    const { block } = hunk.conflict ? { block: "" } : wording(plain(hunk.base), plain(hunk.working));
    if (block === "") return [];
    const removed = element("del", css.removedBlock);
    removed.textContent = block.replace(/\n$/, "");
    return [removed];
  }
}
