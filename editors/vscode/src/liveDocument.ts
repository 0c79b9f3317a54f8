/** A document that is open in this editor: its room, the editor's text, and the two kept in step. */

import * as vscode from "vscode";
import * as Y from "yjs";
import { type PlacedHunk, placeHunks, shiftHunks } from "./hunks";
import { type LineChange, Mirror, TYPED } from "./mirror";
import { LineTable, toCodePoints, toPlain, toUnits } from "./positions";
import { Room } from "./room";
import type { FolderServer } from "./server";
import type { Draft, Tab } from "./shapes";
import { mergeTexts } from "./textDiff";
import type { TypingHistory } from "./undoStack";

const AGAIN_MS = 15;

export class LiveDocument implements TypingHistory {
  // There from the moment that `open` is over.
  #room!: Room;
  #mirror!: Mirror;
  #undo!: Y.UndoManager;
  #document: vscode.TextDocument | null = null;
  #bringing: Promise<void> | null = null;
  #closed = false;
  #draft: Draft | undefined;
  #placed: PlacedHunk[] = [];
  readonly #changed = new vscode.EventEmitter<LiveDocument>();
  readonly #typed = new vscode.EventEmitter<LiveDocument>();
  /** The text or the hunks are other ones, or elsewhere. */
  readonly onDidChange = this.#changed.event;
  readonly onDidType = this.#typed.event;

  private constructor(
    readonly server: FolderServer,
    readonly uri: vscode.Uri,
    readonly path: string,
  ) {}

  static async open(server: FolderServer, uri: vscode.Uri, path: string): Promise<LiveDocument> {
    const live = new LiveDocument(server, uri, path);
    await live.#join();
    live.#mirror.begin();
    return live;
  }

  async #join(): Promise<void> {
    this.#room = await Room.join(this.server, this.path, {
      changed: () => this.#mirror && this.#mirror.room === this.#room.doc && void this.bring(),
      renewed: () => void this.#renew(),
      ended: (why) => void vscode.window.showWarningMessage(`Redraft: ${this.path}: ${why}`),
    });
    this.#mirror = new Mirror(this.#room.doc);
    this.#undo = new Y.UndoManager(this.#room.text, { trackedOrigins: new Set([TYPED]) });
  }

  /** The room has begun anew: what was typed and not delivered goes into the new one as a merge of texts. */
  async #renew(): Promise<void> {
    const [before, old] = [this.#room.delivered, this.#mirror.shown];
    const document = this.#document;
    try {
      await this.#join();
    } catch (error) {
      vscode.window.showErrorMessage(`Redraft: ${this.path}: ${(error as Error).message}`);
      return;
    }
    this.#mirror.begin();
    const fresh = toPlain(this.#mirror.shown);
    this.#mirror.type(mergeTexts(toPlain(before), toPlain(old), fresh));
    if (document) this.#mirror.stray(document.getText());
    await this.bring();
  }

  get undo(): Y.UndoManager {
    return this.#undo;
  }

  get text(): Y.Text {
    return this.#room.text;
  }

  /** What the editor shows, every line break one unit long. */
  get shown(): string {
    return toPlain(this.#mirror.shown);
  }

  /** The text for an editor that opens the document, or reads it again: what it shows already, then. */
  read(): string {
    if (!this.#document) this.#mirror.begin();
    return this.#mirror.shown;
  }

  get placed(): readonly PlacedHunk[] {
    return this.#placed;
  }

  get draft(): Draft | undefined {
    return this.#draft;
  }

  /** An editor has opened the document with the text that was read. */
  attach(document: vscode.TextDocument): void {
    this.#document = document;
    const now = document.getText();
    if (toPlain(now) !== this.shown) {
      if (document.isDirty) void this.#keepAside(now);
      this.#mirror.stray(now);
    }
    void this.bring();
  }

  /** The editor has brought back a text of its own: the server's is shown, and the other one is not thrown away. */
  async #keepAside(now: string): Promise<void> {
    const compare = "Compare";
    const told = `Redraft: this editor had kept another text of ${this.path}.`;
    if ((await vscode.window.showWarningMessage(told, compare)) !== compare) return;
    const kept = await vscode.workspace.openTextDocument({ content: now });
    await vscode.commands.executeCommand("vscode.diff", kept.uri, this.uri, `${this.path} (kept ↔ now)`);
  }

  detach(): void {
    this.#document = null;
  }

  get isAttached(): boolean {
    return this.#document !== null;
  }

  /** The editor's text has changed. An undo of the editor's own is led back; returns the direction that it asked for. */
  report(event: vscode.TextDocumentChangeEvent): "undo" | "redo" | null {
    if (event.contentChanges.length === 0) return null;
    if (event.reason !== undefined) {
      this.#mirror.stray(event.document.getText());
      return event.reason === vscode.TextDocumentChangeReason.Undo ? "undo" : "redo";
    }
    const changes = event.contentChanges.map(({ range, text }) => ({ start: range.start, end: range.end, text }));
    const before = this.shown;
    const typed = this.#mirror.report(event.document.getText(), changes);
    this.#move(before, changes);
    if (typed) this.#typed.fire(this);
    this.#changed.fire(this);
    void this.bring();
    return null;
  }

  #move(before: string, changes: readonly LineChange[]): void {
    let text = before;
    for (const { start, end, text: insert } of changes) {
      const table = new LineTable(text);
      const [from, to, words] = [table.offset(start), table.offset(end), toPlain(insert)];
      this.#placed = shiftHunks(this.#placed, from, to, words.length);
      text = text.slice(0, from) + words + text.slice(to);
    }
    this.#place();
  }

  /** The review of the document, as the server tells it; undefined if nothing waits. */
  review(draft: Draft | undefined): void {
    this.#draft = draft;
    this.#place();
    this.#changed.fire(this);
  }

  #place(): void {
    this.#placed = placeHunks(this.#draft?.hunks ?? [], this.shown, this.#placed);
  }

  /** Bring what came from the server into the editor; it is over once the editor shows it. */
  bring(): Promise<void> {
    this.#bringing ??= this.#offer().finally(() => {
      this.#bringing = null;
    });
    return this.#bringing;
  }

  async #offer(): Promise<void> {
    while (this.#document && !this.#closed && !this.#mirror.isCurrent) {
      const changes = this.#mirror.makeOffer();
      if (changes === null) break;
      const edit = new vscode.WorkspaceEdit();
      const edits = changes.map(({ start, end, text }) => vscode.TextEdit.replace(toRange(start, end), text));
      edit.set(this.uri, edits);
      // Refused where the person has typed since: what they typed is reported first, and the next offer is for that.
      if (!(await vscode.workspace.applyEdit(edit))) {
        this.#mirror.withdrawOffer();
        await pause(AGAIN_MS);
      }
    }
    this.#place();
    this.#changed.fire(this);
  }

  /** Make the text this one, as the person's own typing; every line break is one unit long in it. */
  async typeText(fresh: string): Promise<void> {
    this.#mirror.type(fresh);
    await this.bring();
  }

  waitForDelivery(): Promise<boolean> {
    return this.#room.waitForDelivery();
  }

  /** Write what is accepted and what the person typed to the file; what waits for review stays pending. */
  async save(): Promise<void> {
    if (!(await this.waitForDelivery())) throw new Error("The server cannot be reached; what you typed is kept here.");
    const { tab_id } = await this.server.post<Tab>("/api/tabs", { path: this.path });
    await this.server.post(`/api/tabs/${encodeURIComponent(tab_id)}/save`);
  }

  range({ from, to }: { from: number; to: number }): vscode.Range {
    const table = new LineTable(this.shown);
    return toRange(table.place(from) ?? { line: 0, character: 0 }, table.place(to) ?? { line: 0, character: 0 });
  }

  offset(place: vscode.Position): number {
    return new LineTable(this.shown).offset(place);
  }

  lineRange(line: number): vscode.Range {
    return new vscode.Range(line, 0, line, new LineTable(this.shown).line(line).length);
  }

  /** A place as the server counts: in code points of the document's own text. */
  codePoints(place: vscode.Position): number {
    const text = this.#mirror.shown;
    return toCodePoints(text, new LineTable(text).offset(place));
  }

  rangeOfCodePoints(start: number, end: number): vscode.Range {
    const text = this.#mirror.shown;
    const table = new LineTable(text);
    const [from, to] = [table.place(toUnits(text, start)), table.place(toUnits(text, end))];
    return toRange(from ?? { line: 0, character: 0 }, to ?? from ?? { line: 0, character: 0 });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.waitForDelivery();
    this.#room.close();
    this.#undo.destroy();
    this.#changed.dispose();
    this.#typed.dispose();
  }
}

function toRange(start: { line: number; character: number }, end: { line: number; character: number }): vscode.Range {
  return new vscode.Range(start.line, start.character, end.line, end.character);
}

export const pause = (time: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, time));
