/** The bar above a hunk: who made it, in which turn, and what to do with it. Plain elements, since it is part of a text. */

import { type EditorView, WidgetType } from "@codemirror/view";
import css from "./marks.module.css";
import { type Hunk, plain } from "./placing";
import { reviewActions } from "./reviewState";
import { stepFrom } from "./stepping";
import { wording } from "./wording";

const BAR_HEIGHT = 30;
const LINE_HEIGHT = 24;

const AUTHORS: Record<string, string> = { agent: "AI", mixed: "AI and you", user: "You" };

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
    const { hunk } = this;
    const actions = view.state.facet(reviewActions);
    const root = element("div", css.bar);
    root.dataset.hunk = hunk.hunk_id;
    root.setAttribute("role", "group");
    root.setAttribute("aria-label", `Change ${this.number} of ${this.count}`);
    const row = root.appendChild(element("div", css.row));
    row.append(badge(hunk));
    const { turn } = hunk;
    if (turn !== null) row.append(button(`turn ${turn}`, css.turn, () => actions.showTurn(turn)));
    const whole = actions.byTurn ? " turn" : "";
    const first = hunk.conflict
      ? button("Settle…", css.accept, () => actions.settle(hunk))
      : button(`Accept${whole}`, css.accept, () => actions.decide("accept", hunk));
    first.dataset.first = "";
    row.append(first);
    row.append(
      button(hunk.conflict ? "Keep mine" : `Reject${whole}`, css.reject, () => actions.decide("reject", hunk)),
    );
    root.append(...this.#removed());
    root.addEventListener("keydown", (event) => pressed(event, view, hunk));
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

function pressed(event: KeyboardEvent, view: EditorView, hunk: Hunk): void {
  const actions = view.state.facet(reviewActions);
  const step = { j: 1, k: -1 }[event.key];
  if (step && !event.ctrlKey && !event.metaKey && !event.altKey) stepFrom(view, hunk.hunk_id, step);
  else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) act("accept");
  else if (event.key === "Escape") act("reject");
  else return;
  event.preventDefault();
  event.stopPropagation();

  function act(which: "accept" | "reject"): void {
    stepFrom(view, hunk.hunk_id, 1);
    if (which === "accept" && hunk.conflict) actions.settle(hunk);
    else actions.decide(which, hunk);
  }
}

function badge({ author, conflict }: Hunk): HTMLElement {
  const found = element("span", css.badge);
  found.dataset.tone = conflict ? "warn" : "agent";
  found.textContent = conflict ? "Conflict" : (AUTHORS[author] ?? author);
  return found;
}

function button(text: string, className: string | undefined, run: () => void): HTMLElement {
  const found = element("button", className);
  found.setAttribute("type", "button");
  found.textContent = text;
  found.addEventListener("click", run);
  return found;
}

function element(name: string, className: string | undefined): HTMLElement {
  const found = document.createElement(name);
  found.className = className ?? "";
  return found;
}
