/**
 * A connection to a document's room: it keeps a replica in step with the server's, and knows what has arrived there.
 *
 * See "Live documents" in docs/server.md for what is said.
 */

import * as decoding from "lib0/decoding";
import * as encoding from "lib0/encoding";
import WebSocket from "ws";
import { messageYjsSyncStep2, readSyncMessage, writeSyncStep1, writeUpdate } from "y-protocols/sync";
import * as Y from "yjs";
import { type FolderServer, Refusal } from "./server";

const SYNC = 0;
const AGAIN_MS = 300;
const DELIVERY_MS = 5000;
const [BAD_FRAME, READ_ONLY, NOT_THERE, OTHER_EPOCH, BUSY, SECRET] = [4400, 4403, 4404, 4409, 4429, 4451];

const WHY: Record<number, string> = {
  [READ_ONLY]: "You can read this document, but not edit it.",
  [NOT_THERE]: "This document no longer exists.",
  [SECRET]: "This file may contain a secret, so its content is hidden.",
};

export interface RoomEvents {
  /** Something came from the server. */
  changed(): void;
  /** The replica cannot go on: a new one has to begin, with what was typed and not delivered. */
  renewed(): void;
  /** The connection has ended for good. */
  ended(why: string): void;
}

export class Room {
  readonly doc = new Y.Doc();
  readonly text = this.doc.getText("text");
  readonly #about = this.doc.getMap("about");
  #socket: WebSocket | null = null;
  #synced = false;
  #closed = false;
  #waiting: { answered: () => void; sent: boolean }[] = [];
  /** The text that the server is known to have. */
  #delivered = "";

  private constructor(
    readonly server: FolderServer,
    readonly path: string,
    readonly epoch: string,
    readonly events: RoomEvents,
  ) {
    this.doc.on("update", (update: Uint8Array, origin: unknown) => {
      if (origin === this) events.changed();
      else this.#send((encoder) => writeUpdate(encoder, update));
    });
  }

  /** Join the room, and wait until its text is here. */
  static async join(server: FolderServer, path: string, events: RoomEvents): Promise<Room> {
    const { epoch } = await server.get<{ epoch: string }>("/api/live", { path });
    const room = new Room(server, path, epoch, events);
    await new Promise<void>((resolve, reject) => {
      room.#waiting.push({ answered: resolve, sent: false });
      room.#connect(reject);
    });
    return room;
  }

  /** Whether saving would change nothing. */
  get isSaved(): boolean {
    return this.#about.get("saved") !== false;
  }

  /** The text that the server had when it last said that it has everything. */
  get delivered(): string {
    return this.#delivered;
  }

  /** Wait until the server has stored everything typed so far; returns whether it has. */
  waitForDelivery(): Promise<boolean> {
    return new Promise((resolve) => {
      const late = setTimeout(() => resolve(false), DELIVERY_MS);
      this.#waiting.push({
        answered: () => {
          clearTimeout(late);
          resolve(true);
        },
        sent: this.#ask(),
      });
    });
  }

  close(): void {
    this.#closed = true;
    this.#socket?.close();
  }

  #connect(failed: (error: Error) => void = () => {}): void {
    const socket = new WebSocket(this.server.roomUrl(this.path, this.epoch), { headers: this.server.headers });
    this.#socket = socket;
    socket.binaryType = "arraybuffer";
    socket.on("open", () => {
      this.#synced = true;
      for (const each of this.#waiting) each.sent = this.#ask();
      if (this.#waiting.length === 0) this.#waiting.push({ answered: () => {}, sent: this.#ask() });
    });
    socket.on("message", (data: ArrayBuffer) => this.#take(new Uint8Array(data)));
    socket.on("error", () => {}); // "close" follows
    socket.on("close", (code) => {
      this.#synced = false;
      for (const each of this.#waiting) each.sent = false;
      if (this.#closed) return;
      const why = WHY[code];
      if (why !== undefined) {
        this.#closed = true;
        failed(new Refusal(404, "not_found", why));
        this.events.ended(why);
      } else if (code === OTHER_EPOCH || code === BAD_FRAME) {
        this.#closed = true;
        failed(new Refusal(409, "conflict", "The document has begun anew."));
        this.events.renewed();
      } else this.#connectAgain(code);
    });
  }

  #connectAgain(code: number): void {
    setTimeout(
      async () => {
        if (this.#closed) return;
        try {
          // A server that was started again may listen elsewhere, and may have begun a new epoch.
          const { epoch } = await this.server.get<{ epoch: string }>("/api/live", { path: this.path });
          if (epoch === this.epoch) this.#connect();
          else {
            this.#closed = true;
            this.events.renewed();
          }
        } catch {
          this.#connectAgain(code);
        }
      },
      code === BUSY ? 10 * AGAIN_MS : AGAIN_MS,
    );
  }

  #take(data: Uint8Array): void {
    const decoder = decoding.createDecoder(data);
    if (decoding.readVarUint(decoder) !== SYNC) return;
    const answer = encoding.createEncoder();
    encoding.writeVarUint(answer, SYNC);
    const kind = readSyncMessage(decoder, answer, this.doc, this);
    if (encoding.length(answer) > 1) this.#socket?.send(encoding.toUint8Array(answer));
    if (kind === messageYjsSyncStep2) this.#answered();
  }

  /** What was asked before this is answered, in order; the rest is asked again on the next connection. */
  #answered(): void {
    this.#delivered = this.text.toString();
    const at = this.#waiting.findIndex(({ sent }) => sent);
    if (at >= 0) this.#waiting.splice(at, 1)[0]?.answered();
  }

  #ask(): boolean {
    return this.#send((encoder) => writeSyncStep1(encoder, this.doc));
  }

  #send(write: (encoder: encoding.Encoder) => void): boolean {
    if (!this.#synced || this.#socket?.readyState !== WebSocket.OPEN) return false;
    const encoder = encoding.createEncoder();
    encoding.writeVarUint(encoder, SYNC);
    write(encoder);
    this.#socket.send(encoding.toUint8Array(encoder));
    return true;
  }
}
