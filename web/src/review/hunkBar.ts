/** The bar above a hunk: its author, its turn, and its buttons. Plain elements, since it is part of a text. */

import { describeChange, describeChoice } from "./changeText";
import type { Hunk } from "./hunkPlaces";
import { canBeSplit } from "./hunkSplit";
import { formatLabel } from "./labels";
import css from "./marks.module.css";
import type { ReviewActions } from "./reviewState";
import { isTyped, isWithAgent } from "./sides";

const AUTHORS: Record<string, string> = { agent: "AI", mixed: "AI and you", user: "You" };

export interface BarActions extends ReviewActions {
  /** Find the next hunk, or the previous one; the returned function focuses its bar. */
  stepFrom: (id: string, step: number) => () => void;
}

/** The bar of a hunk, with its number and the total; `crowded` means that others are in the same place. */
export function createHunkBar(
  hunk: Hunk,
  number: number,
  count: number,
  actions: BarActions,
  crowded = false,
): HTMLElement {
  const root = createElement("div", css.bar);
  root.dataset.hunk = hunk.hunk_id;
  root.setAttribute("role", "group");
  numberBar(root, number, count);
  const row = root.appendChild(createElement("div", css.row));
  row.append(createBadge(hunk));
  if (hunk.warning) row.append(createWarning(hunk.warning));
  row.append(...hunk.labels.map(createLabel));
  const { turn } = hunk;
  if (turn !== null) row.append(createButton(`turn ${turn}`, css.turn, () => actions.showTurn(turn)));
  const whole = actions.byTurn ? " turn" : "";
  const accept = () => (hunk.conflict ? actions.settle(hunk) : actions.decide("accept", hunk));
  const reject = () => actions.decide("reject", hunk);
  // If there are several bars above one line, only the words tell which decides what.
  const words = hunk.conflict ? describeChoice(hunk.working, hunk.proposed) : describeChange(hunk.base, hunk.working);
  const first = row.appendChild(createButton(hunk.conflict ? "Resolve…" : `Accept${whole}`, css.accept, accept, words));
  first.dataset.first = "";
  row.append(createButton(hunk.conflict ? keepLabel(hunk) : `Reject${whole}`, css.reject, reject, words));
  if (crowded) row.append(createWords(words));
  if (canBeSplit(hunk) && !actions.byTurn)
    row.append(createButton("Split", css.turn, () => actions.split(hunk), words));
  root.addEventListener("keydown", (event) => {
    const hasModifier = event.ctrlKey || event.metaKey;
    const step = hasModifier || event.altKey ? undefined : { j: 1, k: -1 }[event.key];
    if (step === undefined && event.key !== "Escape" && !(event.key === "Enter" && hasModifier)) return;
    event.preventDefault();
    event.stopPropagation();
    const goOn = actions.stepFrom(hunk.hunk_id, step ?? 1);
    // In a conflict with another program this would overwrite its words: not with a key that closes things.
    if (event.key === "Escape" && isWithAgent(hunk)) reject();
    if (event.key === "Enter") accept();
    // At once: a decision puts the focus into the text, where the next key would be typed. A dialog takes it itself.
    if (event.key !== "Enter" || !hunk.conflict) goOn();
  });
  return root;
}

/** Number a bar, also one that is shown already: drawn anew it would lose the focus, and the next key. */
export function numberBar(bar: Element, number: number, count: number): void {
  bar.setAttribute("aria-label", `Change ${number} of ${count}`);
}

/** The label for keeping the current text: the person's own, or what the file says. */
function keepLabel(hunk: Hunk): string {
  return isTyped(hunk) ? "Keep mine" : "Keep current text";
}

function createBadge({ author, conflict }: Hunk): HTMLElement {
  const found = createElement("span", css.badge);
  found.dataset.tone = conflict ? "warn" : "agent";
  found.textContent = conflict ? "Conflict" : (AUTHORS[author] ?? author);
  return found;
}

/** What to look at in a hunk: a number or a name that changed, a paragraph that is gone. */
function createLabel(label: string): HTMLElement {
  const found = createElement("span", css.badge);
  found.dataset.tone = "warn";
  found.textContent = formatLabel(label);
  return found;
}

function createWords(words: string): HTMLElement {
  const found = createElement("span", css.words);
  found.textContent = words;
  found.title = words;
  return found;
}

function createWarning(text: string): HTMLElement {
  const found = createElement("span", css.badge);
  found.dataset.tone = "warn";
  found.textContent = "Instructions to agents";
  found.title = text;
  return found;
}

/** `words` are added to its accessible name, for people who cannot see where it is. */
function createButton(text: string, className: string | undefined, run: () => void, words = ""): HTMLElement {
  const found = createElement("button", className);
  found.setAttribute("type", "button");
  found.textContent = text;
  if (words) found.setAttribute("aria-label", `${text}: ${words}`);
  found.addEventListener("click", run);
  return found;
}

export function createElement(name: string, className: string | undefined): HTMLElement {
  const found = document.createElement(name);
  found.className = className ?? "";
  return found;
}
