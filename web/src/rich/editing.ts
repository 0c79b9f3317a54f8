/** A rich editor on a session: the two held together, what is typed kept, undo that is the person's own. */

import { Editor, Extension, type Extensions, type JSONContent } from "@tiptap/core";
import type { Node } from "@tiptap/pm/model";
import { Selection, TextSelection, type Transaction } from "@tiptap/pm/state";
import type { Transform } from "@tiptap/pm/transform";
import { nonce } from "@/app/nonce";
import { waitFirst } from "@/live/arriving";
import type { Session } from "@/live/session";
import { say } from "@/state/store";
import { asking, type Reading } from "./asking";
import { cursorHeard, hearCursor } from "./cursorHeard";
import { editsBetween } from "./edits";
import { Keeping, takeUp } from "./keeping";
import { closed, focused, type OpenRich, opened, renamed } from "./open";
import { pictures } from "./pictures";
import type { Standing } from "./places";
import { richExtensions } from "./schema";
import { SharedText } from "./sharing";
import { sourceKept } from "./sourceKept";
import { type Front, Syncing } from "./syncing";
import { richTools } from "./tools";

/** The mark of a change that came out of the shared text. */
const ELSEWHERE = "elsewhere";

/** Whether somebody else made this change. */
export function isOthers(transaction: Transaction): boolean {
  const root = transaction.getMeta("appendedTransaction") as Transaction | undefined;
  return transaction.getMeta(ELSEWHERE) === true || root?.getMeta(ELSEWHERE) === true;
}

export interface Opening {
  host: HTMLElement;
  path: string;
  session: Session;
  readOnly: boolean;
  text: string;
  reading: Reading;
  extensions: Extensions;
  /** The text, or what is pending, is another; or the server did not answer. */
  onChange: (problem: unknown) => void;
}

export class RichEditing implements OpenRich, Front {
  path: string;
  readonly session: Session;
  readonly editor: Editor;
  readonly syncing: Syncing;
  focusedAt = 0;
  readonly #host: HTMLElement;
  readonly #shared: SharedText;
  #keeping: Keeping;
  readonly #stopWaiting: () => void;

  constructor({ host, path, session, readOnly, text, reading, extensions, onChange }: Opening) {
    this.path = path;
    this.session = session;
    this.#host = host;
    this.editor = this.#made(host, reading.doc, readOnly, extensions);
    this.#keeping = new Keeping(path);
    this.#shared = new SharedText(session, (edits, back) => this.syncing.others(edits, back));
    const telling = {
      changed: () => this.#changed(onChange),
      failed: (error: unknown) => this.#failed(error, onChange),
    };
    this.syncing = new Syncing(this, this.#shared, asking, telling, text, reading);
    // While the text was read, it may have gone on.
    const now = this.#shared.read();
    if (now !== text) this.syncing.others(editsBetween(text, now));
    this.#stopWaiting = waitFirst(async (paths) => (paths && !paths.includes(this.path)) || this.flush());
    // Before whoever asks whether the page may go; and again, since it may go without being asked.
    addEventListener("beforeunload", this.#keep, { capture: true });
    addEventListener("pagehide", this.#keep);
    host.addEventListener("click", stay);
    opened(this);
  }

  get doc(): Node {
    return this.editor.state.doc;
  }

  /** The document, and the markdown that it stands for. */
  get standing(): Standing {
    return { doc: this.doc, text: this.syncing.text, blocks: this.syncing.blocks };
  }

  get busy(): boolean {
    return this.editor.view.composing;
  }

  bring(act: (doc: Transform) => number | null): void {
    hearCursor(this.editor.view);
    const { tr } = this.editor.state;
    const end = act(tr);
    if (!tr.docChanged) return;
    if (end !== null) tr.setSelection(Selection.near(tr.doc.resolve(end), -1)).scrollIntoView();
    this.editor.view.dispatch(tr.setMeta(ELSEWHERE, true).setMeta("addToHistory", false));
  }

  flush(): Promise<boolean> {
    return this.syncing.flush();
  }

  settle(): Promise<boolean> {
    return this.syncing.settle();
  }

  /** Let the person type into it, or only read. What was typed before is written all the same. */
  allow(typing: boolean): void {
    if (typing === this.editor.isEditable) return;
    this.editor.setEditable(typing, false);
    opened(this); // an editor that may be typed into is one that others can ask
  }

  /** The document has another name now. */
  rename(path: string): void {
    const [from, keeping] = [this.path, this.#keeping];
    if (path === from) return;
    this.path = path;
    this.#keeping = new Keeping(path);
    this.#keep();
    keeping.forget();
    this.editor.setOptions({ editorProps: { attributes: attributesOf(path) } });
    renamed(this, from);
  }

  /** Take back, or bring back, what the person did last, here or in the source. */
  async step(direction: "undo" | "redo"): Promise<void> {
    // An older step must not be taken back unseen, in place of what was typed last.
    if (await this.flush()) this.session.undo[direction]();
    else say(`The server cannot be reached, and ${direction} waits for it. What you typed is kept here.`);
  }

  /** Close it. What is not written yet is kept, for whoever takes it up. */
  end(): void {
    removeEventListener("beforeunload", this.#keep, { capture: true });
    removeEventListener("pagehide", this.#keep);
    this.#keep();
    const left = this.#keeping.leave();
    if (this.syncing.pending) void takeUp(this.path, left);
    this.#stopWaiting();
    this.#host.removeEventListener("click", stay);
    closed(this);
    this.syncing.end();
    this.#shared.end();
    this.editor.destroy();
  }

  #made(host: HTMLElement, content: JSONContent, readOnly: boolean, more: Extensions): Editor {
    const step = (direction: "undo" | "redo") => () => {
      void this.step(direction);
      return true;
    };
    const keys = Extension.create({
      name: "undoing",
      priority: 1000,
      addKeyboardShortcuts: () => ({ "Mod-z": step("undo"), "Mod-y": step("redo"), "Mod-Shift-z": step("redo") }),
    });
    return new Editor({
      element: host,
      extensions: [
        ...richExtensions(pictures(() => this.path)),
        keys,
        cursorHeard,
        sourceKept,
        ...more,
        ...richTools(),
      ],
      content,
      editable: !readOnly,
      injectNonce: nonce(),
      editorProps: { attributes: attributesOf(this.path) },
      onTransaction: ({ transaction, appendedTransactions }) => {
        const typed = [transaction, ...appendedTransactions].some((each) => each.docChanged && !isOthers(each));
        if (typed) this.syncing.typed();
      },
      onCreate: ({ editor }) => toText(editor),
      onFocus: () => focused(this),
    });
  }

  #changed(onChange: Opening["onChange"]): void {
    if (!this.syncing.pending) this.#keeping.forget();
    onChange(null);
  }

  #failed(error: unknown, onChange: Opening["onChange"]): void {
    if (this.syncing.pending) this.#keep();
    else this.#keeping.forget(); // what was typed is written: it was the reading that failed
    onChange(error);
  }

  #keep = (): void => {
    if (this.syncing.pending) this.#keeping.keep(this.syncing.text, this.editor.getJSON());
  };
}

function attributesOf(path: string): Record<string, string> {
  return { role: "textbox", "aria-multiline": "true", "aria-label": `Text of ${path}`, spellcheck: "true" };
}

/** A link where nothing can be typed (in what was taken out, in a text to read) must not lead away from the app. */
function stay(event: MouseEvent): void {
  const link = (event.target as Element).closest("a");
  if (!link) return;
  event.preventDefault();
  const editable = link.isContentEditable;
  if (!editable && /^https?:/.test(link.getAttribute("href") ?? "")) open(link.href, "_blank", "noopener,noreferrer");
}

/** Begin in the first words: a block that is selected as a whole would be gone with the first key. */
function toText({ state, view }: Editor): void {
  const first = Selection.findFrom(state.doc.resolve(0), 1, true);
  if (first && !(state.selection instanceof TextSelection)) view.dispatch(state.tr.setSelection(first));
}
