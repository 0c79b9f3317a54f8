/** The agent, in a view: what it is asked, what it does and says, what it asks back, and what that cost. */

import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import { describeCall, describeChange, describeWish, formatSpent } from "../../../web/src/agent/descriptions";
import { addEvent, EMPTY_LOG, type JobEvent, type JobLog } from "../../../web/src/agent/jobLog";
import { isBusy, isOver } from "../../../web/src/agent/jobView";
import type { ChatState, Entry, FromPage } from "./chatPage";
import type { Folder } from "./folder";
import type { Folders } from "./folders";
import { attempt } from "./reviewCommands";
import type { Job } from "./shapes";

const GATHER_MS = 60;

interface Exchange {
  folder: Folder;
  job: string;
  asked: string;
  log: JobLog;
  stream: { close(): void };
}

interface Selected {
  file_path: string;
  start_line: number;
  end_line: number;
  content: string;
}

export class Chat implements vscode.WebviewViewProvider {
  #view: vscode.WebviewView | null = null;
  #exchanges: Exchange[] = [];
  #session: { folder: Folder; id: string } | null = null;
  #drawing: ReturnType<typeof setTimeout> | undefined;

  constructor(
    readonly folders: Folders,
    readonly extension: vscode.Uri,
  ) {}

  resolveWebviewView(view: vscode.WebviewView): void {
    this.#view = view;
    const script = view.webview.asWebviewUri(vscode.Uri.joinPath(this.extension, "dist", "chatPage.js"));
    const style = view.webview.asWebviewUri(vscode.Uri.joinPath(this.extension, "media", "chat.css"));
    view.webview.options = { enableScripts: true, localResourceRoots: [this.extension] };
    view.webview.html = page(view.webview.cspSource, script, style);
    view.webview.onDidReceiveMessage((message: FromPage) => attempt(() => this.#heard(message)));
    view.onDidDispose(() => {
      this.#view = null;
    });
  }

  async #heard(message: FromPage): Promise<void> {
    if (message.kind === "ready") this.#draw();
    else if (message.kind === "ask") await this.ask(message.text);
    else await this.#answer(message);
  }

  async #answer(message: Exclude<FromPage, { kind: "ready" | "ask" }>): Promise<void> {
    const current = this.#exchanges.at(-1);
    if (!current) return;
    const job = `/api/agent/jobs/${encodeURIComponent(current.job)}`;
    const { server } = current.folder;
    if (message.kind === "stop") await server.post<Job>(`${job}/cancel`);
    else if (message.kind === "confirm")
      await server.post<Job>(`${job}/confirm`, { question_id: message.id, allow: message.allow });
    else await server.post<Job>(`${job}/clarify`, { question_id: message.id, answer: message.text });
  }

  /** Ask the agent, about what is selected if that is given. */
  async ask(instruction: string, selected?: Selected): Promise<void> {
    const front = this.folders.front();
    const folder = front?.folder ?? this.#session?.folder ?? this.folders.all[0];
    if (!folder) throw new Error("Join the folder's server first.");
    await vscode.commands.executeCommand("redraft.chat.focus");
    // "This document" means the one in front, with what was just typed into it.
    await front?.live.waitForDelivery();
    if (this.#session?.folder !== folder) {
      const { session_id } = await folder.server.post<{ session_id: string }>("/api/agent/sessions", { title: "" });
      this.#session = { folder, id: session_id };
    }
    const { job_id } = await folder.server.post<{ job_id: string }>("/api/agent/run", {
      session_id: this.#session.id,
      instruction,
      document: front?.path ?? "",
      context_rows: selected ? [{ ...selected, kind: "selection", pinned: false }] : [],
    });
    this.#follow(folder, job_id, instruction);
  }

  #follow(folder: Folder, job: string, asked: string): void {
    const path = `/api/agent/jobs/${encodeURIComponent(job)}/events/stream?cursor=0`;
    const exchange: Exchange = { folder, job, asked, log: EMPTY_LOG, stream: { close: () => {} } };
    exchange.stream = folder.server.listen(path, (event) => {
      exchange.log = addEvent(exchange.log, event as JobEvent);
      if (isOver(exchange.log.view.phase)) exchange.stream.close();
      this.#drawSoon();
    });
    this.#exchanges.push(exchange);
    this.#draw();
  }

  begin(): void {
    for (const { stream } of this.#exchanges) stream.close();
    this.#exchanges = [];
    this.#session = null;
    this.#draw();
  }

  #drawSoon(): void {
    this.#drawing ??= setTimeout(() => {
      this.#drawing = undefined;
      this.#draw();
    }, GATHER_MS);
  }

  #draw(): void {
    void this.#view?.webview.postMessage(this.#state());
  }

  #state(): ChatState {
    const last = this.#exchanges.at(-1)?.log.view;
    const question = last?.question ?? null;
    return {
      entries: this.#exchanges.flatMap(toEntries),
      busy: last !== undefined && isBusy(last.phase),
      question: question && {
        id: question.id,
        yesOrNo: question.kind !== "clarification",
        text: question.text || `The agent wants to ${describeWish(question)}.`,
        details: question.paths,
      },
      document: this.folders.front()?.path ?? "",
    };
  }

  dispose(): void {
    for (const { stream } of this.#exchanges) stream.close();
    clearTimeout(this.#drawing);
  }
}

/** One request and what came of it. */
function toEntries({ asked, log }: Exchange): Entry[] {
  const { view, speaking } = log;
  const entries: Entry[] = [{ kind: "asked", text: asked }];
  for (const part of view.parts) {
    if (part.kind === "call") entries.push({ kind: part.ok === false ? "failed" : "call", text: describeCall(part) });
    else entries.push({ kind: part.kind, text: part.text });
  }
  if (speaking) entries.push({ kind: "words", text: speaking });
  for (const change of view.changes)
    entries.push({ kind: "change", text: describeChange(change, view.phase === "review") });
  if (view.failure?.reason) entries.push({ kind: "failed", text: view.failure.reason });
  const spent = formatSpent(view.spent);
  const told = [PHASES[view.phase] ?? "", view.answeredBy, spent].filter(Boolean).join(" · ");
  if (told) entries.push({ kind: "foot", text: told });
  return entries;
}

const PHASES: Record<string, string> = {
  queued: "Waiting…",
  running: "Working…",
  waiting: "Asks you",
  review: "To review",
  completed: "Done",
  failed: "Failed",
  cancelled: "Stopped",
};

function page(source: string, script: vscode.Uri, style: vscode.Uri): string {
  const nonce = randomBytes(16).toString("base64url");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src ${source}; script-src 'nonce-${nonce}'">
<link rel="stylesheet" href="${style}">
<title>Agent</title>
</head>
<body>
<main id="log" role="log" aria-live="polite"></main>
<section id="question" hidden></section>
<form id="composer">
<textarea id="text" rows="3" aria-label="Ask the agent" placeholder="Ask the agent"></textarea>
<div id="row"><span id="about"></span><button id="send" type="submit">Send</button></div>
</form>
<script nonce="${nonce}" src="${script}"></script>
</body>
</html>`;
}

export function registerChat(folders: Folders, extension: vscode.Uri): vscode.Disposable {
  const chat = new Chat(folders, extension);
  return vscode.Disposable.from(
    chat,
    vscode.window.registerWebviewViewProvider("redraft.chat", chat, {
      webviewOptions: { retainContextWhenHidden: true },
    }),
    vscode.commands.registerCommand("redraft.newChat", () => chat.begin()),
    vscode.commands.registerCommand("redraft.ask", (given?: string) =>
      attempt(async () => {
        const front = folders.front();
        const selection = front?.editor.selection;
        const selected =
          front && selection && !selection.isEmpty
            ? {
                file_path: front.path,
                start_line: selection.start.line + 1,
                end_line: selection.end.line + 1,
                content: front.editor.document.getText(selection),
              }
            : undefined;
        const prompt = selected ? "What shall the agent do with the selection?" : "What shall the agent do?";
        const text =
          typeof given === "string" ? given : await vscode.window.showInputBox({ prompt, ignoreFocusOut: true });
        if (text) await chat.ask(text, selected);
      }),
    ),
  );
}
