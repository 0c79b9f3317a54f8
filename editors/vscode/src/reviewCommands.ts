/** The commands of a review: where it is at, and what the person decides. */

import * as vscode from "vscode";
import type { Act, Folder } from "./folder";
import type { Folders } from "./folders";
import { hunkAt, hunksBetween, isOpen, openHunks, type PlacedHunk } from "./hunks";
import type { HunkRef } from "./lenses";
import type { LiveDocument } from "./liveDocument";
import type { TurnRef } from "./pendingTree";
import { LineTable } from "./positions";
import { compareDocument } from "./quickDiff";
import type { Hunk } from "./shapes";
import { SCHEME, toLive, toTurn } from "./uris";

/** A change as `scm/change/title` gives it: lines from 1; an end of 0 means that there are none. */
interface LineChange {
  modifiedStartLineNumber: number;
  modifiedEndLineNumber: number;
}

/** Run a command, and show why it failed. */
export async function attempt<Result>(act: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await act();
  } catch (error) {
    vscode.window.showErrorMessage(`Redraft: ${(error as Error).message}`);
    return undefined;
  }
}

interface Target {
  folder: Folder;
  path: string;
  hunk: Hunk;
}

class ReviewCommands {
  constructor(readonly folders: Folders) {}

  /** The hunk of a button or, without one, the hunk at the cursor. */
  #target(ref?: HunkRef): Target | null {
    if (ref?.hunk) {
      const folder = this.folders.all.find(({ root }) => root === ref.root);
      return folder ? { folder, path: ref.path, hunk: ref.hunk } : null;
    }
    const front = this.folders.front();
    const shown = front?.live.placed.filter(({ hunk }) => isOpen(hunk)) ?? [];
    const found = front && hunkAt(shown, front.live.offset(front.editor.selection.active));
    return front && found ? { folder: front.folder, path: front.path, hunk: found.hunk } : null;
  }

  async decideHunk(act: Act, ref?: HunkRef): Promise<void> {
    const target = this.#target(ref);
    if (!target) throw new Error("There is no change at the cursor.");
    await target.folder.decideHunk(act, target.path, target.hunk);
  }

  /** What the peek of a changed stretch of lines shows. */
  async decideChange(act: Act, uri: vscode.Uri, changes: readonly LineChange[], index: number): Promise<void> {
    const found = this.folders.known(uri);
    const live = this.folders.live(toLive(uri));
    const change = changes[index];
    if (!found || !live || !change) return;
    const table = new LineTable(live.shown);
    const { modifiedStartLineNumber: first, modifiedEndLineNumber: last } = change;
    const from = table.offset({ line: Math.max(0, first - 1), character: 0 });
    const end =
      last === 0
        ? table.offset({ line: first, character: 0 })
        : table.offset({ line: last - 1, character: Number.MAX_SAFE_INTEGER });
    for (const { hunk } of hunksBetween(
      live.placed.filter(({ hunk: each }) => isOpen(each)),
      from,
      end,
    )) {
      await found.folder.decideHunk(act, found.path, hunk);
    }
  }

  async decideDocument(act: Act, given?: vscode.Uri | { root: string; path: string }): Promise<void> {
    const uri = given instanceof vscode.Uri ? given : vscode.window.activeTextEditor?.document.uri;
    const named = given && !(given instanceof vscode.Uri) && "root" in given ? given : null;
    const folder = named && this.folders.all.find(({ root }) => root === named.root);
    const found = folder && named ? { folder, path: named.path } : uri && this.folders.known(uri);
    if (!found) throw new Error("This document is not open in Redraft.");
    await found.folder.decideDocument(act, found.path);
  }

  async decideTurn(act: Act, { root, turn }: TurnRef): Promise<void> {
    await this.folders.all.find((folder) => folder.root === root)?.decideTurn(act, turn);
  }

  async resolveConflict(ref?: HunkRef): Promise<void> {
    const target = this.#target(ref);
    if (!target) throw new Error("There is no conflict at the cursor.");
    const { folder, path, hunk } = target;
    const sides = [
      {
        label: "$(account) Use yours",
        description: "what is in the document",
        detail: hunk.working,
        text: hunk.working,
      },
      { label: "$(sparkle) Use the agent's", detail: hunk.proposed, text: hunk.proposed },
      { label: "$(history) Use what was there before", detail: hunk.base, text: hunk.base },
    ];
    const chosen = await vscode.window.showQuickPick(sides, {
      placeHolder: "Both changed this place: which text stays?",
    });
    if (chosen) await folder.settle(path, hunk, chosen.text);
  }

  // Going from one to the next, across documents

  async go(forward: boolean): Promise<void> {
    const front = this.folders.front();
    const here = front ? listed(front.live) : [];
    const at = front ? front.live.offset(front.editor.selection.active) : 0;
    const next = forward ? here.find(({ from }) => from > at) : here.findLast(({ from }) => from < at);
    if (front && next) {
      reveal(front.editor, front.live, next);
      return;
    }
    const stops = this.folders.all.flatMap((folder) => folder.drafts.map(({ path }) => ({ folder, path })));
    if (stops.length === 0) throw new Error("Nothing waits for review.");
    const place = stops.findIndex(({ folder, path }) => folder === front?.folder && path === front.path);
    const stop = stops[(place + (forward || place < 0 ? 1 : -1) + stops.length) % stops.length];
    if (stop) await this.#open(stop.folder, stop.path, (placed) => (forward ? placed[0] : placed.at(-1)));
  }

  async show({ root, path, hunk }: HunkRef): Promise<void> {
    const folder = this.folders.all.find((each) => each.root === root);
    if (folder) await this.#open(folder, path, (placed) => placed.find((each) => each.hunk.hunk_id === hunk.hunk_id));
  }

  async #open(folder: Folder, path: string, choose: (placed: PlacedHunk[]) => PlacedHunk | undefined): Promise<void> {
    const document = await vscode.workspace.openTextDocument(folder.uriOf(path));
    const editor = await vscode.window.showTextDocument(document);
    const live = folder.find(path);
    const chosen = live && choose(listed(live));
    if (live && chosen) reveal(editor, live, chosen);
  }

  // Whole turns and documents as diffs

  async compareTurn({ root, turn }: TurnRef): Promise<void> {
    const folder = this.folders.all.find((each) => each.root === root);
    if (!folder) return;
    const found = await folder.server.get<{ turn: { title: string; paths: string[] } }>(`/api/turns/${turn}`);
    const sides = found.turn.paths.map((path) => [
      vscode.Uri.file(`${root}/${path}`),
      toTurn(root, path, turn, "before"),
      toTurn(root, path, turn, "after"),
    ]);
    await vscode.commands.executeCommand("vscode.changes", `Turn ${turn}: ${found.turn.title}`, sides);
  }

  async step(direction: "undo" | "redo"): Promise<void> {
    const front = this.folders.front();
    if (front) await front.folder.step(direction, front.path);
    else await vscode.commands.executeCommand(direction);
  }

  async undoTurn({ root, turn }: TurnRef): Promise<void> {
    await this.folders.all.find((folder) => folder.root === root)?.undoTurn(turn);
  }
}

/** What one can go to, in the order of the text. */
function listed(live: LiveDocument): PlacedHunk[] {
  const open = new Set(live.draft ? openHunks(live.draft).map(({ hunk_id }) => hunk_id) : []);
  return live.placed.filter(({ hunk }) => open.has(hunk.hunk_id));
}

function reveal(editor: vscode.TextEditor, live: LiveDocument, placed: PlacedHunk): void {
  const { start } = live.range({ from: placed.from, to: placed.from });
  editor.selection = new vscode.Selection(start, start);
  editor.revealRange(live.range(placed), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}

export function registerReviewCommands(folders: Folders): vscode.Disposable {
  const commands = new ReviewCommands(folders);
  const register = <Given extends unknown[]>(name: string, act: (...given: Given) => Promise<void>) =>
    vscode.commands.registerCommand(`redraft.${name}`, (...given: Given) => attempt(() => act(...given)));
  const both = (["accept", "reject"] as const).flatMap((act) => [
    register(`${act}Hunk`, (ref?: HunkRef) => commands.decideHunk(act, ref)),
    register(`${act}Change`, (uri: vscode.Uri, changes: LineChange[], index: number) =>
      commands.decideChange(act, uri, changes, index),
    ),
    register(`${act}Document`, (given?: vscode.Uri) => commands.decideDocument(act, given)),
    register(`${act}Turn`, (ref: TurnRef) => commands.decideTurn(act, ref)),
  ]);
  return vscode.Disposable.from(
    ...both,
    register("resolveConflict", (ref?: HunkRef) => commands.resolveConflict(ref)),
    register("nextHunk", () => commands.go(true)),
    register("previousHunk", () => commands.go(false)),
    register("showHunk", (ref: HunkRef) => commands.show(ref)),
    register("compareTurn", (ref: TurnRef) => commands.compareTurn(ref)),
    register("compareDocument", async (given?: vscode.Uri) => {
      const uri = given ?? vscode.window.activeTextEditor?.document.uri;
      if (uri?.scheme === SCHEME) await compareDocument(uri);
    }),
    register("undo", () => commands.step("undo")),
    register("redo", () => commands.step("redo")),
    register("undoTurn", (ref: TurnRef) => commands.undoTurn(ref)),
  );
}
