/** The folders of this window whose server it has joined. */

import * as fs from "node:fs";
import * as vscode from "vscode";
import { Folder } from "./folder";
import type { LiveDocument } from "./liveDocument";
import { SCHEME } from "./uris";

export class Folders implements vscode.Disposable {
  readonly #joined = new Map<string, Promise<Folder>>();
  readonly #ready = new Map<string, Folder>();
  readonly #changed = new vscode.EventEmitter<Folder>();
  /** A folder was joined, or something waits for review in it, or nothing does any longer. */
  readonly onDidReview = this.#changed.event;
  readonly #met = new vscode.EventEmitter<Folder>();
  readonly onDidJoin = this.#met.event;

  get all(): Folder[] {
    return [...this.#ready.values()];
  }

  /** Join the server of a folder, or start it. */
  join(root: string): Promise<Folder> {
    const known = this.#joined.get(root);
    if (known) return known;
    const program = vscode.workspace.getConfiguration("redraft").get<string>("program") || "redraft";
    const joining = Folder.join(root, program).then((folder) => {
      this.#ready.set(root, folder);
      folder.onDidReview(() => this.#changed.fire(folder));
      void vscode.commands.executeCommand("setContext", "redraft.joined", true);
      this.#met.fire(folder);
      this.#changed.fire(folder);
      return folder;
    });
    this.#joined.set(root, joining);
    joining.catch(() => this.#joined.delete(root));
    return joining;
  }

  /** The folder of a document; it is joined where it is not yet. */
  async of(uri: vscode.Uri): Promise<{ folder: Folder; path: string } | null> {
    const root = rootOf(uri);
    if (root === null) return null;
    const folder = await this.join(root);
    const path = folder.pathOf(uri);
    return path === null ? null : { folder, path };
  }

  /** The same, where it is joined already. */
  known(uri: vscode.Uri): { folder: Folder; path: string } | null {
    for (const folder of this.#ready.values()) {
      const path = folder.pathOf(uri);
      if (path !== null) return { folder, path };
    }
    return null;
  }

  live(uri: vscode.Uri): LiveDocument | undefined {
    if (uri.scheme !== SCHEME) return undefined;
    const found = this.known(uri);
    return found?.folder.find(found.path);
  }

  /** The document in front, in the folder that it belongs to. */
  front(): { folder: Folder; path: string; live: LiveDocument; editor: vscode.TextEditor } | null {
    const editor = vscode.window.activeTextEditor;
    const live = editor && this.live(editor.document.uri);
    const found = editor && this.known(editor.document.uri);
    return editor && live && found ? { ...found, live, editor } : null;
  }

  dispose(): void {
    this.#changed.dispose();
    this.#met.dispose();
  }

  async close(): Promise<void> {
    await Promise.all(this.all.map((folder) => folder.close()));
  }
}

/** The workspace folder that a document is in. A document opened alone belongs to the folder that has Redraft's id. */
function rootOf(uri: vscode.Uri): string | null {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const inside = folders.filter(
    ({ uri: root }) => root.scheme === "file" && `${uri.path}/`.startsWith(`${root.path}/`),
  );
  return inside.sort((one, other) => other.uri.path.length - one.uri.path.length)[0]?.uri.fsPath ?? null;
}

/** The folders of the window that Redraft has been used in. */
export function usedRoots(): string[] {
  const roots = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === "file");
  return roots.map(({ uri }) => uri.fsPath).filter((root) => fs.existsSync(`${root}/.redraft/id`));
}
