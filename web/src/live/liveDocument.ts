/**
 * One open document in this window: its session, what is known about it, and what is not sent yet.
 *
 * A document may start a new epoch, which no older replica can join. Then a new session is started, unsent typing is
 * put into its text, and only then does it replace the old one: `generation` counts that. A moved document keeps its
 * session: it is the same replica in another room.
 */

import { Failure, server, UNREACHABLE, unwrap } from "@/api/client";
import { refetch, tabsQuery } from "@/api/queries";
import { type About, readUnsentTyped, Session } from "./session";
import { mergeInto } from "./textMerge";
import { UnsentKeeper } from "./unsentKeeper";

export type LiveStatus = "connecting" | "live" | "offline" | "gone";

export interface LiveView {
  status: LiveStatus;
  /** Whether something typed here has not reached the server yet. */
  unsynced: boolean;
  about: About;
  generation: number;
  /** Why there is nothing to show, or nothing new. */
  problem: string;
  /** Whether that is because it may contain a secret, which its owner can open. */
  secret: boolean;
}

const PAUSE_MS = 1000;
const TELL_AFTER_MS = 100;
// A missing document may have been moved, which is reported elsewhere; ask again after a while.
const MOVED_MS = 1000;
const [READ_ONLY, NOT_THERE, SECRET] = [4403, 4404, 4451];
const NOTHING: About = { version: "", saved: true, pending: 0, arrivals: 0 };

export class LiveDocument {
  #session: Session | null = null;
  #coming: Session | null = null;
  /** Typing of earlier pages, from an epoch that has ended. */
  #carried: { base: string; mine: string }[] = [];
  #keeping: UnsentKeeper;
  #listeners = new Set<() => void>();
  #view: LiveView = {
    status: "connecting",
    unsynced: false,
    about: NOTHING,
    generation: 0,
    problem: "",
    secret: false,
  };
  #generation = 0;
  #problem = "";
  #gone = false;
  #secret = false;
  #ended = false;
  #telling: ReturnType<typeof setTimeout> | undefined;
  #leaving: ReturnType<typeof setTimeout> | undefined;
  /** What is stored under the document's earlier names, until it is where it belongs. */
  #keptBefore: UnsentKeeper[] = [];
  #path: string;
  /** Whether typing left by earlier pages was looked up. */
  #read = false;
  /** How often a room was requested, and whether that continues. */
  #joins = 0;
  #joining = false;

  /** `left` is called whenever the last subscriber is gone. */
  constructor(
    path: string,
    readonly left: (document: LiveDocument) => void = () => undefined,
  ) {
    this.#path = path;
    this.#keeping = new UnsentKeeper(path);
    void this.#join();
  }

  get path(): string {
    return this.#path;
  }

  /** Whether it is shown somewhere. */
  get watched(): boolean {
    return this.#listeners.size > 0;
  }

  /** The session whose text is shown; null until there is one. */
  get session(): Session | null {
    return this.#session;
  }

  /** Whether closing the page now would lose something. */
  get wouldLose(): boolean {
    return this.#session !== null && !this.#keeping.has(this.#session);
  }

  readonly view = (): LiveView => this.#view;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      if (!this.watched) this.left(this);
    };
  };

  /** The document's new name: the same replica continues in the room of that name. */
  moveTo(to: string): void {
    this.#path = to;
    this.#keptBefore.push(this.#keeping);
    this.#keeping = new UnsentKeeper(to);
    clearTimeout(this.#leaving);
    this.#gone = false;
    this.#problem = "";
    this.#coming?.destroy();
    this.#coming = null;
    void this.#join(true);
    this.#tell();
  }

  /** Request a withheld document again. */
  retry(): void {
    if (!this.#gone) return;
    this.#gone = this.#secret = false;
    this.#problem = "";
    this.#coming?.destroy();
    this.#coming = null;
    void this.#join();
    this.#tell();
  }

  /** Wait until the server has everything typed so far, with a timeout; returns whether it has. */
  async waitForDelivery(patience = 3000): Promise<boolean> {
    const until = performance.now() + patience;
    while (this.#session?.unsynced && performance.now() < until) await pause(15);
    return !this.#session?.unsynced;
  }

  destroy(): void {
    this.#ended = true;
    for (const keeping of [this.#keeping, ...this.#keptBefore]) keeping.stop();
    clearTimeout(this.#telling);
    clearTimeout(this.#leaving);
    this.#session?.destroy();
    this.#coming?.destroy();
    this.#listeners.clear();
  }

  async #join(moved = false): Promise<void> {
    this.#joins += 1;
    const join = this.#joins;
    this.#joining = true;
    const stored = this.#read ? [] : await Promise.all([this.#keeping, ...this.#keptBefore].map((each) => each.read()));
    const epoch = await this.#ask(join);
    if (join !== this.#joins) return; // another one has started since
    this.#joining = false;
    if (epoch === null || this.#ended) return;
    this.#read = true;
    const unsent = stored.flat();
    if (moved && unsent.length === 0 && this.#session?.epoch === epoch) {
      this.#session.moveTo(this.#path);
      return;
    }
    const current = unsent.filter((each) => each.epoch === epoch);
    for (const each of unsent) if (each.epoch !== epoch) this.#carried.push(readUnsentTyped(each));
    this.#coming = new Session(this.#path, epoch, current, {
      changed: (session) => this.#changed(session),
      ended: (session, code) => this.#over(session, code),
    });
  }

  /** The epoch to join, requested until there is an answer; null if the answer is that there is none. */
  async #ask(join: number): Promise<string | null> {
    while (!this.#ended && join === this.#joins) {
      try {
        return (await unwrap(server.GET("/api/live", { params: { query: { path: this.#path } } }))).epoch;
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        if (join !== this.#joins) return null;
        if (error.code !== UNREACHABLE && error.status < 500 && error.status !== 429) {
          this.#secret = error.code === "secret";
          this.#leave(this.#secret ? error.message : error.sentence);
          return null;
        }
        this.#problem = error.sentence;
        this.#tell();
        await pause(PAUSE_MS);
      }
    }
    return null;
  }

  #over(session: Session, code: number): void {
    if (session !== this.#session && session !== this.#coming) return;
    if (code === NOT_THERE) this.#leaveSoon(session);
    else if (code === SECRET) {
      this.#secret = true;
      this.#leave("This file may contain a secret, so its content is hidden.");
    } else if (code === READ_ONLY) this.#leave("You can read this document, but not edit it.");
    else {
      // Another epoch, or the server refused something in this replica: start a new one from the server's text.
      if (session === this.#coming) session.destroy();
      this.#coming = null;
      setTimeout(() => void this.#join(), session === this.#session ? 0 : PAUSE_MS);
    }
  }

  /** Unless another room is requested, or will be in a moment: whoever joins that is told by it. */
  #leaveSoon(session: Session): void {
    clearTimeout(this.#leaving);
    if (this.#joining) return;
    const joins = this.#joins;
    this.#leaving = setTimeout(async () => {
      await refetch({ queryKey: tabsQuery.queryKey });
      if (joins === this.#joins && (session === this.#session ? !session.synced : session === this.#coming))
        this.#leave("This document no longer exists.");
    }, MOVED_MS);
  }

  #leave(problem: string): void {
    this.#problem = problem;
    this.#gone = true;
    this.#tell();
  }

  #changed(session: Session): void {
    if (this.#ended) return;
    if (session === this.#coming && session.synced) this.#takeOver(session);
    if (session === this.#session) this.#keeping.note(session);
    if (session === this.#session && session.synced && !session.unsynced && !this.#joining) {
      for (const before of this.#keptBefore.splice(0)) before.forget();
    }
    this.#tell();
  }

  /** A session has the text of its epoch: add what is not in it yet, and show it from now on. */
  #takeOver(next: Session): void {
    const before = this.#session;
    const typed = before?.unsynced ? [...this.#carried, before.readTyped()] : this.#carried;
    this.#coming = null;
    this.#carried = [];
    this.#session = next;
    this.#generation += 1;
    this.#problem = "";
    for (const { base, mine } of typed) next.type(mergeInto(base, mine, next.text.toString()));
    // Deferred, since the editor still shows the old text until it is told about the new one.
    if (before) setTimeout(() => before.destroy());
  }

  /** Notify at once about what is urgent; about the rest in a moment, so that no key waits for it. */
  #tell(): void {
    const { status, generation, problem } = this.#now();
    const old = this.#view;
    if (status !== old.status || generation !== old.generation || problem !== old.problem) this.#tellNow();
    else this.#telling ??= setTimeout(() => this.#tellNow(), TELL_AFTER_MS);
  }

  #tellNow(): void {
    clearTimeout(this.#telling);
    this.#telling = undefined;
    const next = this.#now();
    const keys = Object.keys(next) as (keyof LiveView)[];
    if (keys.every((key) => next[key] === this.#view[key])) return;
    this.#view = next;
    for (const listener of this.#listeners) listener();
  }

  #now(): LiveView {
    const session = this.#session;
    return {
      status: this.#gone ? "gone" : session?.synced ? "live" : session ? "offline" : "connecting",
      unsynced: session?.unsynced ?? false,
      about: session?.about ?? NOTHING,
      generation: this.#generation,
      problem: this.#problem,
      secret: this.#secret,
    };
  }
}

function pause(time: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, time));
}
