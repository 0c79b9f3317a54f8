/**
 * A replica of one epoch of a document, and its connection.
 *
 * It knows what the server has received: after some typing it sends its state as a query, and since a connection keeps
 * its order, the answer means that everything sent before has arrived.
 */

import * as decoding from "lib0/decoding";
import * as encoding from "lib0/encoding";
import { Awareness } from "y-protocols/awareness";
import { messageYjsSyncStep2, writeSyncStep1 } from "y-protocols/sync";
import { messageSync, WebsocketProvider } from "y-websocket";
import * as Y from "yjs";
import type { Edit } from "./textMerge";
import { createStretch, forgetTypedOver, type Stretch } from "./undoPast";
import type { Piece, Unsent } from "./unsent";

export type { Stretch };

const ASK_AFTER_MS = 120;
const BUSY = 4429;
const EDITOR = 100;
const TEXT = "text";

/** What the server reports about a document. */
export interface About {
  version: string;
  saved: boolean;
  pending: number;
  /** How often anything arrived from the server: a text may change and be the same again, version and all. */
  arrivals: number;
}

interface SessionEvents {
  changed: (session: Session) => void;
  /** The server has ended the connection for good. */
  ended: (session: Session, code: number) => void;
}

/** A subscriber to one kind of server message; it is also notified whenever the connection is back. */
export interface MessageListener {
  heard: (message: string) => void;
  joined: () => void;
}

/** A text that the server has, and what it became here. */
export interface TypedText {
  base: string;
  mine: string;
}

interface Question {
  /** The state when it was asked; null for the query that opens a connection, which says nothing about typing. */
  state: Y.Snapshot | null;
  typed: number;
}

export class Session {
  readonly doc = createReplica();
  readonly text = this.doc.getText(TEXT);
  readonly awareness = new Awareness(this.doc);
  /** Changes made with this origin are the person's own; undo reverts nobody else's. */
  readonly own = {};
  readonly undo = new Y.UndoManager(this.text, { trackedOrigins: new Set([this.own]) });
  hearer: MessageListener | null = null;
  #provider: WebsocketProvider;
  about: About = { version: "", saved: true, pending: 0, arrivals: 0 };
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
    this.#listen();
    this.#provider = this.#connected(path);
  }

  /** Continue where the document is now. */
  moveTo(path: string): void {
    this.#provider.destroy();
    this.#lost();
    this.#provider = this.#connected(path);
  }

  /** Connected to the room of a path. */
  #connected(path: string): WebsocketProvider {
    const address = `${location.origin.replace(/^http/, "ws")}/api/live`;
    const room = path.split("/").map(encodeURIComponent).join("/");
    const provider = new WebsocketProvider(address, room, this.doc, {
      awareness: this.awareness,
      params: { epoch: this.epoch },
      disableBc: true, // two windows meet at the server, which stores what they send
      connect: false,
      shouldReconnect: ({ code }) => code === BUSY || code < 4400 || code >= 4500,
    });
    const take = provider.messageHandlers[messageSync];
    provider.messageHandlers[messageSync] = (encoder, decoder, ...rest) => {
      const step = decoding.peekVarUint(decoder);
      take?.(encoder, decoder, ...rest);
      if (step === messageYjsSyncStep2) this.#answered();
    };
    provider.messageHandlers[EDITOR] = (_encoder, decoder) => this.hearer?.heard(decoding.readVarString(decoder));
    // Messages of an earlier connection are obsolete.
    const now = (act: () => void) => {
      if (provider === this.#provider) act();
    };
    provider.on("status", ({ status }) =>
      now(() => {
        if (status === "connected") this.#questions = [{ state: null, typed: 0 }];
        else this.#lost();
        this.events.changed(this);
      }),
    );
    provider.on("sync", (synced: boolean) =>
      now(() => {
        this.events.changed(this);
        if (synced) this.hearer?.joined();
      }),
    );
    provider.on("closed", ({ code }) => now(() => this.events.ended(this, code)));
    provider.connect();
    return provider;
  }

  get synced(): boolean {
    return this.#provider.synced;
  }

  /** Whether something was typed that the server is not known to have. */
  get unsynced(): boolean {
    return this.typed > this.#arrived;
  }

  /** What was made here of the text that the server is known to have. */
  readTyped(): TypedText {
    return diffTyped(this.doc, this.#kept);
  }

  /** What has to be stored here as long as the server does not have it: everything, or what came after a state. */
  unsent(since?: Uint8Array): { piece: Piece; state: Uint8Array } {
    const update = Y.encodeStateAsUpdate(this.doc, since);
    const piece = { epoch: this.epoch, kept: Y.encodeSnapshot(this.#kept), update };
    return { piece, state: Y.encodeStateVector(this.doc) };
  }

  /**
   * Apply edits of the text, given in order, as the person's own. Each view besides the source editor has an origin of
   * its own, so that each can tell the other's changes from its own.
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

  /** A range of the text, which stays the same range however its words change. */
  stretch(from: number, to: number): Stretch {
    return createStretch(this.text, from, to);
  }

  /** A decision changes the words of a range: what was typed over there before can no longer be undone. */
  forgetTypedOver(stretch: Stretch): void {
    forgetTypedOver(this.undo, this.text, stretch);
  }

  /** Send the server another message; if it is unreachable, subscribers can resend it when it is back. */
  say(message: string): void {
    const encoder = encoding.createEncoder();
    encoding.writeVarUint(encoder, EDITOR);
    encoding.writeVarString(encoder, message);
    this.#send(encoder);
  }

  destroy(): void {
    clearTimeout(this.#asking);
    this.undo.destroy();
    this.#provider.destroy();
    this.doc.destroy();
  }

  #listen(): void {
    // Before the first key the server has everything. Once a connection is lost it is too late to ask: keys may have
    // been typed before anybody noticed.
    this.doc.on("beforeTransaction", ({ origin }: Y.Transaction) => {
      if (origin !== this.#provider && !this.unsynced) this.#kept = Y.snapshot(this.doc);
    });
    this.doc.on("update", (_update: Uint8Array, origin: unknown) => {
      if (origin === this.#provider) {
        this.about = { ...this.about, arrivals: this.about.arrivals + 1 };
      } else {
        this.typed += 1;
        this.#askSoon();
      }
      this.events.changed(this);
    });
    const about = this.doc.getMap("about");
    about.observe(() => {
      this.about = { ...this.about, ...(about.toJSON() as Partial<About>) };
      this.events.changed(this);
    });
  }

  #lost(): void {
    this.#questions = [];
    clearTimeout(this.#asking);
    this.#asking = undefined;
  }

  #askSoon(): void {
    if (!this.synced || this.#asking !== undefined || this.#questions.length > 0) return;
    this.#asking = setTimeout(() => {
      this.#asking = undefined;
      const encoder = encoding.createEncoder();
      encoding.writeVarUint(encoder, messageSync);
      writeSyncStep1(encoder, this.doc);
      if (this.#send(encoder)) this.#questions.push({ state: Y.snapshot(this.doc), typed: this.typed });
    }, ASK_AFTER_MS);
  }

  /** Send it, if there is a connection; returns whether there is. */
  #send(encoder: encoding.Encoder): boolean {
    const { ws, synced } = this.#provider;
    if (!synced || ws?.readyState !== WebSocket.OPEN) return false;
    ws.send(encoding.toUint8Array(encoder));
    return true;
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
export function readUnsentTyped(unsent: Unsent): TypedText {
  const doc = createReplica();
  for (const update of unsent.updates) Y.applyUpdate(doc, update);
  return diffTyped(doc, Y.decodeSnapshot(unsent.kept));
}

// Deleted content is retained, so that earlier texts can be restored.
function createReplica(): Y.Doc {
  return new Y.Doc({ gc: false });
}

function diffTyped(doc: Y.Doc, kept: Y.Snapshot): TypedText {
  const base = Y.createDocFromSnapshot(doc, kept, createReplica()).getText(TEXT).toString();
  return { base, mine: doc.getText(TEXT).toString() };
}
