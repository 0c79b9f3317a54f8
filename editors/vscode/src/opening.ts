/** Which documents are shown in Redraft rather than as plain files, and how one takes the place of the other. */

import * as vscode from "vscode";
import type { Folders } from "./folders";
import { openHunks } from "./hunks";
import { toPlain } from "./positions";
import { attempt } from "./reviewCommands";
import { mergeTexts } from "./textDiff";
import { SCHEME, toFile, toLive } from "./uris";

type When = "prose" | "always" | "pending" | "never";
const PROSE = new Set(["markdown", "plaintext"]);

export class Opening {
  /** Files that the person asked to see as such. */
  readonly #asFiles = new Set<string>();
  readonly #under = new Set<string>();
  readonly #told = new Set<string>();

  constructor(readonly folders: Folders) {}

  /** Look at what is open, and show in Redraft what belongs there. */
  consider(): void {
    for (const group of vscode.window.tabGroups.all) {
      const { input } = group.activeTab ?? {};
      if (input instanceof vscode.TabInputText && input.uri.scheme === "file") void this.#considerFile(input.uri);
    }
  }

  async #considerFile(uri: vscode.Uri): Promise<void> {
    const key = uri.toString();
    const found = this.folders.known(uri);
    if (!found || this.#asFiles.has(key) || this.#under.has(key)) return;
    const document = vscode.workspace.textDocuments.find((each) => each.uri.toString() === key);
    if (!document) return;
    const draft = found.folder.draft(found.path);
    const pending = draft !== undefined && openHunks(draft).length > 0;
    const when = vscode.workspace.getConfiguration("redraft").get<When>("open") ?? "prose";
    const wanted =
      when === "always" || (when !== "never" && pending) || (when === "prose" && PROSE.has(document.languageId));
    if (!wanted || isOwn(found.path)) return;
    if (document.isDirty) {
      if (pending) await this.#tell(uri, found.path);
      return;
    }
    await this.open(uri).catch(() => this.#asFiles.add(key)); // not a document of Redraft's: a picture, a secret
  }

  /** Unsaved typing is in the file's own buffer: saving it, which is up to the person, brings it into the review. */
  async #tell(uri: vscode.Uri, path: string): Promise<void> {
    const key = uri.toString();
    if (this.#told.has(key)) return;
    this.#told.add(key);
    const review = "Review";
    if ((await vscode.window.showInformationMessage(`Changes wait for review in ${path}.`, review)) === review) {
      await attempt(() => this.open(uri));
    }
    this.#told.delete(key);
  }

  /** Show a document in Redraft, where its file is shown, with what was typed into that. */
  async open(uri: vscode.Uri): Promise<void> {
    const key = toFile(uri).toString();
    if (this.#under.has(key)) return;
    this.#under.add(key);
    try {
      await this.#replace(toFile(uri));
    } finally {
      this.#under.delete(key);
      this.#asFiles.delete(key);
    }
  }

  async #replace(uri: vscode.Uri): Promise<void> {
    const tab = tabOf(uri);
    const editor = vscode.window.visibleTextEditors.find((each) => each.document.uri.toString() === uri.toString());
    const document =
      editor?.document ?? vscode.workspace.textDocuments.find((each) => each.uri.toString() === uri.toString());
    const saved = document?.isDirty ? await readText(uri) : document?.getText();
    const live = await vscode.workspace.openTextDocument(toLive(uri));
    const options: vscode.TextDocumentShowOptions = { preview: tab?.isPreview ?? false };
    if (tab) options.viewColumn = tab.group.viewColumn;
    if (tab && !tab.group.isActive) options.preserveFocus = true;
    if (editor) options.selection = editor.selection;
    await vscode.window.showTextDocument(live, options);
    if (document && saved !== undefined) await this.#carry(document, saved, toLive(uri));
    const left = tabOf(uri);
    if (left && !left.isDirty) await vscode.window.tabGroups.close(left, true);
  }

  /** What was typed into the file's buffer goes into the document; the buffer becomes what is on the disk again. */
  async #carry(document: vscode.TextDocument, saved: string, to: vscode.Uri): Promise<void> {
    if (!document.isDirty) return;
    const live = this.folders.live(to);
    if (!live) return;
    const [base, mine, now] = [saved, document.getText(), live.shown].map(toPlain) as [string, string, string];
    await live.typeText(mergeTexts(base, mine, now));
    const edit = new vscode.WorkspaceEdit();
    edit.replace(document.uri, new vscode.Range(0, 0, document.lineCount, 0), saved);
    if (await vscode.workspace.applyEdit(edit)) await document.save();
  }

  /** Show the file itself. */
  async openFile(uri: vscode.Uri): Promise<void> {
    this.#asFiles.add(toFile(uri).toString());
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(toFile(uri)), { preview: false });
  }

  forget(uri: vscode.Uri): void {
    if (uri.scheme === "file") this.#asFiles.delete(uri.toString());
  }
}

/** Redraft's and other programs' own folders. */
const isOwn = (path: string): boolean => path.split("/").some((part) => part.startsWith("."));

async function readText(uri: vscode.Uri): Promise<string> {
  return new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
}

function tabOf(uri: vscode.Uri): vscode.Tab | undefined {
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  return tabs.find(({ input }) => input instanceof vscode.TabInputText && input.uri.toString() === uri.toString());
}

export function registerOpening(folders: Folders): vscode.Disposable {
  const opening = new Opening(folders);
  const front = () => vscode.window.activeTextEditor?.document.uri;
  return vscode.Disposable.from(
    vscode.window.tabGroups.onDidChangeTabs(() => opening.consider()),
    vscode.window.onDidChangeActiveTextEditor(() => opening.consider()),
    vscode.workspace.onDidSaveTextDocument(() => opening.consider()),
    vscode.workspace.onDidCloseTextDocument(({ uri }) => opening.forget(uri)),
    folders.onDidReview(() => opening.consider()),
    vscode.commands.registerCommand("redraft.openDocument", (given?: vscode.Uri | { root: string; path: string }) =>
      attempt(async () => {
        const uri =
          given instanceof vscode.Uri ? given : given ? vscode.Uri.file(`${given.root}/${given.path}`) : front();
        if (!uri) throw new Error("Open a document first.");
        if (uri.scheme === SCHEME) await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri));
        else await opening.open(uri);
      }),
    ),
    vscode.commands.registerCommand("redraft.openFile", (given?: vscode.Uri) =>
      attempt(async () => {
        const uri = given ?? front();
        if (uri) await opening.openFile(uri);
      }),
    ),
  );
}
