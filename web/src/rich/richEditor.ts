/** A rich editor on a session: keeps the two in sync, stores what is typed, and undoes only the person's own changes.
 * */

import { Editor, Extension, type Extensions, type JSONContent } from "@tiptap/core";
import type { Node } from "@tiptap/pm/model";
import { NodeSelection, Plugin, Selection, TextSelection, type Transaction } from "@tiptap/pm/state";
import type { Transform } from "@tiptap/pm/transform";
import type { EditorView } from "@tiptap/pm/view";
import { nonce } from "@/app/nonce";
import { addDeliveryWait } from "@/live/delivery";
import type { Session } from "@/live/session";
import { noteTyping, trackTyping } from "@/review/decisionStack";
import { stepBack, stepForward } from "@/review/decisions";
import { showToast } from "@/state/store";
import { keepTrailingBlanks } from "./blocks";
import { editsBetween } from "./edits";
import { imageView } from "./imageView";
import { markdownApi, type ParsedMarkdown } from "./markdownApi";
import { noteFocus, type OpenEditor, registerEditor, renameEditor, unregisterEditor } from "./openEditors";
import type { RichText } from "./places";
import { RichSync, type SyncedEditor } from "./richSync";
import { richExtensions } from "./schema";
import { flushSelection, flushSelectionOnInput } from "./selectionFlush";
import { SharedText } from "./sharedText";
import { richTools } from "./tools";
import { restoreUnwritten, UnwrittenStore } from "./unwritten";

/** Marks a change that came from the shared text. */
const ELSEWHERE = "elsewhere";

/** Whether somebody else made this change. */
export function isOthers(transaction: Transaction): boolean {
  const root = transaction.getMeta("appendedTransaction") as Transaction | undefined;
  return transaction.getMeta(ELSEWHERE) === true || root?.getMeta(ELSEWHERE) === true;
}

export interface RichEditorOptions {
  host: HTMLElement;
  path: string;
  session: Session;
  readOnly: boolean;
  text: string;
  reading: ParsedMarkdown;
  extensions: Extensions;
  /** The text, or what is pending, has changed; or the server did not answer. */
  onChange: (problem: unknown) => void;
}

export class RichEditor implements OpenEditor, SyncedEditor {
  path: string;
  readonly session: Session;
  readonly editor: Editor;
  readonly sync: RichSync;
  focusedAt = 0;
  readonly #host: HTMLElement;
  readonly #shared: SharedText;
  #unwritten: UnwrittenStore;
  readonly #stopWaiting: () => void;

  constructor({ host, path, session, readOnly, text, reading, extensions, onChange }: RichEditorOptions) {
    this.path = path;
    this.session = session;
    trackTyping(session, path, () => this.sync.pending);
    this.#host = host;
    this.editor = this.#createEditor(host, reading.doc, readOnly, extensions);
    hideFromReact(this.editor.view.dom);
    this.#unwritten = new UnwrittenStore(path);
    this.#shared = new SharedText(session, (edits, back) => this.sync.noteOthers(edits, back));
    const listener = {
      changed: () => this.#changed(onChange),
      failed: (error: unknown) => this.#failed(error, onChange),
    };
    this.sync = new RichSync(this, this.#shared, markdownApi, listener, text, reading);
    // The text may have changed while it was parsed.
    const now = this.#shared.read();
    if (now !== text) this.sync.noteOthers(editsBetween(text, now));
    this.#stopWaiting = addDeliveryWait(async (paths) => (paths && !paths.includes(this.path)) || this.flush());
    // Before anything asks whether the page may close; and again, since it may close without asking.
    addEventListener("beforeunload", this.#keep, { capture: true });
    addEventListener("pagehide", this.#keep);
    host.addEventListener("click", keepLinkInApp);
    registerEditor(this);
  }

  get doc(): Node {
    return this.editor.state.doc;
  }

  /** The document, and the markdown that it represents. */
  get content(): RichText {
    return { doc: this.doc, text: this.sync.text, blocks: this.sync.blocks };
  }

  get busy(): boolean {
    return this.editor.view.composing;
  }

  bring(act: (doc: Transform) => number | null): void {
    flushSelection(this.editor.view);
    const { tr } = this.editor.state;
    const end = act(tr);
    if (!tr.docChanged) return;
    if (end === null) keepTrailingBlanks(tr);
    else tr.setSelection(Selection.near(tr.doc.resolve(end), -1)).scrollIntoView();
    this.editor.view.dispatch(tr.setMeta(ELSEWHERE, true).setMeta("addToHistory", false));
  }

  flush(): Promise<boolean> {
    return this.sync.flush();
  }

  settle(): Promise<boolean> {
    return this.sync.settle();
  }

  /** Make it editable, or read-only. What was typed before is written all the same. */
  allow(typing: boolean): void {
    if (typing === this.editor.isEditable) return;
    this.editor.setEditable(typing, false);
    registerEditor(this); // an editable editor can be asked by others
  }

  /** The document has another name now. */
  rename(path: string): void {
    const [from, unwritten] = [this.path, this.#unwritten];
    if (path === from) return;
    this.path = path;
    this.#unwritten = new UnwrittenStore(path);
    this.#keep();
    unwritten.forget();
    this.editor.setOptions({ editorProps: { attributes: editorAttributes(path) } });
    renameEditor(this, from);
    trackTyping(this.session, path, () => this.sync.pending);
  }

  /** Undo, or redo, the person's last change, here or in the source. */
  async step(direction: "undo" | "redo"): Promise<void> {
    // An older step must not be undone unseen, instead of what was typed last.
    if (await this.flush()) (direction === "undo" ? stepBack : stepForward)(this.path);
    else
      showToast(
        `The server cannot be reached. Try to ${direction} when it is back; what you typed is kept in this browser.`,
      );
  }

  /** Close it. What is not written yet is stored, to be resumed later. */
  end(): void {
    removeEventListener("beforeunload", this.#keep, { capture: true });
    removeEventListener("pagehide", this.#keep);
    this.#keep();
    const left = this.#unwritten.leave();
    if (this.sync.pending) void restoreUnwritten(this.path, left);
    this.#stopWaiting();
    this.#host.removeEventListener("click", keepLinkInApp);
    unregisterEditor(this);
    this.sync.end();
    this.#shared.end();
    this.editor.destroy();
  }

  #createEditor(host: HTMLElement, content: JSONContent, readOnly: boolean, more: Extensions): Editor {
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
        ...richExtensions(imageView(() => this.path)),
        keys,
        flushSelectionOnInput,
        keepSource,
        ...more,
        ...richTools(),
      ],
      content,
      editable: !readOnly,
      injectNonce: nonce(),
      editorProps: { attributes: editorAttributes(this.path) },
      onTransaction: ({ transaction, appendedTransactions }) => {
        const typed = [transaction, ...appendedTransactions].some((each) => each.docChanged && !isOthers(each));
        if (!typed) return;
        noteTyping(this.session);
        this.sync.noteTyping();
      },
      onCreate: ({ editor }) => selectFirstText(editor),
      onFocus: () => noteFocus(this),
    });
  }

  #changed(onChange: RichEditorOptions["onChange"]): void {
    if (!this.sync.pending) this.#unwritten.forget();
    onChange(null);
  }

  #failed(error: unknown, onChange: RichEditorOptions["onChange"]): void {
    if (this.sync.pending) this.#keep();
    else this.#unwritten.forget(); // what was typed is written: only the parsing failed
    onChange(error);
  }

  #keep = (): void => {
    if (this.sync.pending) this.#unwritten.keep(this.sync.text, this.editor.getJSON());
  };
}

/**
 * Before every change of the page React notes the selection in the focused element, in case it replaces that, and walks
 * through all of an editable one for it: 10 ms in a novel. It never replaces this one.
 */
function hideFromReact(element: HTMLElement): void {
  Object.defineProperty(element, "contentEditable", { value: "inherit", configurable: true });
}

function editorAttributes(path: string): Record<string, string> {
  return { role: "textbox", "aria-multiline": "true", "aria-label": `Text of ${path}`, spellcheck: "true" };
}

/** A link in read-only text (removed or not editable) must not lead away from the app. */
function keepLinkInApp(event: MouseEvent): void {
  const link = (event.target as Element).closest("a");
  if (!link) return;
  event.preventDefault();
  const editable = link.isContentEditable;
  if (!editable && /^https?:/.test(link.getAttribute("href") ?? "")) open(link.href, "_blank", "noopener,noreferrer");
}

/** Start in the first words: a block selected as a whole would be deleted by the first key. */
function selectFirstText({ state, view }: Editor): void {
  const first = Selection.findFrom(state.doc.resolve(0), 1, true);
  if (first && !(state.selection instanceof TextSelection)) view.dispatch(state.tr.setSelection(first));
}

/** Source cannot be edited here: typing with a piece of it selected inserts after it, and does not replace it. */
const keepSource = Extension.create({
  name: "sourceKept",
  addProseMirrorPlugins: () => [
    new Plugin({ props: { handleTextInput: (view, _from, _to, text) => typeBehind(view, text) } }),
  ],
});

function typeBehind(view: EditorView, text: string): boolean {
  const { selection, schema, tr } = view.state;
  if (!(selection instanceof NodeSelection) || !/^(?:source|inlineSource)$/.test(selection.node.type.name))
    return false;
  const { to, node } = selection;
  const words = schema.text(text);
  tr.insert(to, node.isInline ? words : schema.node("paragraph", null, words));
  tr.setSelection(TextSelection.create(tr.doc, to + (node.isInline ? 0 : 1) + text.length));
  view.dispatch(tr.scrollIntoView());
  return true;
}
