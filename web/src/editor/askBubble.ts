/** The button beside a selection in the source view, which asks the agent about it. */

import { type EditorState, type Extension, StateField } from "@codemirror/state";
import { showTooltip, type Tooltip } from "@codemirror/view";
import { formatKeys } from "@/app/commands";
import { createElement } from "@/review/hunkBar";
import { askAtCursor } from "@/state/textFocus";
import css from "./DocumentPane.module.css";

const bubble = StateField.define<Tooltip | null>({
  create: bubbleOf,
  update: (shown, transaction) =>
    transaction.docChanged || transaction.selection ? bubbleOf(transaction.state) : shown,
  provide: (field) => showTooltip.from(field),
});

function bubbleOf(state: EditorState): Tooltip | null {
  const { from, to, empty } = state.selection.main;
  if (empty || state.readOnly || state.sliceDoc(from, Math.min(to, from + 1000)).trim() === "") return null;
  return { pos: from, above: true, create: () => ({ dom: createBubble() }) };
}

function createBubble(): HTMLElement {
  const button = createElement("button", css.bubble);
  button.setAttribute("type", "button");
  button.textContent = "Ask the agent";
  button.title = `Ask the agent (${formatKeys("Mod+J")})`;
  button.addEventListener("mousedown", (event) => event.preventDefault()); // keeps the selection
  button.addEventListener("click", askAtCursor);
  return button;
}

export function askBubble(): Extension {
  return bubble;
}
