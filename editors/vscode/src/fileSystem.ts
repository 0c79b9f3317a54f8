/**
 * Documents as files of the editor, with the scheme `redraft:`.
 *
 * Saving one saves it in Redraft, which writes what is accepted and what the person typed, and nothing that waits for
 * review. So neither auto-save nor a program that formats on save can put an undecided change on the disk, and the
 * editor never finds that "the file is newer".
 */

import * as vscode from "vscode";
import type { Folders } from "./folders";
import { Refusal } from "./server";
import { SCHEME } from "./uris";

const NEVER = 1;

export class RedraftFiles implements vscode.FileSystemProvider {
  readonly onDidChangeFile = new vscode.EventEmitter<vscode.FileChangeEvent[]>().event;

  constructor(readonly folders: Folders) {}

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => {}); // what changes comes into the open text itself
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    const data = await this.#read(uri);
    // The editor must not guess from a time whether its text is old.
    return { type: vscode.FileType.File, ctime: NEVER, mtime: NEVER, size: data.byteLength };
  }

  readFile(uri: vscode.Uri): Promise<Uint8Array> {
    return this.#read(uri);
  }

  async #read(uri: vscode.Uri): Promise<Uint8Array> {
    const found = await this.folders.of(uri);
    if (found === null) throw vscode.FileSystemError.FileNotFound(uri);
    try {
      return Buffer.from((await found.folder.open(found.path)).read(), "utf8");
    } catch (error) {
      if (error instanceof Refusal && error.status === 404) throw vscode.FileSystemError.FileNotFound(uri);
      throw vscode.FileSystemError.Unavailable((error as Error).message);
    }
  }

  /** What the editor wants to write has been typed into the document already. */
  async writeFile(uri: vscode.Uri): Promise<void> {
    const live = this.folders.live(uri);
    if (!live) throw vscode.FileSystemError.FileNotFound(uri);
    try {
      await live.save();
    } catch (error) {
      throw vscode.FileSystemError.Unavailable((error as Error).message);
    }
  }

  readDirectory(): [string, vscode.FileType][] {
    return [];
  }

  createDirectory(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  delete(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  rename(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }
}

/** Keep the texts of editors and their documents in step. */
export function bindDocuments(folders: Folders): vscode.Disposable {
  const attach = async (document: vscode.TextDocument) => {
    if (document.uri.scheme !== SCHEME) return;
    const found = await folders.of(document.uri);
    if (found) (await found.folder.open(found.path)).attach(document);
  };
  for (const document of vscode.workspace.textDocuments) void attach(document);
  return vscode.Disposable.from(
    vscode.workspace.onDidOpenTextDocument((document) => {
      const live = folders.live(document.uri);
      if (live) live.attach(document);
      else void attach(document);
    }),
    vscode.workspace.onDidCloseTextDocument(({ uri }) => {
      const live = folders.live(uri);
      if (live) folders.known(uri)?.folder.leave(live);
    }),
    vscode.workspace.onDidChangeTextDocument((event) => {
      const live = folders.live(event.document.uri);
      const asked = live?.report(event);
      // The editor's own Undo knows nothing of decisions, and would take back what others wrote.
      if (live && asked) void folders.known(live.uri)?.folder.step(asked, live.path);
    }),
    vscode.workspace.registerFileSystemProvider(SCHEME, new RedraftFiles(folders), { isCaseSensitive: true }),
  );
}
