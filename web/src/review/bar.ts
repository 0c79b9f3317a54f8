/** The bar above a hunk: who made it, in which turn, and what to do with it. Plain elements, since it is part of a text. */

import css from "./marks.module.css";
import type { Hunk } from "./placing";
import type { ReviewActions } from "./reviewState";
import { canBeSplit } from "./splitting";

const AUTHORS: Record<string, string> = { agent: "AI", mixed: "AI and you", user: "You" };

export interface BarActions extends ReviewActions {
  /** Put the focus on the bar of the next hunk, or of the one before. */
  stepFrom: (id: string, step: number) => void;
}

export function hunkBar(hunk: Hunk, number: number, count: number, actions: BarActions): HTMLElement {
  const root = element("div", css.bar);
  root.dataset.hunk = hunk.hunk_id;
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", `Change ${number} of ${count}`);
  const row = root.appendChild(element("div", css.row));
  row.append(badge(hunk));
  const { turn } = hunk;
  if (turn !== null) row.append(button(`turn ${turn}`, css.turn, () => actions.showTurn(turn)));
  const whole = actions.byTurn ? " turn" : "";
  const accept = () => (hunk.conflict ? actions.settle(hunk) : actions.decide("accept", hunk));
  const reject = () => actions.decide("reject", hunk);
  const first = row.appendChild(button(hunk.conflict ? "Settle…" : `Accept${whole}`, css.accept, accept));
  first.dataset.first = "";
  row.append(button(hunk.conflict ? "Keep mine" : `Reject${whole}`, css.reject, reject));
  if (canBeSplit(hunk) && !actions.byTurn) row.append(button("Split", css.turn, () => actions.split(hunk)));
  root.addEventListener("keydown", (event) => {
    const held = event.ctrlKey || event.metaKey;
    const step = held || event.altKey ? undefined : { j: 1, k: -1 }[event.key];
    if (step === undefined && event.key !== "Escape" && !(event.key === "Enter" && held)) return;
    event.preventDefault();
    event.stopPropagation();
    actions.stepFrom(hunk.hunk_id, step ?? 1);
    if (event.key === "Escape") reject();
    else if (event.key === "Enter") accept();
  });
  return root;
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

export function element(name: string, className: string | undefined): HTMLElement {
  const found = document.createElement(name);
  found.className = className ?? "";
  return found;
}
