/** The bar of a hunk: its author, its buttons, and the larger units around it. Plain elements, since it is part of a text. */

import { pluralize } from "@/ui/format";
import { describeChange, describeChoice } from "./changeText";
import type { Hunk } from "./hunkPlaces";
import { canBeSplit } from "./hunkSplit";
import { formatLabel } from "./labels";
import css from "./marks.module.css";
import type { ReviewActions } from "./reviewState";
import type { ReviewUnit } from "./reviewUnits";
import { isTyped, isWithAgent } from "./sides";

const AUTHORS: Record<string, string> = { agent: "AI", mixed: "AI and you", user: "You" };

export interface BarActions extends ReviewActions {
  /** Find the next hunk, or the previous one; the returned function focuses its bar. */
  stepFrom: (id: string, step: number) => () => void;
}

/**
 * The bar of a hunk, with its number and the total. It floats at the hunk's words while they are looked at; that of a
 * conflict stands above the line, since somebody has to choose.
 */
export function createHunkBar(hunk: Hunk, number: number, count: number, actions: BarActions): HTMLElement {
  const anchor = createElement("div", css.anchor);
  const root = anchor.appendChild(createElement("div", hunk.conflict ? css.standing : css.floating));
  root.dataset.hunk = hunk.hunk_id;
  if (hunk.conflict) root.dataset.standing = "";
  root.setAttribute("role", "group");
  const row = root.appendChild(createElement("div", css.row));
  row.append(createBadge(hunk));
  if (hunk.warning) row.append(createWarning(hunk.warning));
  row.append(...hunk.labels.map(createLabel));
  const whole = actions.byTurn ? " turn" : "";
  const [yes, no] = hunk.applied === undefined ? [`Accept${whole}`, `Reject${whole}`] : ["Keep", "Undo"];
  const accept = () => (hunk.conflict ? actions.settle(hunk) : actions.decide("accept", hunk));
  const reject = () => actions.decide("reject", hunk);
  // For people who cannot see where it is.
  const words = hunk.conflict ? describeChoice(hunk.working, hunk.proposed) : describeChange(hunk.base, hunk.working);
  const first = row.appendChild(createButton(hunk.conflict ? "Resolve…" : yes, css.accept, accept, words));
  first.dataset.first = "";
  row.append(createButton(hunk.conflict ? keepLabel(hunk) : no, css.reject, reject, words));
  if (hunk.conflict) row.append(createWords(words));
  if (canBeSplit(hunk) && !actions.byTurn)
    row.append(createButton("Split", css.turn, () => actions.split(hunk), words));
  if (!hunk.conflict) row.append(createButton("Refine…", css.turn, () => actions.refine(hunk), words));
  row.append(createSteps(hunk, actions));
  if (!hunk.conflict) row.append(createMore(root, hunk, actions, words));
  numberBar(root, number, count);
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
  return anchor;
}

/** Number a bar, also one that is shown already: drawn anew it would lose the focus, and the next key. */
export function numberBar(bar: Element, number: number, count: number): void {
  bar.setAttribute("aria-label", `Change ${number} of ${count}`);
  const place = bar.querySelector("[data-number]");
  if (place) place.textContent = `${number}/${count}`;
}

/** The label for keeping the current text: the person's own, or what the file says. */
function keepLabel(hunk: Hunk): string {
  return isTyped(hunk) ? "Keep mine" : "Keep current text";
}

/** To the change before this one and after it, and which one it is. */
function createSteps(hunk: Hunk, actions: BarActions): HTMLElement {
  const steps = createElement("span", css.steps);
  const go = (step: number) => () => actions.stepFrom(hunk.hunk_id, step)();
  const back = createButton("‹", css.step, go(-1));
  back.setAttribute("aria-label", "Previous change");
  back.title = "Previous change (Alt+K)";
  const number = createElement("span", css.number);
  number.dataset.number = "";
  const on = createButton("›", css.step, go(1));
  on.setAttribute("aria-label", "Next change");
  on.title = "Next change (Alt+J)";
  steps.append(back, number, on);
  return steps;
}

const UNITS: Record<ReviewUnit["kind"], string> = {
  sentence: "This sentence",
  item: "This item",
  row: "This row",
  paragraph: "This paragraph",
  list: "This list",
  table: "This table",
  document: "This document",
  turn: "The whole turn",
};

/** The button that shows the larger units that the change is part of: the same decision for more at once. */
function createMore(root: HTMLElement, hunk: Hunk, actions: BarActions, words: string): HTMLElement {
  const list = createElement("div", css.units);
  const toggle = createButton("More", css.turn, () => {
    const open = list.isConnected;
    toggle.setAttribute("aria-expanded", String(!open));
    if (open) return list.remove();
    list.replaceChildren(...listRows(hunk, actions));
    root.append(list);
    root.dispatchEvent(new Event("focusin", { bubbles: true })); // it is larger now, and is placed anew
  });
  toggle.setAttribute("aria-expanded", "false");
  toggle.setAttribute("aria-label", `More: ${words}`);
  return toggle;
}

function listRows(hunk: Hunk, actions: BarActions): HTMLElement[] {
  const units = actions.byTurn || hunk.applied !== undefined ? [] : actions.units(hunk);
  const rows = units.map((unit) => {
    const row = createElement("div", css.unit);
    const name = `${UNITS[unit.kind]}: ${pluralize(unit.hunks.length, "change")}`;
    const label = row.appendChild(createElement("span", css.words));
    label.textContent = name;
    for (const [act, look] of [
      ["accept", css.accept],
      ["reject", css.reject],
    ] as const) {
      const title = act === "accept" ? "Accept" : "Reject";
      const button = row.appendChild(createButton(title, look, () => actions.decideUnit(act, unit)));
      button.setAttribute("aria-label", `${title} ${UNITS[unit.kind].toLowerCase()}`);
    }
    return row;
  });
  const { turn } = hunk;
  if (turn === null) return rows;
  const row = createElement("div", css.unit);
  row.append(createButton(`Show turn ${turn}`, css.turn, () => actions.showTurn(turn)));
  return [...rows, row];
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
