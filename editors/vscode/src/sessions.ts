/**
 * Session documents: submit, claim, answer and apply, done by `redraft doc`; and the answers that it leaves for an
 * editor.
 *
 * While this is active in a folder with `.agent-doc`, answers come as messages in `.agent-doc/patches`, so that they
 * get into the text that the person has open and may be typing into. Its writer gives up after a while and takes it
 * back; so a message is renamed before its answer is put into the text, which only one of the two can do, and removed
 * once the document is saved: that is the receipt which its writer waits for.
 */

import { execFile } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import * as vscode from "vscode";
import type { Folders } from "./folders";
import { LineTable, toPlain } from "./positions";
import { diffTexts } from "./textDiff";
import { SCHEME, toLive } from "./uris";

const SECONDS = 30;
const TAKING = ".taking";
const MAX_LETTER = 64 * 1024 * 1024;

interface Done {
  status: number;
  out: string;
  complaint: string;
}

interface Asked {
  active: boolean;
  question?: string;
  options?: { index: number; label: string }[];
}

/** Run `redraft doc`, with words and never by a shell, and with something on its standard input perhaps. */
function agentDoc(file: string, words: readonly string[], given = ""): Promise<Done> {
  const program = vscode.workspace.getConfiguration("redraft").get<string>("program") || "redraft";
  const options = { cwd: path.dirname(file), timeout: SECONDS * 1000, maxBuffer: MAX_LETTER };
  return new Promise((resolve) => {
    const child = execFile(program, ["doc", ...words], options, (error, out, complaint) => {
      const status = error ? (typeof error.code === "number" ? error.code : 127) : 0;
      resolve({ status, out, complaint: complaint.trim() || (error ? error.message : "") });
    });
    child.stdin?.on("error", () => {}); // a program that cannot be started reads nothing
    child.stdin?.end(given);
  });
}

function tell(done: Done): boolean {
  if (done.status === 0) vscode.window.setStatusBarMessage(`Redraft: ${done.out.trim().split("\n").pop()}`, 5000);
  else vscode.window.showErrorMessage(`Redraft: ${done.complaint || `redraft doc ended with ${done.status}`}`);
  return done.status === 0;
}

/** The document in front, saved, so that what is on the disk is what the person sees. */
async function savedDocument(): Promise<{ file: string; editor: vscode.TextEditor } | null> {
  const editor = vscode.window.activeTextEditor;
  if (!editor || !["file", SCHEME].includes(editor.document.uri.scheme)) {
    vscode.window.showWarningMessage("Redraft: open a document first.");
    return null;
  }
  if (editor.document.isDirty && !(await editor.document.save())) {
    vscode.window.showWarningMessage("Redraft: the document could not be saved.");
    return null;
  }
  return { file: editor.document.uri.fsPath, editor };
}

async function submit(): Promise<boolean> {
  const saved = await savedDocument();
  return saved !== null && tell(await agentDoc(saved.file, ["route", "--", saved.file]));
}

/** Which pane: as the editor's columns stand, so that what is left here is left in tmux. */
async function claim(): Promise<boolean> {
  const saved = await savedDocument();
  if (!saved) return false;
  const columns = vscode.window.visibleTextEditors.map((each) => each.viewColumn ?? 1);
  const position = (saved.editor.viewColumn ?? 1) > Math.min(...columns) ? "right" : "left";
  return tell(await agentDoc(saved.file, ["claim", "--position", position, "--", saved.file]));
}

async function apply(): Promise<boolean> {
  const saved = await savedDocument();
  if (!saved) return false;
  const { document, selection } = saved.editor;
  const answer = (selection.isEmpty ? "" : document.getText(selection)) || (await vscode.env.clipboard.readText());
  const done = await agentDoc(saved.file, ["write", "--", saved.file], answer);
  if (done.status === 75) done.complaint = "The document is busy elsewhere; nothing was written. Try again.";
  return tell(done);
}

/** What the document's session asks just now; null where it is in no session that lives. */
async function question(file: string): Promise<Asked | null> {
  const done = await agentDoc(file, ["prompt", "--", file]);
  if (done.status !== 0) return null;
  try {
    return JSON.parse(done.out) as Asked;
  } catch {
    return null;
  }
}

async function answer(): Promise<boolean> {
  const file = vscode.window.activeTextEditor?.document.uri.fsPath;
  if (file === undefined) return false;
  const asked = await question(file);
  if (!asked?.active) return tell({ status: 0, out: "The session asks nothing.", complaint: "" });
  const items = (asked.options ?? []).map(({ index, label }) => ({ label: `${index}. ${label}`, index }));
  const chosen = await vscode.window.showQuickPick(items, { placeHolder: asked.question ?? "" });
  return chosen !== undefined && tell(await agentDoc(file, ["prompt", "--answer", String(chosen.index), "--", file]));
}

/** The documents as they stand side by side, arranged in the same way in tmux. */
async function syncLayout(quiet = false): Promise<boolean> {
  const columns = vscode.window.tabGroups.all.flatMap(({ activeTab }) => {
    const { input } = activeTab ?? {};
    const isShown = input instanceof vscode.TabInputText && ["file", SCHEME].includes(input.uri.scheme);
    return isShown && input.uri.path.endsWith(".md") ? [input.uri.fsPath] : [];
  });
  const [first] = columns;
  // A column of several documents is written with commas.
  if (first === undefined || columns.some((file) => file.includes(","))) return false;
  const front = vscode.window.activeTextEditor?.document.uri.fsPath;
  const focus = front !== undefined && columns.includes(front) ? ["--focus", front] : [];
  const done = await agentDoc(first, ["sync", ...columns.flatMap((file) => ["--col", file]), ...focus]);
  return quiet ? done.status === 0 : tell(done);
}

/** The state of the document's session, in the status bar. */
class SessionItem {
  readonly #item = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Left);
  #asked: string | undefined;

  async show(): Promise<void> {
    const document = vscode.window.activeTextEditor?.document;
    if (document?.languageId !== "markdown" || findAgentDoc(document.uri.fsPath) === null) {
      this.#item.hide();
      return;
    }
    const asked = await question(document.uri.fsPath);
    this.#item.text = !asked
      ? "$(circle-slash) no session"
      : asked.active
        ? "$(question) session asks"
        : "$(comment) session";
    this.#item.tooltip = asked?.active ? asked.question : "Redraft: the session of this document";
    this.#item.command = !asked ? "redraft.claim" : asked.active ? "redraft.answer" : "redraft.submit";
    this.#item.show();
    const fresh = asked?.active ? asked.question : undefined;
    if (fresh !== undefined && fresh !== this.#asked) void offerAnswer(fresh);
    this.#asked = fresh;
  }

  dispose(): void {
    this.#item.dispose();
  }
}

async function offerAnswer(asked: string): Promise<void> {
  if ((await vscode.window.showInformationMessage(`The session asks: ${asked}`, "Answer")) === "Answer") await answer();
}

/** The project's `.agent-doc` above a file, within the workspace. */
function findAgentDoc(file: string): string | null {
  const root = vscode.workspace.getWorkspaceFolder(vscode.Uri.file(file))?.uri.fsPath;
  if (root === undefined) return null;
  for (let folder = path.dirname(file); folder.startsWith(root); folder = path.dirname(folder)) {
    if (fs.existsSync(path.join(folder, ".agent-doc"))) return path.join(folder, ".agent-doc");
  }
  return null;
}

/** The answers that wait for an editor. */
class Letters {
  readonly #watching = new Map<string, fs.FSWatcher>();
  readonly #made = new Set<string>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(readonly folders: Folders) {}

  /** Listen in the project of a document. */
  listen(agentDocFolder: string): void {
    const place = path.join(agentDocFolder, "patches");
    if (this.#watching.has(place)) return;
    try {
      if (!fs.existsSync(place)) {
        fs.mkdirSync(place);
        this.#made.add(place);
      }
      if (!fs.lstatSync(place).isDirectory()) return;
      this.#watching.set(
        place,
        fs.watch(place, () => this.#look(place)),
      );
    } catch {
      return; // a folder that is read only, or gone again: answers are written to the file, as without an editor
    }
    this.#look(place);
  }

  #look(place: string): void {
    this.#last = this.#last.then(async () => {
      for (const name of fs.existsSync(place) ? fs.readdirSync(place).sort() : []) {
        if (name.endsWith(".json"))
          await this.#take(path.join(place, name)).catch((error: Error) => this.#complain(name, error));
      }
    });
  }

  #complain(name: string, error: Error): void {
    vscode.window.showErrorMessage(`Redraft: an answer (${name}) could not be taken: ${error.message}`);
  }

  async #take(letter: string): Promise<void> {
    const found = readLetter(letter);
    if (found === null) return;
    const project = path.dirname(path.dirname(path.dirname(letter)));
    const file = fs.realpathSync(found.file);
    if (!file.startsWith(`${fs.realpathSync(project)}${path.sep}`))
      throw new Error("it is for a file of another folder.");
    const uri = vscode.Uri.file(found.file);
    const isLive = this.folders.live(toLive(uri))?.isAttached ?? false;
    const document = await vscode.workspace.openTextDocument(isLive ? toLive(uri) : uri);
    const taken = `${letter}${TAKING}`;
    let merged = await merge(document, letter);
    try {
      fs.renameSync(letter, taken);
    } catch {
      return; // its writer has given up, and will send it again
    }
    // Refused where the person has typed since: then it is merged into that.
    while (!(await show(document, merged))) merged = await merge(document, taken);
    await document.save();
    fs.rmSync(taken, { force: true });
    vscode.window.setStatusBarMessage(`Redraft: took the answer for ${path.basename(found.file)}`, 5000);
  }

  dispose(): void {
    for (const watcher of this.#watching.values()) watcher.close();
    // Who finds no such folder need not wait for an editor.
    for (const place of this.#made) {
      try {
        fs.rmdirSync(place);
      } catch {
        // an answer has come meanwhile
      }
    }
  }
}

function readLetter(letter: string): { file: string } | null {
  try {
    const { size } = fs.lstatSync(letter);
    if (size > MAX_LETTER) return null;
    const { file } = JSON.parse(fs.readFileSync(letter, "utf8")) as { file?: unknown };
    return typeof file === "string" && path.isAbsolute(file) ? { file } : null;
  } catch {
    return null; // half written, or withdrawn: there will be another event
  }
}

interface Merged {
  version: number;
  from: string;
  to: string;
}

/** The text that is open, and the same with an answer in it. */
async function merge(document: vscode.TextDocument, letter: string): Promise<Merged> {
  const { version } = document;
  const from = document.getText();
  const done = await agentDoc(document.uri.fsPath, ["take", "--", letter], from);
  if (done.status !== 0) throw new Error(done.complaint);
  return { version, from: toPlain(from), to: toPlain(done.out) };
}

/** Show it, unless the text has changed since; returns whether it is shown. */
async function show(document: vscode.TextDocument, { version, from, to }: Merged): Promise<boolean> {
  if (document.version !== version) return false;
  const table = new LineTable(from);
  const edit = new vscode.WorkspaceEdit();
  for (const each of diffTexts(from, to)) {
    const [start, end] = [table.place(each.from), table.place(each.to)];
    if (!start || !end) continue;
    edit.replace(document.uri, new vscode.Range(start.line, start.character, end.line, end.character), each.insert);
  }
  return edit.size === 0 || vscode.workspace.applyEdit(edit);
}

export function registerSessions(folders: Folders): vscode.Disposable {
  const item = new SessionItem();
  const letters = new Letters(folders);
  const look = () => {
    for (const { uri } of vscode.workspace.textDocuments) {
      const place = ["file", SCHEME].includes(uri.scheme) ? findAgentDoc(uri.fsPath) : null;
      if (place) letters.listen(place);
    }
    for (const { uri } of vscode.workspace.workspaceFolders ?? []) {
      const place = path.join(uri.fsPath, ".agent-doc");
      if (uri.scheme === "file" && fs.existsSync(place)) letters.listen(place);
    }
    void item.show();
  };
  const commands = Object.entries({ submit, claim, answer, apply, syncLayout: () => syncLayout() });
  look();
  return vscode.Disposable.from(
    item,
    letters,
    ...commands.map(([name, act]) =>
      vscode.commands.registerCommand(`redraft.${name}`, async () => {
        const done = await act();
        await item.show();
        return done;
      }),
    ),
    vscode.window.onDidChangeActiveTextEditor(look),
    vscode.workspace.onDidOpenTextDocument(look),
    vscode.workspace.onDidSaveTextDocument(look),
    vscode.window.tabGroups.onDidChangeTabGroups(({ opened, closed }) => {
      const wanted = vscode.workspace.getConfiguration("redraft").get<boolean>("layoutSync");
      if (wanted && opened.length + closed.length > 0) void syncLayout(true);
    }),
  );
}
