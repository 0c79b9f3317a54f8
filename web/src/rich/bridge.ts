/**
 * Between agents' calls of `replaceText` and the rich editors of this window.
 *
 * The server is told which documents are shown here and when the person was last in one. It asks one editor in one
 * window, which hands in what was typed, and later tells it what was done: by then the text is here, as one change that
 * is the agent's and not the person's. Here the cursor goes to its end, and undo learns of it. Nothing is ever changed
 * here on the server's word.
 */

import { keydownHandler } from "@tiptap/pm/keymap";
import { type EditorState, Plugin, Selection, type Transaction } from "@tiptap/pm/state";
import * as decoding from "lib0/decoding";
import * as encoding from "lib0/encoding";
import type { Session } from "@/live/session";
import { undo } from "@/state/changing";
import { type OpenRich, onOpenRich, openRich } from "./open";
import { Positions } from "./positions";
import { type Direction, TakingBack } from "./takingBack";

const EDITOR = 100;
/** Who typed within this time is left where they are. */
const TYPING_MS = 1000;
/** The server hears of use not more often than this. */
const USE_MS = 300;

interface Ask {
  type: "ask";
  id: string;
}

/** The text is so long now, and the cursor goes there, both in UTF-16 units; the turn is null where nothing changed. */
export interface Done {
  type: "done";
  id: string;
  length: number;
  cursor: number;
  turn: number | null;
}

type Asked = Ask | Done;
type Said = { type: "ready" | "busy" | "shown"; id: string } | { type: "shows"; ago: number } | { type: "hides" };

/** The connection of a session, for what is between editors and the server. */
class Line {
  constructor(
    readonly session: Session,
    hear: (message: Asked) => void,
    readonly joined: () => void,
  ) {
    const { provider } = session;
    provider.messageHandlers[EDITOR] = (_encoder, decoder) => hear(JSON.parse(decoding.readVarString(decoder)));
    provider.on("sync", this.#sync);
  }

  say(message: Said): void {
    const { ws, synced } = this.session.provider;
    if (!ws || !synced) return; // whoever comes back says again what is shown
    const encoder = encoding.createEncoder();
    encoding.writeVarUint(encoder, EDITOR);
    encoding.writeVarString(encoder, JSON.stringify(message));
    ws.send(encoding.toUint8Array(encoder));
  }

  end(): void {
    const { provider } = this.session;
    provider.messageHandlers[EDITOR] = () => undefined; // a question may be on its way
    provider.off("sync", this.#sync);
  }

  #sync = (synced: boolean): void => {
    if (synced) this.joined();
  };
}

/** One rich editor, as the server knows it. */
class Bridge {
  readonly #line: Line;
  readonly #undoing: TakingBack;
  #focused = -1;
  #used = 0;
  #told = 0;
  #telling: ReturnType<typeof setTimeout> | undefined;
  #typed = Number.NEGATIVE_INFINITY;

  constructor(readonly rich: OpenRich) {
    this.#line = new Line(
      rich.session,
      (message) => void this.#answer(message),
      () => this.#show(),
    );
    this.#undoing = new TakingBack(rich.session.undo, () => rich.flush(), undo);
    rich.editor.registerPlugin(this.#keys(), (ours, others) => [ours, ...others]);
    const { dom } = rich.editor.view;
    dom.addEventListener("beforeinput", this.#type);
    for (const kind of ["keydown", "pointerdown"]) dom.addEventListener(kind, this.#use);
    this.tell();
  }

  /** Say that it is shown, where the person came to it since. */
  tell(): void {
    if (this.rich.focusedAt === this.#focused) return;
    this.#focused = this.rich.focusedAt;
    this.#show();
  }

  end(): void {
    clearTimeout(this.#telling);
    this.#line.say({ type: "hides" });
    this.#line.end();
    this.#undoing.end();
  }

  #show(): void {
    clearTimeout(this.#telling);
    this.#telling = undefined;
    this.#told = Date.now();
    this.#line.say({ type: "shows", ago: Math.max(0, this.#told - Math.max(this.#focused, this.#used)) });
  }

  async #answer(message: Asked): Promise<void> {
    const { id } = message;
    if (message.type === "ask") {
      const ready = await this.rich.flush();
      this.#line.say({ type: ready ? "ready" : "busy", id });
    } else {
      await this.#shown(message);
      this.#line.say({ type: "shown", id });
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
    if (isFree(view.dom)) view.focus();
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
    const late = this.#told + USE_MS - this.#used;
    if (late <= 0) this.#show();
    else this.#telling ??= setTimeout(() => this.#show(), late);
  };

  #type = (): void => {
    this.#typed = performance.now();
  };
}

/**
 * The cursor put at the end of what was inserted, or into the nearest text: a block that is chosen as a whole would be
 * gone with the next key. Null where there is none, or the editor shows something else than was told.
 */
export function placeCursor(state: EditorState, { cursor, length }: Done): Transaction | null {
  const positions = new Positions(state.doc);
  if (positions.text.length !== length) return null;
  const place = state.doc.resolve(positions.position(cursor));
  const found = Selection.findFrom(place, -1, true) ?? Selection.findFrom(place, 1, true);
  return found && state.tr.setSelection(found).setMeta("addToHistory", false).scrollIntoView();
}

/** Whether nothing else has the keyboard: who writes elsewhere, or goes through buttons, is not interrupted. */
function isFree(editor: Element): boolean {
  const { activeElement, body } = editor.ownerDocument;
  return !activeElement || activeElement === body || editor.contains(activeElement);
}

const bridges = new Map<string, Bridge>();

onOpenRich(() => {
  for (const [path, bridge] of bridges) {
    if (openRich.get(path) === bridge.rich) continue;
    bridge.end();
    bridges.delete(path);
  }
  for (const [path, rich] of openRich) {
    const known = bridges.get(path);
    if (known) known.tell();
    else if (rich.editor.isEditable) bridges.set(path, new Bridge(rich));
  }
});
