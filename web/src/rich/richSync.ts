/**
 * Keeps a rich editor and the shared markdown in sync.
 *
 * `text` is the markdown that the editor's document represents. After a short pause the server writes what was typed
 * into it, and the difference goes into the shared text. What others do to the shared text is recorded as changes of
 * `text` until it can be parsed and applied to the editor. If both happen at once, the edits of each side are moved
 * over those of the other, so that no character of either is lost. One request runs at a time; what is typed meanwhile
 * is written with the next. Not used here: the DOM, connections, and clocks except for the pause.
 */

import type { ChangeSet } from "@codemirror/state";
import type { Node } from "@tiptap/pm/model";
import type { Transform } from "@tiptap/pm/transform";
import type { Edit } from "@/live/textMerge";
import { bringChanges } from "./blocks";
import { changeSet, editsBetween, editsOf, emptyChange } from "./edits";
import type { BlockLines, MarkdownApi, ParsedMarkdown } from "./markdownApi";
import { parseNear, type ReadText, readText, serialiseNear } from "./parts";

/** The editor, as far as it matters here. */
export interface SyncedEditor {
  readonly doc: Node;
  /** Whether it must be left alone, since a character is being composed. */
  readonly busy: boolean;
  /** Change the document with `act`; the cursor goes to the position that it returns, or stays. */
  bring(act: (doc: Transform) => number | null): void;
}

/** The shared text. */
export interface SyncedText {
  read(): string;
  /** Apply edits as the person's own. */
  type(edits: readonly Edit[]): void;
}

export interface SyncListener {
  /** Something became pending, or no longer is; or the text has changed. */
  changed(): void;
  /** The server did not answer, or refused: what was typed stays here, and is retried. */
  failed(error: unknown): void;
}

export const PAUSES = { typing: 40, longest: 500, others: 30, failed: 1000 };
// A long document takes the server long: requests take at most a third of the time.
const SHARE = 2;

export class RichSync {
  #read: ReadText;
  /** What others did to the text since. */
  #elsewhere: ChangeSet;
  #typed = 0;
  #written = 0;
  /** Whether the cursor follows what others did, since the person themselves undid something. */
  #follow = false;
  #running: Promise<void> | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #deadline = 0;
  /** How long the last round took. */
  #took = 0;
  #ended = false;

  constructor(
    readonly front: SyncedEditor,
    readonly shared: SyncedText,
    readonly api: MarkdownApi,
    readonly listener: SyncListener,
    text: string,
    reading: ParsedMarkdown,
  ) {
    this.#read = readText(text, reading, front.doc);
    this.#elsewhere = emptyChange(text.length);
  }

  /** The markdown that the document represents, except for what was typed since. */
  get text(): string {
    return this.#read.text;
  }

  /** The lines of the blocks of `text`. */
  get blocks(): readonly BlockLines[] {
    return this.#read.blocks;
  }

  /** Whether something typed is not in the shared text yet. */
  get pending(): boolean {
    return this.#typed > this.#written;
  }

  /** Whether the editor shows what the shared text says. */
  get settled(): boolean {
    return !this.pending && this.#elsewhere.empty;
  }

  /** The person typed something into the editor. */
  noteTyping(): void {
    const first = !this.pending;
    this.#typed += 1;
    const now = Date.now();
    if (first) this.#deadline = now + Math.max(PAUSES.longest, this.#took * SHARE);
    this.#runAfter(Math.max(0, Math.min(this.#pause, this.#deadline - now)));
    if (first) this.listener.changed();
  }

  /** Somebody else changed the shared text; `follow` if the cursor should go there. */
  noteOthers(edits: readonly Edit[], follow = false): void {
    this.#elsewhere = this.#elsewhere.compose(changeSet(edits, this.#elsewhere.newLength));
    this.#follow ||= follow;
    // Typing has its own pause, after which both are handled.
    if (!this.pending) this.#runAfter(follow ? 0 : PAUSES.others);
  }

  /** Write what was typed so far; returns whether it is in the shared text now. */
  async flush(): Promise<boolean> {
    const wanted = this.#typed;
    await this.#running; // which may have started before the last key
    if (this.#written < wanted && !this.#ended) await this.#run();
    return this.#written >= wanted;
  }

  /** Write what was typed, and apply what others did; returns whether both succeeded. */
  async settle(): Promise<boolean> {
    for (let tries = 0; tries < 3 && !this.settled && !this.#ended; tries += 1) await this.#run();
    return this.settled;
  }

  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
  }

  /** The text, parsed. */
  get read(): ReadText {
    return this.#read;
  }

  /** Another version of the text, parsed. */
  parse(text: string): Promise<ReadText> {
    return parseNear(this.api, this.#read, text);
  }

  get #pause(): number {
    return Math.max(PAUSES.typing, this.#took * SHARE);
  }

  #runAfter(time: number): void {
    clearTimeout(this.#timer);
    if (!this.#ended) this.#timer = setTimeout(() => void this.#run(), time);
  }

  /** One round after the running one. */
  #run(): Promise<void> {
    this.#running ??= this.#round().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async #round(): Promise<void> {
    clearTimeout(this.#timer);
    const started = Date.now();
    try {
      if (this.pending) await this.#write();
      if (!this.#elsewhere.empty && !this.#ended) await this.#take();
    } catch (error) {
      if (!this.#ended) this.listener.failed(error);
      this.#runAfter(PAUSES.failed);
      return;
    }
    this.#took = Date.now() - started;
    if (this.pending || !this.#elsewhere.empty) this.#runAfter(this.#pause);
    this.#deadline = Date.now() + Math.max(PAUSES.longest, this.#took * SHARE);
    this.listener.changed();
  }

  /** What was typed, into the shared text. */
  async #write(): Promise<void> {
    const typed = this.#typed;
    const before = this.#read;
    const written = await serialiseNear(this.api, before, this.front.doc);
    if (this.#ended) return;
    const mine = changeSet(editsBetween(before.text, written.text), before.text.length);
    const there = mine.map(this.#elsewhere);
    this.#elsewhere = this.#elsewhere.map(mine, true);
    this.#read = written;
    this.#written = typed;
    if (!there.empty) this.shared.type(editsOf(there));
  }

  /** What others did, into the editor. */
  async #take(): Promise<void> {
    const taken = this.#elsewhere;
    const target = this.shared.read();
    this.#elsewhere = emptyChange(target.length);
    let brought = false;
    try {
      const fresh = await this.parse(target);
      if (this.#ended) return;
      brought = !this.front.busy && this.#bring(this.#read.doc, fresh.doc);
      if (brought) this.#read = fresh;
    } finally {
      if (!brought) this.#elsewhere = taken.compose(this.#elsewhere);
    }
  }

  #bring(old: Node, fresh: Node): boolean {
    let whole = false;
    this.front.bring((doc) => {
      const brought = bringChanges(doc, old, fresh, this.pending);
      whole = brought.whole;
      return this.#follow ? brought.end : null;
    });
    if (whole) this.#follow = false;
    return whole;
  }
}
