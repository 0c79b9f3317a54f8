/** A folder whose server this editor has joined: its open documents, its review, and decisions about it. */

import * as vscode from "vscode";
import { findAgain, isOpen, openHunks } from "./hunks";
import { LiveDocument } from "./liveDocument";
import { toUnits } from "./positions";
import { FolderServer, type Refusal } from "./server";
import type { Decided, Draft, FolderChange, Hunk, TakenBack } from "./shapes";
import { type Direction, forgetTypedOver, UndoStack } from "./undoStack";
import { pathIn, toLive } from "./uris";

export type Act = "accept" | "reject";

/** How long a closed document is kept: a change of its language closes and opens it. */
const KEEP_MS = 1500;
/** Changes come in groups. */
const GATHER_MS = 20;

export class Folder {
  readonly #live = new Map<string, Promise<LiveDocument>>();
  readonly #opened = new Map<string, LiveDocument>();
  #drafts = new Map<string, Draft>();
  readonly #reviewed = new vscode.EventEmitter<Folder>();
  readonly #changes = new vscode.EventEmitter<FolderChange>();
  readonly onDidReview = this.#reviewed.event;
  /** What happened in the folder, as the server tells it. */
  readonly onDidChange = this.#changes.event;
  readonly undo = new UndoStack((path) => this.#opened.get(path));
  #last: Promise<unknown> = Promise.resolve();
  #asked = new Set<string | null>();
  #asking: ReturnType<typeof setTimeout> | undefined;

  private constructor(
    readonly root: string,
    readonly server: FolderServer,
  ) {
    server.listen(
      "/api/changes/stream",
      (event) => this.#heard(event as FolderChange),
      () => this.#askReview(null),
    );
  }

  static async join(root: string, program: string): Promise<Folder> {
    const folder = new Folder(root, await FolderServer.join(root, program));
    await folder.#readReview(null);
    return folder;
  }

  pathOf(uri: vscode.Uri): string | null {
    return pathIn(this.root, uri);
  }

  uriOf(path: string): vscode.Uri {
    return toLive(vscode.Uri.file(`${this.root}/${path}`));
  }

  // Documents

  find(path: string): LiveDocument | undefined {
    return this.#opened.get(path);
  }

  get documents(): LiveDocument[] {
    return [...this.#opened.values()];
  }

  /** A document, joined if it is not yet. */
  open(path: string): Promise<LiveDocument> {
    const known = this.#live.get(path);
    if (known) return known;
    const opening = LiveDocument.open(this.server, this.uriOf(path), path).then((live) => {
      this.#opened.set(path, live);
      live.onDidType(() => this.undo.noteTyping(live));
      live.review(this.#drafts.get(path));
      return live;
    });
    this.#live.set(path, opening);
    opening.catch(() => this.#live.delete(path));
    return opening;
  }

  /** The editor has closed it. */
  leave(live: LiveDocument): void {
    live.detach();
    setTimeout(() => {
      if (live.isAttached || this.#opened.get(live.path) !== live) return;
      this.#opened.delete(live.path);
      this.#live.delete(live.path);
      void live.close();
    }, KEEP_MS);
  }

  // The review

  get drafts(): Draft[] {
    return [...this.#drafts.values()].filter((draft) => openHunks(draft).length > 0);
  }

  draft(path: string): Draft | undefined {
    return this.#drafts.get(path);
  }

  #heard(event: FolderChange): void {
    this.#changes.fire(event);
    if (event.kind === "review" || event.kind === "document") this.#askReview(event.path ?? null);
    else if (event.kind === "all" || event.kind === "tree") this.#askReview(null);
  }

  #askReview(path: string | null): void {
    this.#asked.add(path);
    this.#asking ??= setTimeout(() => {
      this.#asking = undefined;
      const asked = this.#asked;
      this.#asked = new Set();
      const paths = asked.has(null) ? [null] : [...asked];
      void Promise.all(paths.map((each) => this.#readReview(each))).catch(() => {}); // the stream says when it is back
    }, GATHER_MS);
  }

  /** Read what waits, in one document or in all of them. */
  async #readReview(path: string | null): Promise<void> {
    const query = path === null ? {} : { path };
    const found = await this.server
      .get<{ documents: Draft[] }>("/api/review", query)
      .catch((error: Refusal) =>
        error.status === 404 || error.status === 415 ? { documents: [] } : Promise.reject(error),
      );
    if (path === null) this.#drafts = new Map();
    else this.#drafts.delete(path);
    for (const draft of found.documents) this.#drafts.set(draft.path, draft);
    for (const live of this.#opened.values()) {
      if (path === null || live.path === path) live.review(this.#drafts.get(live.path));
    }
    this.#reviewed.fire(this);
  }

  // Deciding

  /** One thing after the other: what is decided next may depend on it. */
  #enqueue<Result>(act: () => Promise<Result>): Promise<Result> {
    const next = this.#last.then(act, act);
    this.#last = next.catch(() => {});
    return next;
  }

  async #deliver(paths: readonly string[]): Promise<void> {
    const done = await Promise.all(paths.map((path) => this.#opened.get(path)?.waitForDelivery() ?? true));
    if (!done.every(Boolean)) throw new Error("The server cannot be reached. Try again when it is back.");
  }

  decideHunk(act: Act, path: string, shown: Hunk): Promise<void> {
    return this.#enqueue(async () => {
      await this.#deliver([path]);
      await this.#readReview(path);
      const draft = this.#drafts.get(path);
      const hunk = findAgain(shown, draft);
      if (!draft || !hunk) throw new Error("This change is no longer what you saw. Look again.");
      if (hunk.conflict && act === "accept") throw new Error("Both changed this place: resolve it first.");
      // There is nothing of an agent's to reject: rejecting would remove the person's own words.
      const own = hunk.conflict && hunk.author !== "agent" && hunk.author !== "mixed";
      if (own) await this.#settle(path, hunk, hunk.working);
      else await this.#decide(act, [path], { hunks: { [path]: [hunk.hunk_id] } }, [draft], [hunk]);
    });
  }

  /** Everything that waits in a document, but for conflicts, where nobody has chosen a side yet. */
  decideDocument(act: Act, path: string): Promise<void> {
    return this.#enqueue(async () => {
      await this.#deliver([path]);
      await this.#readReview(path);
      const draft = this.#drafts.get(path);
      const hunks = draft ? openHunks(draft).filter(({ conflict }) => !conflict) : [];
      if (!draft || hunks.length === 0) throw new Error("There is nothing to decide here, or the rest is in conflict.");
      const chosen = { hunks: { [path]: hunks.map(({ hunk_id }) => hunk_id) } };
      await this.#decide(act, [path], chosen, [draft], hunks);
    });
  }

  decideTurn(act: Act, turn: number): Promise<void> {
    return this.#enqueue(async () => {
      const paths = this.drafts.filter(({ hunks }) => hunks.some((hunk) => hunk.turn === turn)).map(({ path }) => path);
      await this.#deliver(paths);
      await this.#readReview(null);
      const drafts = this.drafts.filter(({ hunks }) => hunks.some((hunk) => hunk.turn === turn));
      const hunks = drafts.flatMap(openHunks).filter((hunk) => hunk.turn === turn);
      await this.#decide(
        act,
        drafts.map(({ path }) => path),
        { turn },
        drafts,
        hunks,
      );
    });
  }

  /** Choose a text where two changed the same place. */
  settle(path: string, shown: Hunk, text: string): Promise<void> {
    return this.#enqueue(async () => {
      await this.#deliver([path]);
      await this.#readReview(path);
      const hunk = findAgain(shown, this.#drafts.get(path));
      if (!hunk) throw new Error("This change is no longer what you saw. Look again.");
      await this.#settle(path, hunk, text);
    });
  }

  async #settle(path: string, hunk: Hunk, text: string): Promise<void> {
    this.#forget([path], [hunk]);
    const body = { path, hunk_id: hunk.hunk_id, text };
    const { turn } = await this.server.post<Decided>("/api/review/hunk/settle", body);
    if (turn) this.undo.noteDecision(turn.turn, [path]);
    await this.#readReview(path);
  }

  async #decide(
    act: Act,
    paths: readonly string[],
    choice: { hunks: Record<string, string[]> } | { turn: number },
    drafts: readonly Draft[],
    hunks: readonly Hunk[],
  ): Promise<void> {
    if (act === "reject") this.#forget(paths, hunks);
    const hashes = drafts.flatMap(({ path, base_file_hash }) => (base_file_hash ? [[path, base_file_hash]] : []));
    // Whoever looks at the review sees it merged with the file's present text, and decides again: nothing is retried.
    const body = { ...choice, rerun: false, base_file_hashes: Object.fromEntries(hashes) };
    try {
      const { turn } = await this.server.post<Decided>(`/api/review/${act}`, body);
      if (turn) this.undo.noteDecision(turn.turn, paths);
    } finally {
      await Promise.all(paths.map((path) => this.#readReview(path)));
    }
  }

  /** What was typed over in hunks whose words change now can no longer be undone. */
  #forget(paths: readonly string[], hunks: readonly Hunk[]): void {
    for (const path of paths) {
      const live = this.#opened.get(path);
      const draft = this.#drafts.get(path);
      if (!live || !draft) continue;
      const text = live.text.toString();
      for (const hunk of draft.hunks.filter(
        (each) => isOpen(each) && hunks.some(({ hunk_id }) => hunk_id === each.hunk_id),
      )) {
        const from = toUnits(text, hunk.working_at);
        forgetTypedOver(live.undo, live.text, from, from + hunk.working.length);
      }
    }
  }

  /** Take back, or bring back, what was done last in a document: typing, or a decision. */
  step(direction: Direction, path: string): Promise<void> {
    return this.#enqueue(async () => {
      const live = this.#opened.get(path);
      const decision = this.undo.step(direction, path);
      if (decision) {
        await this.#deliver(decision.paths);
        const turn = await this.undoTurn(decision.turn);
        if (turn !== null) this.undo.noteReversed(direction, turn, decision.paths);
      }
      await live?.bring();
    });
  }

  /** Undo a turn, and keep everything after it; returns the turn that did it. */
  async undoTurn(turn: number): Promise<number | null> {
    const { turn: done, conflicts } = await this.server.post<TakenBack>("/api/turns/undo", { turn });
    const [clash] = conflicts;
    if (clash) throw new Error(`${clash.path}: ${clash.reason}`);
    await this.#readReview(null);
    return done?.turn ?? null;
  }

  async close(): Promise<void> {
    await Promise.all(this.documents.map((live) => live.close().catch(() => {})));
    this.server.close();
    this.#reviewed.dispose();
    this.#changes.dispose();
  }
}
