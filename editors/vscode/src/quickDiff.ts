/** The editor's own marks beside changed lines, with what was there before in their peek, and the list of documents. */

import * as vscode from "vscode";
import type { Folder } from "./folder";
import type { Folders } from "./folders";
import { baseOf } from "./hunks";
import type { LiveDocument } from "./liveDocument";
import type { Draft } from "./shapes";
import { BASE_SCHEME, SCHEME, toBase, toLive } from "./uris";

/** A document before the changes that wait in it. */
class BaseTexts implements vscode.TextDocumentContentProvider {
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.#changed.event;
  readonly #heard = new WeakSet<LiveDocument>();

  constructor(readonly folders: Folders) {}

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const found = await this.folders.of(uri);
    if (!found) return "";
    const live = await found.folder.open(found.path);
    if (!this.#heard.has(live)) {
      this.#heard.add(live);
      live.onDidChange(() => this.#changed.fire(uri));
    }
    return baseOf(live.shown, live.placed);
  }
}

function describe({ kind }: Draft): string {
  return { created: "New", modified: "Changed", moved: "Moved", deleted: "To be deleted" }[kind];
}

/** One entry in Source Control per folder. */
function controlOf(folder: Folder): vscode.Disposable {
  const root = vscode.Uri.from({ scheme: SCHEME, path: folder.root });
  const control = vscode.scm.createSourceControl("redraft", "Redraft", root);
  control.inputBox.visible = false;
  control.quickDiffProvider = {
    provideOriginalResource: (uri) => (uri.scheme === SCHEME ? toBase(uri) : undefined),
  };
  control.count = 0; // Redraft's own view says how many changes wait
  const group = control.createResourceGroup("pending", "To Review");
  group.hideWhenEmpty = true;
  const show = () => {
    group.resourceStates = folder.drafts.map((draft) => {
      const uri = folder.uriOf(draft.path);
      return {
        resourceUri: uri,
        command: { title: "Review", command: "redraft.compareDocument", arguments: [uri] },
        decorations: { tooltip: describe(draft), strikeThrough: draft.kind === "deleted" },
      };
    });
  };
  show();
  return vscode.Disposable.from(control, folder.onDidReview(show));
}

/** The document and its base side by side, or inline, as the person has their diffs. */
export async function compareDocument(uri: vscode.Uri): Promise<void> {
  const name = uri.path.slice(uri.path.lastIndexOf("/") + 1);
  await vscode.commands.executeCommand("vscode.diff", toBase(uri), toLive(uri), `${name} (before ↔ proposed)`);
}

export function registerQuickDiff(folders: Folders): vscode.Disposable {
  const controls: vscode.Disposable[] = [];
  return vscode.Disposable.from(
    vscode.workspace.registerTextDocumentContentProvider(BASE_SCHEME, new BaseTexts(folders)),
    folders.onDidJoin((folder) => controls.push(controlOf(folder))),
    new vscode.Disposable(() => {
      for (const each of controls) each.dispose();
    }),
  );
}
