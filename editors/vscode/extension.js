// Session documents in VS Code. Everything is done by the program agent-doc, which merges, keeps history and goes
// through a Redraft server where one runs; this only calls it, with words and never by a shell, and shows what it says.
// @ts-check
"use strict";

const { execFile } = require("node:child_process");
const path = require("node:path");
const vscode = require("vscode");

const SECONDS = 30;

/** @typedef {{ status: number, out: string, complaint: string }} Done */
/** @typedef {{ active: boolean, question?: string, options?: { index: number, label: string }[] }} Asked */

/**
 * Run agent-doc for a document, with something on its standard input perhaps.
 * @param {string} file
 * @param {string[]} words
 * @returns {Promise<Done>}
 */
function agentDoc(file, words, given = "") {
  const program = vscode.workspace.getConfiguration("redraft").get("program") || "agent-doc";
  const options = { cwd: path.dirname(file), timeout: SECONDS * 1000, maxBuffer: 64 * 1024 * 1024 };
  return new Promise((resolve) => {
    const child = execFile(program, words, options, (error, out, complaint) => {
      const status = error ? (typeof error.code === "number" ? error.code : 127) : 0;
      resolve({ status, out, complaint: complaint.trim() || (error ? error.message : "") });
    });
    child.stdin?.on("error", () => {}); // a program that cannot be started reads nothing
    child.stdin?.end(given);
  });
}

/** The document in front, saved, so that what is on the disk is what the person sees. */
async function savedDocument() {
  const editor = vscode.window.activeTextEditor;
  if (!editor || editor.document.uri.scheme !== "file") {
    vscode.window.showWarningMessage("Redraft: open a document first.");
    return null;
  }
  if (editor.document.isDirty && !(await editor.document.save())) {
    vscode.window.showWarningMessage("Redraft: the document could not be saved.");
    return null;
  }
  return editor;
}

/** @param {Done} done */
function tell(done) {
  if (done.status === 0) {
    vscode.window.setStatusBarMessage(`Redraft: ${done.out.trim().split("\n").pop()}`, 5000);
  } else {
    vscode.window.showErrorMessage(`Redraft: ${done.complaint || `agent-doc ended with ${done.status}`}`);
  }
  return done.status === 0;
}

async function submit() {
  const editor = await savedDocument();
  return editor && tell(await agentDoc(editor.document.fileName, ["route", "--", editor.document.fileName]));
}

/** Which pane: as the editor's columns stand, so that what is left here is left in tmux. */
async function claim() {
  const editor = await savedDocument();
  if (!editor) return false;
  const columns = vscode.window.visibleTextEditors.map((each) => each.viewColumn || 1);
  const position = (editor.viewColumn || 1) > Math.min(...columns) ? "right" : "left";
  const file = editor.document.fileName;
  return tell(await agentDoc(file, ["claim", "--position", position, "--", file]));
}

async function apply() {
  const editor = await savedDocument();
  if (!editor) return false;
  const selected = editor.selection.isEmpty ? "" : editor.document.getText(editor.selection);
  const answer = selected || (await vscode.env.clipboard.readText());
  const file = editor.document.fileName;
  const done = await agentDoc(file, ["write", "--", file], answer);
  if (done.status === 75) done.complaint = "The document is busy elsewhere; nothing was written. Try again.";
  return tell(done);
}

/**
 * What the document's session asks just now, null where it is in no session that lives.
 * @param {string} file
 * @returns {Promise<Asked | null>}
 */
async function question(file) {
  const done = await agentDoc(file, ["prompt", "--", file]);
  if (done.status !== 0) return null;
  try {
    return JSON.parse(done.out);
  } catch {
    return null;
  }
}

async function answer() {
  const editor = vscode.window.activeTextEditor;
  if (!editor) return false;
  const file = editor.document.fileName;
  const asked = await question(file);
  if (!asked || !asked.active) return tell({ status: 0, out: "The session asks nothing.", complaint: "" });
  const options = asked.options ?? [];
  const items = options.map((option) => ({ label: `${option.index}. ${option.label}`, index: option.index }));
  const chosen = await vscode.window.showQuickPick(items, { placeHolder: asked.question });
  return chosen !== undefined && tell(await agentDoc(file, ["prompt", "--answer", String(chosen.index), "--", file]));
}

/**
 * The state of the document's session, in the status bar.
 * @param {vscode.StatusBarItem} item
 */
async function show(item) {
  const editor = vscode.window.activeTextEditor;
  if (!editor || editor.document.languageId !== "markdown" || editor.document.uri.scheme !== "file") {
    item.hide();
    return;
  }
  const asked = await question(editor.document.fileName);
  item.text = !asked ? "$(circle-slash) no session" : asked.active ? "$(question) session asks" : "$(comment) session";
  item.tooltip = asked && asked.active ? asked.question : "Redraft: the session of this document";
  item.command = !asked ? "redraft.claim" : asked.active ? "redraft.answer" : "redraft.submit";
  item.show();
}

/** @param {vscode.ExtensionContext} context */
function activate(context) {
  const item = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Left);
  const commands = { submit, claim, answer, apply };
  for (const [name, act] of Object.entries(commands)) {
    const run = async () => {
      const done = await act();
      await show(item);
      return done;
    };
    context.subscriptions.push(vscode.commands.registerCommand(`redraft.${name}`, run));
  }
  context.subscriptions.push(
    item,
    vscode.window.onDidChangeActiveTextEditor(() => show(item)),
    vscode.workspace.onDidSaveTextDocument(() => show(item)),
  );
  return show(item);
}

module.exports = { activate, deactivate() {} };
