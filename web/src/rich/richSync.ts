/**
 * Holds a rich editor and the shared markdown together.
 *
 * `text` is the markdown that the editor's document stands for. What is typed into the editor is written into it by the
 * server after a short pause, and the difference goes into the shared text. What others do to the shared text is noted as
 * changes of `text` until it can be read and brought into the editor. Where both happen at once, the edits of each side
 * are moved over those of the other, so that no character of either is left out. One question is under way at a time;
 * whoever types on meanwhile is written with the next. Never touched here: pages, connections, clocks but for the pause.
 */

import type { ChangeSet } from "@codemirror/state";
import { Node } from "@tiptap/pm/model";
import type { Transform } from "@tiptap/pm/transform";
import type { Edit } from "@/live/textMerge";
import { bringChanges } from "./blocks";
import { changeSet, editsBetween, editsOf, emptyChange } from "./edits";
import type { BlockLines, MarkdownApi, ParsedMarkdown } from "./markdownApi";

/** The editor, as far as it matters here. */
export interface SyncedEditor {
  readonly doc: Node;
  /** Whether it must be left alone, since a character is being composed. */
  readonly busy: boolean;
  /** Change the document by what `act` does; the cursor goes to the place that it gives, or stays. */
  bring(act: (doc: Transform) => number | null): void;
}

/** The shared text. */
export interface SyncedText {
  read(): string;
  /** Carry out edits as the person's own. */
  type(edits: readonly Edit[]): void;
}

export interface SyncListener {
  /** Something is pending that was not, or the other way round; or the text is another. */
  changed(): void;
  /** The server did not answer, or refused: what is typed stays here, and is tried again. */
  failed(error: unknown): void;
}

export const PAUSES = { typing: 100, longest: 500, others: 30, failed: 1000 };
// A long document takes the server long: it is asked a third of the time at most.
const SHARE = 2;

export class RichSync {
  #text: string;
  #blocks: BlockLines[];
  #read: { text: string; doc: Node } | null;
  /** What others did to the text since. */
  #elsewhere: ChangeSet;
  #typed = 0;
  #written = 0;
  /** Whether what others did shall take the cursor along, since it was the person who took something back. */
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
    this.#text = text;
    this.#blocks = reading.blocks;
    this.#read = { text, doc: Node.fromJSON(front.doc.type.schema, reading.doc) };
    this.#elsewhere = emptyChange(text.length);
  }

  /** The markdown that the document stands for, but for what was typed since. */
  get text(): string {
    return this.#text;
  }

  /** The lines of the blocks of `text`. */
  get blocks(): readonly BlockLines[] {
    return this.#blocks;
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

  /** The shared text was changed by somebody else; `follow` where the cursor shall go there. */
  noteOthers(edits: readonly Edit[], follow = false): void {
    this.#elsewhere = this.#elsewhere.compose(changeSet(edits, this.#elsewhere.newLength));
    this.#follow ||= follow;
    // What is being typed has its own pause, after which both are seen to.
    if (!this.pending) this.#runAfter(follow ? 0 : PAUSES.others);
  }

  /** Write what was typed so far; whether it is in the shared text now. */
  async flush(): Promise<boolean> {
    const wanted = this.#typed;
    await this.#running; // which may have begun before the last key
    if (this.#written < wanted && !this.#ended) await this.#run();
    return this.#written >= wanted;
  }

  /** Write what was typed, and bring in what others did; whether both went well. */
  async settle(): Promise<boolean> {
    for (let tries = 0; tries < 3 && !this.settled && !this.#ended; tries += 1) await this.#run();
    return this.settled;
  }

  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
  }

  /** A reading of the text as it is now. */
  async parseText(): Promise<Node> {
    const { text } = this;
    if (this.#read?.text === text) return this.#read.doc;
    const { doc } = await this.api.parse(text);
    const found = Node.fromJSON(this.front.doc.type.schema, doc);
    if (this.#text === text) this.#read = { text, doc: found };
    return found;
  }

  get #pause(): number {
    return Math.max(PAUSES.typing, this.#took * SHARE);
  }

  #runAfter(time: number): void {
    clearTimeout(this.#timer);
    if (!this.#ended) this.#timer = setTimeout(() => void this.#run(), time);
  }

  /** One round after the one that is under way. */
  #run(): Promise<void> {
    this.#running ??= this.#round().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async #round(): Promise<void> {
    clearTimeout(this.#timer);
    const begun = Date.now();
    try {
      if (this.pending) await this.#write();
      if (!this.#elsewhere.empty && !this.#ended) await this.#take();
    } catch (error) {
      if (!this.#ended) this.listener.failed(error);
      this.#runAfter(PAUSES.failed);
      return;
    }
    this.#took = Date.now() - begun;
    if (this.pending || !this.#elsewhere.empty) this.#runAfter(this.#pause);
    this.#deadline = Date.now() + Math.max(PAUSES.longest, this.#took * SHARE);
    this.listener.changed();
  }

  /** What was typed, into the shared text. */
  async #write(): Promise<void> {
    const typed = this.#typed;
    const before = this.#text;
    const { markdown, blocks } = await this.api.serialise(this.front.doc.toJSON(), before);
    if (this.#ended) return;
    const mine = changeSet(editsBetween(before, markdown), before.length);
    const there = mine.map(this.#elsewhere);
    this.#elsewhere = this.#elsewhere.map(mine, true);
    this.#text = markdown;
    this.#blocks = blocks;
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
      const old = await this.parseText();
      const { doc, blocks } = await this.api.parse(target);
      if (this.#ended) return;
      const fresh = Node.fromJSON(this.front.doc.type.schema, doc);
      brought = !this.front.busy && this.#bring(old, fresh);
      if (!brought) return;
      this.#text = target;
      this.#blocks = blocks;
      this.#read = { text: target, doc: fresh };
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
