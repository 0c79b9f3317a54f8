/** Stores in this browser what one document's session could not send yet, and deletes it once it has arrived. */

import type { Session } from "./session";
import { deleteUnsent, readUnsent, storePiece, type Unsent } from "./unsent";

// A reachable server has answered by then, so that most typing is never stored here.
const AFTER_MS = { there: 3000, away: 300 };

/** What of a session is stored: how much was typed by then, in how many pieces, up to which state. */
interface Kept {
  session: Session;
  typed: number;
  pieces: number;
  state: Uint8Array;
}

export class UnsentKeeper {
  #clients = new Set<number>();
  #waiting: ReturnType<typeof setTimeout> | undefined;
  #writing = false;
  #forgetting = false;
  #kept: Kept | null = null;

  constructor(readonly path: string) {}

  /** What is left of earlier pages. */
  async read(): Promise<Unsent[]> {
    try {
      const found = await readUnsent(this.path);
      this.#clients = new Set(found.keys());
      return [...found.values()];
    } catch {
      return []; // a browser without storage for us
    }
  }

  /** Whether everything typed in a session would survive a reload. */
  has(session: Session): boolean {
    return !session.unsynced || (this.#kept?.session === session && this.#kept.typed === session.typed);
  }

  /** Something happened in the session in front. */
  note(session: Session): void {
    if (session.unsynced) this.#keepSoon(session);
    else if (session.synced && !this.#writing) this.forget();
  }

  /** Nothing of it is needed any more. */
  forget(): void {
    clearTimeout(this.#waiting);
    this.#waiting = undefined;
    this.#forgetting = this.#writing;
    if (this.#writing) return; // continue once that is done
    const clients = [...this.#clients];
    this.#clients.clear();
    this.#kept = null;
    for (const client of clients) void deleteUnsent(this.path, client).catch(() => undefined);
  }

  stop(): void {
    clearTimeout(this.#waiting);
  }

  #keepSoon(session: Session): void {
    if (this.#waiting !== undefined && session.synced) return;
    clearTimeout(this.#waiting);
    this.#waiting = setTimeout(() => void this.#keep(session), session.synced ? AFTER_MS.there : AFTER_MS.away);
  }

  async #keep(session: Session): Promise<void> {
    this.#waiting = undefined;
    if (this.#writing || this.has(session)) return;
    const before = this.#kept?.session === session ? this.#kept : null;
    const { typed } = session;
    const { piece, state } = session.unsent(before?.state);
    this.#clients.add(session.doc.clientID);
    this.#writing = true;
    try {
      await storePiece(this.path, session.doc.clientID, before?.pieces ?? 0, piece);
      this.#kept = { session, typed, pieces: (before?.pieces ?? 0) + 1, state };
    } catch {
      return; // no space, or not allowed: the page warns before it is closed
    } finally {
      this.#writing = false;
      if (this.#forgetting) this.forget();
    }
    if (!this.has(session) || !session.unsynced) this.note(session);
  }
}
