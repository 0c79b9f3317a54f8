/**
 * Connects agents' calls of `replaceText` with the rich editors of this window.
 *
 * The server knows which documents are shown here and when the person last used one. It asks one editor in one window
 * to hand in what was typed, and later tells it what was done: by then the text has arrived, as one change by the agent
 * and not by the person. Here the cursor moves to its end, and undo learns about it. Nothing is ever changed here on
 * the server's word.
 */

import { keydownHandler } from "@tiptap/pm/keymap";
import { type EditorState, Plugin, Selection, type Transaction } from "@tiptap/pm/state";
import { undoTurn } from "@/state/documents";
import { isFocusFree } from "./editorFocus";
import { type OpenEditor, onEditorsChanged, openEditors } from "./openEditors";
import { Positions } from "./positions";
import { type Direction, UndoWithTurns } from "./undoWithTurns";

/** The cursor is not moved for somebody who typed within this time. */
const TYPING_MS = 1000;
/** The server is told about use no more often than this. */
const USE_MS = 300;

interface BridgeAsk {
  type: "ask";
  id: string;
}

/** The new length of the text, and the cursor, both in UTF-16 units; the turn is null if nothing changed. */
export interface Done {
  type: "done";
  id: string;
  length: number;
  cursor: number;
  turn: number | null;
}

type BridgeRequest = BridgeAsk | Done;
type BridgeAnswer =
  | { type: "ready" | "busy" | "shown"; id: string }
  | { type: "shows"; ago: number }
  | { type: "hides" };

/** One rich editor, as the server knows it. */
class Bridge {
  readonly #hearer = { heard: (message: string) => void this.#answer(JSON.parse(message)), joined: () => this.#show() };
  readonly #undoing: UndoWithTurns;
  #focused = -1;
  #used = 0;
  #reportedAt = 0;
  #telling: ReturnType<typeof setTimeout> | undefined;
  #typed = Number.NEGATIVE_INFINITY;

  constructor(readonly rich: OpenEditor) {
    rich.session.hearer = this.#hearer;
    this.#undoing = new UndoWithTurns(rich.session.undo, () => rich.flush(), undoTurn);
    rich.editor.registerPlugin(this.#keys(), (ours, others) => [ours, ...others]);
    const { dom } = rich.editor.view;
    dom.addEventListener("beforeinput", this.#type);
    for (const kind of ["keydown", "pointerdown"]) dom.addEventListener(kind, this.#use);
    this.tell();
  }

  /** Report that it is shown, if the person has used it since. */
  tell(): void {
    if (this.rich.focusedAt === this.#focused) return;
    this.#focused = this.rich.focusedAt;
    this.#show();
  }

  end(): void {
    clearTimeout(this.#telling);
    this.#say({ type: "hides" });
    if (this.rich.session.hearer === this.#hearer) this.rich.session.hearer = null;
    this.#undoing.end();
  }

  #say(message: BridgeAnswer): void {
    this.rich.session.say(JSON.stringify(message));
  }

  #show(): void {
    clearTimeout(this.#telling);
    this.#telling = undefined;
    this.#reportedAt = Date.now();
    this.#say({ type: "shows", ago: Math.max(0, this.#reportedAt - Math.max(this.#focused, this.#used)) });
  }

  async #answer(message: BridgeRequest): Promise<void> {
    const { id } = message;
    if (message.type === "ask") {
      const ready = await this.rich.flush();
      this.#say({ type: ready ? "ready" : "busy", id });
    } else {
      await this.#shown(message);
      this.#say({ type: "shown", id });
    }
  }

  async #shown(done: Done): Promise<void> {
    const { rich } = this;
    const { undo: own } = rich.session;
    own.stopCapturing(); // what is typed before and after it are two steps
    if (done.turn !== null) this.#undoing.note(done.turn);
    const typing = performance.now() - this.#typed < TYPING_MS;
    if (!(await rich.settle()) || typing || rich.editor.isDestroyed) return;
    const { view, state } = rich.editor;
    const placed = placeCursor(state, done);
    if (placed) view.dispatch(placed);
    if (isFocusFree(view.dom)) view.focus();
  }

  #keys(): Plugin {
    const step = (direction: Direction) => () => {
      if (!this.#undoing.has) return false;
      void this.#undoing.step(direction);
      return true;
    };
    const [back, again] = [step("undo"), step("redo")];
    return new Plugin({
      props: { handleKeyDown: keydownHandler({ "Mod-z": back, "Mod-y": again, "Mod-Shift-z": again }) },
    });
  }

  // Two windows may both have the focus, each on a machine of its own.
  #use = (): void => {
    this.#used = Date.now();
    const late = this.#reportedAt + USE_MS - this.#used;
    if (late <= 0) this.#show();
    else this.#telling ??= setTimeout(() => this.#show(), late);
  };

  #type = (): void => {
    this.#typed = performance.now();
  };
}

/**
 * The cursor at the end of what was inserted, or in the nearest text: a block selected as a whole would be deleted by
 * the next key. Null if there is none, or the editor shows something else than was reported.
 */
export function placeCursor(state: EditorState, { cursor, length }: Done): Transaction | null {
  const positions = new Positions(state.doc);
  if (positions.text.length !== length) return null;
  const place = state.doc.resolve(positions.position(cursor));
  const found = Selection.findFrom(place, -1, true) ?? Selection.findFrom(place, 1, true);
  return found && state.tr.setSelection(found).setMeta("addToHistory", false).scrollIntoView();
}

const bridges = new Map<OpenEditor, Bridge>();

onEditorsChanged(() => {
  const open = [...openEditors.values()];
  for (const [rich, bridge] of bridges) {
    if (open.includes(rich)) continue;
    bridge.end();
    bridges.delete(rich);
  }
  for (const rich of open) {
    const known = bridges.get(rich);
    if (known) known.tell();
    else if (rich.editor.isEditable) bridges.set(rich, new Bridge(rich));
  }
});
