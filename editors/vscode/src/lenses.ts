/** The buttons above each change: accept, reject, and the next one. */

import * as vscode from "vscode";
import type { Folders } from "./folders";
import { describeHunk, describeLabels, isOpen, isWhole, openHunks, type PlacedHunk } from "./hunks";
import type { LiveDocument } from "./liveDocument";
import type { Draft, Hunk } from "./shapes";
import { SCHEME } from "./uris";

/** What the commands of a hunk are given. */
export interface HunkRef {
  path: string;
  root: string;
  hunk: Hunk;
}

const WHOLE = { created: "this new document", moved: "the move", deleted: "the deletion", modified: "" } as const;
const MAX_NAME = 28;

export class HunkLenses implements vscode.CodeLensProvider {
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.#changed.event;
  readonly #heard = new WeakSet<LiveDocument>();

  constructor(readonly folders: Folders) {
    folders.onDidReview(() => this.#changed.fire());
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const found = this.folders.known(document.uri);
    const live = this.folders.live(document.uri);
    if (!found || !live) return [];
    if (!this.#heard.has(live)) {
      this.#heard.add(live);
      live.onDidChange(() => this.#changed.fire());
    }
    const shown = live.placed.filter(({ hunk }) => isOpen(hunk));
    const whole = shown.filter(({ hunk }) => isWhole(hunk));
    const listed = whole.some(({ hunk }) => hunk.kind === "created") ? whole : shown;
    const starts = listed.map(({ from }) => live.lineRange(live.range({ from, to: from }).start.line));
    return listed.flatMap((placed, at) => {
      const range = starts[at] ?? new vscode.Range(0, 0, 0, 0);
      const beside = starts.filter(({ start }) => start.line === range.start.line).length > 1;
      const isLast = starts[at + 1]?.start.line !== range.start.line;
      const ref: HunkRef = { path: found.path, root: found.folder.root, hunk: placed.hunk };
      const next = { title: `Next (${at + 1} of ${listed.length})`, command: "redraft.nextHunk" };
      const commands = [...commandsOf(placed, ref, beside), ...(isLast && listed.length > 1 ? [next] : [])];
      return commands.map((command) => new vscode.CodeLens(range, command));
    });
  }
}

/** `beside` says that the line has other changes, too: then each is named. */
function commandsOf({ hunk }: PlacedHunk, ref: HunkRef, beside: boolean): vscode.Command[] {
  const what = WHOLE[hunk.kind as Draft["kind"]] || (beside ? `“${describeHunk(hunk, MAX_NAME)}”` : "");
  const labels = describeLabels(hunk);
  const about = [hunk.turn === null ? "" : `Turn ${hunk.turn}`, labels, hunk.warning ?? ""];
  const tooltip = about.filter(Boolean).join(", ");
  const command = (title: string, name: string): vscode.Command => ({
    title,
    tooltip,
    command: name,
    arguments: [ref],
  });
  if (hunk.conflict) {
    return [
      command("$(warning) Both changed this: Resolve…", "redraft.resolveConflict"),
      command("$(x) Reject", "redraft.rejectHunk"),
    ];
  }
  return [
    command(`$(check) Accept ${what}`.trim(), "redraft.acceptHunk"),
    command(beside ? "$(x) Reject" : `$(x) Reject ${what}`.trim(), "redraft.rejectHunk"),
    ...(labels === "" ? [] : [{ title: `$(warning) ${labels}`, tooltip, command: "" }]),
  ];
}

/** Above the file of a document in which something waits: the way to its review. */
export class FileLenses implements vscode.CodeLensProvider {
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.#changed.event;

  constructor(readonly folders: Folders) {
    folders.onDidReview(() => this.#changed.fire());
  }

  provideCodeLenses({ uri }: vscode.TextDocument): vscode.CodeLens[] {
    const found = this.folders.known(uri);
    const draft = found?.folder.draft(found.path);
    const count = draft ? openHunks(draft).length : 0;
    if (count === 0) return [];
    const title = `$(git-pull-request) ${count === 1 ? "A change waits" : `${count} changes wait`} here: review`;
    return [
      new vscode.CodeLens(new vscode.Range(0, 0, 0, 0), { title, command: "redraft.openDocument", arguments: [uri] }),
    ];
  }
}

export function registerLenses(folders: Folders): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.languages.registerCodeLensProvider({ scheme: SCHEME }, new HunkLenses(folders)),
    vscode.languages.registerCodeLensProvider({ scheme: "file" }, new FileLenses(folders)),
  );
}
