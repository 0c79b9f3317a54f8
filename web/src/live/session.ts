/**
 * A replica of one epoch of a document, and its connection.
 *
 * It knows what the server has taken in: after some typing it sends its state as a question, and since a connection
 * keeps its order, the answer says that all that was sent before has arrived.
 */

import * as decoding from "lib0/decoding";
import * as encoding from "lib0/encoding";
import { Awareness } from "y-protocols/awareness";
import { messageYjsSyncStep2, writeSyncStep1 } from "y-protocols/sync";
import { messageSync, WebsocketProvider } from "y-websocket";
import * as Y from "yjs";
import type { Edit } from "./merging";
import type { Piece, Unsent } from "./unsent";

const ASK_AFTER_MS = 120;
const BUSY = 4429;
const TEXT = "text";

/** What the server tells of a document. */
export interface About {
  version: string;
  saved: boolean;
  pending: number;
}

interface SessionEvents {
  changed: (session: Session) => void;
  /** The server has ended the connection for good. */
  ended: (session: Session, code: number) => void;
}

/** A text that the server has, and what became of it here. */
export interface TypedText {
  base: string;
  mine: string;
}

interface Question {
  /** The state when it was asked; null for the question that opens a connection, which says nothing of typing. */
  state: Y.Snapshot | null;
  typed: number;
}

export class Session {
  readonly doc = replica();
  readonly text = this.doc.getText(TEXT);
  readonly awareness = new Awareness(this.doc);
  /** Who makes a change through this object is the person in front; undo takes back nobody else's. */
  readonly own = {};
  readonly undo = new Y.UndoManager(this.text, { trackedOrigins: new Set([this.own]) });
  readonly provider: WebsocketProvider;
  about: About = { version: "", saved: true, pending: 0 };
  /** How often something was typed. */
  typed: number;
  #arrived = 0;
  #kept: Y.Snapshot;
  #questions: Question[] = [];
  #asking: ReturnType<typeof setTimeout> | undefined;

  constructor(
    path: string,
    readonly epoch: string,
    unsent: readonly Unsent[],
    readonly events: SessionEvents,
  ) {
    for (const update of unsent.flatMap(({ updates }) => updates)) Y.applyUpdate(this.doc, update);
    this.typed = unsent.length;
    this.#kept = unsent[0] ? Y.decodeSnapshot(unsent[0].kept) : Y.emptySnapshot;
    const address = `${location.origin.replace(/^http/, "ws")}/api/live`;
    const room = path.split("/").map(encodeURIComponent).join("/");
    this.provider = new WebsocketProvider(address, room, this.doc, {
      awareness: this.awareness,
      params: { epoch },
      disableBc: true, // two windows meet at the server, which keeps what they say
      connect: false,
      shouldReconnect: ({ code }) => code === BUSY || code < 4400 || code >= 4500,
    });
    this.#listen();
    this.provider.connect();
  }

  get synced(): boolean {
    return this.provider.synced;
  }

  /** Whether something was typed that the server is not known to have. */
  get unsynced(): boolean {
    return this.typed > this.#arrived;
  }

  /** What was made here of the text that the server is known to have. */
  typing(): TypedText {
    return typing(this.doc, this.#kept);
  }

  /** What has to be kept here for as long as the server does not have it: all, or what came after a state. */
  unsent(since?: Uint8Array): { piece: Piece; state: Uint8Array } {
    const update = Y.encodeStateAsUpdate(this.doc, since);
    const piece = { epoch: this.epoch, kept: Y.encodeSnapshot(this.#kept), update };
    return { piece, state: Y.encodeStateVector(this.doc) };
  }

  /**
   * Carry out edits of the text, given in its order, as the person's own. Who shows the text besides the source editor
   * has an origin of its own, so that each tells the other's changes from those that it made itself.
   */
  type(edits: readonly Edit[], origin: object = this.own): void {
    this.undo.addTrackedOrigin(origin);
    this.doc.transact(() => {
      for (const { from, to, insert } of edits.toReversed()) {
        if (to > from) this.text.delete(from, to - from);
        if (insert) this.text.insert(from, insert);
      }
    }, origin);
  }

  destroy(): void {
    clearTimeout(this.#asking);
    this.undo.destroy();
    this.provider.destroy();
    this.doc.destroy();
  }

  #listen(): void {
    this.doc.on("update", (_update: Uint8Array, origin: unknown) => {
      if (origin === this.provider) return;
      this.typed += 1;
      this.#askSoon();
      this.events.changed(this);
    });
    const about = this.doc.getMap("about");
    about.observe(() => {
      this.about = { ...this.about, ...(about.toJSON() as Partial<About>) };
      this.events.changed(this);
    });
    const take = this.provider.messageHandlers[messageSync];
    this.provider.messageHandlers[messageSync] = (encoder, decoder, ...rest) => {
      const step = decoding.peekVarUint(decoder);
      take?.(encoder, decoder, ...rest);
      if (step === messageYjsSyncStep2) this.#answered();
    };
    this.provider.on("status", ({ status }) => {
      if (status === "connected") this.#questions = [{ state: null, typed: 0 }];
      else this.#lost();
      this.events.changed(this);
    });
    this.provider.on("sync", () => this.events.changed(this));
    this.provider.on("closed", ({ code }) => this.events.ended(this, code));
  }

  #lost(): void {
    this.#questions = [];
    clearTimeout(this.#asking);
    this.#asking = undefined;
    if (!this.unsynced) this.#kept = Y.snapshot(this.doc);
  }

  #askSoon(): void {
    if (!this.synced || this.#asking !== undefined || this.#questions.length > 0) return;
    this.#asking = setTimeout(() => {
      this.#asking = undefined;
      const { ws, synced } = this.provider;
      if (!ws || !synced) return;
      this.#questions.push({ state: Y.snapshot(this.doc), typed: this.typed });
      const encoder = encoding.createEncoder();
      encoding.writeVarUint(encoder, messageSync);
      writeSyncStep1(encoder, this.doc);
      ws.send(encoding.toUint8Array(encoder));
    }, ASK_AFTER_MS);
  }

  #answered(): void {
    const question = this.#questions.shift();
    if (question?.state) {
      this.#kept = question.state;
      this.#arrived = question.typed;
      this.events.changed(this);
    }
    if (this.unsynced) this.#askSoon();
  }
}

/** What an earlier page typed and could not send. */
export function typedIn(unsent: Unsent): TypedText {
  const doc = replica();
  for (const update of unsent.updates) Y.applyUpdate(doc, update);
  return typing(doc, Y.decodeSnapshot(unsent.kept));
}

// What was deleted is held, so that a text can be told as it was.
function replica(): Y.Doc {
  return new Y.Doc({ gc: false });
}

function typing(doc: Y.Doc, kept: Y.Snapshot): TypedText {
  const base = Y.createDocFromSnapshot(doc, kept, replica()).getText(TEXT).toString();
  return { base, mine: doc.getText(TEXT).toString() };
}
