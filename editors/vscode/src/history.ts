/** What was done in the folder, turn by turn, and who wrote each line of the document in front. */

import * as vscode from "vscode";
import type { Folder } from "./folder";
import type { Folders } from "./folders";
import { ago, type TurnRef } from "./pendingTree";
import { attempt } from "./reviewCommands";
import type { Blame, Turn } from "./shapes";
import { TURN_SCHEME } from "./uris";

const PAGE = 50;

interface PastTurn extends TurnRef {
  told: Turn;
}

type Row = PastTurn | { more: Folder };

class HistoryTree implements vscode.TreeDataProvider<Row> {
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.#changed.event;
  #pages = 1;

  constructor(readonly folders: Folders) {}

  refresh(): void {
    this.#changed.fire();
  }

  more(): void {
    this.#pages += 1;
    this.#changed.fire();
  }

  async getChildren(row?: Row): Promise<Row[]> {
    if (row) return [];
    return (await Promise.all(this.folders.all.map((folder) => this.#list(folder)))).flat();
  }

  async #list(folder: Folder): Promise<Row[]> {
    const rows: Row[] = [];
    let before: number | undefined;
    for (let page = 0; page < this.#pages; page += 1) {
      const query = { limit: PAGE, ...(before === undefined ? {} : { before }) };
      const found = await folder.server.get<{ turns: Turn[]; next_before: number | null }>("/api/turns", query);
      rows.push(...found.turns.map((told) => ({ root: folder.root, turn: told.turn, told })));
      if (found.next_before === null) return rows;
      before = found.next_before;
    }
    return [...rows, { more: folder }];
  }

  getTreeItem(row: Row): vscode.TreeItem {
    if ("more" in row) {
      const item = new vscode.TreeItem("Older turns…");
      item.command = { title: "Older turns", command: "redraft.moreHistory" };
      return item;
    }
    const { told } = row;
    const item = new vscode.TreeItem(told.title || `Turn ${told.turn}`);
    const state = { undone: "undone", discarded: "rejected", proposed: "to review" }[told.state] ?? "";
    item.id = `${row.root}\0${told.turn}`;
    item.description = [authorOf(told), ago(told.created), state].filter(Boolean).join(" · ");
    item.tooltip = `Turn ${told.turn}\n${told.paths.join("\n")}`;
    item.iconPath = new vscode.ThemeIcon(ICONS[told.author.kind] ?? "history");
    const undoable = !told.pruned && (told.state === "proposed" || told.state === "applied");
    item.contextValue = undoable ? "past-undoable" : "past";
    item.command = { title: "Show", command: "redraft.compareTurn", arguments: [row] };
    return item;
  }
}

const ICONS: Record<string, string> = { person: "account", agent: "sparkle", outside: "terminal", system: "gear" };
const authorOf = ({ author }: Turn): string => (author.kind === "outside" ? "another program" : author.name);

/** A document before and after a turn. */
class TurnTexts implements vscode.TextDocumentContentProvider {
  constructor(readonly folders: Folders) {}

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const found = await this.folders.of(uri);
    const [turn, side] = uri.query.split("/");
    if (!found) return "";
    const texts = await found.folder.server.get<{ checkpoint_base: string; agent_proposed: string }>(
      `/api/agent/checkpoints/${Number(turn)}/diff3`,
      { file_path: found.path },
    );
    return side === "before" ? texts.checkpoint_base : texts.agent_proposed;
  }
}

interface Stretch {
  uri: vscode.Uri;
  root: string;
  start: number;
  lines: number;
  turn: Turn | null;
  first: string;
}

/** Who wrote what, in stretches of lines. */
class LinesTree implements vscode.TreeDataProvider<Stretch> {
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.#changed.event;

  constructor(readonly folders: Folders) {}

  refresh(): void {
    this.#changed.fire();
  }

  async getChildren(row?: Stretch): Promise<Stretch[]> {
    const front = this.folders.front();
    if (row || !front) return [];
    const { folder, path, live } = front;
    const { blame, turns, text } = await folder.server.get<Blame>("/api/blame", { path });
    const known = new Map(turns.map((each) => [each.turn, each]));
    const lines = text.split(/\r\n|\n|\r/);
    return blame.map((each) => ({
      uri: live.uri,
      root: folder.root,
      start: each.start_line - 1,
      lines: each.lines,
      turn: each.turn === null ? null : (known.get(each.turn) ?? null),
      first: (lines[each.start_line - 1] ?? "").trim(),
    }));
  }

  getTreeItem({ uri, root, start, lines, turn, first }: Stretch): vscode.TreeItem {
    const item = new vscode.TreeItem(first === "" ? "(blank)" : first.slice(0, 60));
    const where = lines === 1 ? `line ${start + 1}` : `lines ${start + 1}–${start + lines}`;
    item.description = `${turn ? `${authorOf(turn)}, ${ago(turn.created)}` : "not in the history"} · ${where}`;
    item.tooltip = turn ? `Turn ${turn.turn}: ${turn.title}` : "Older than the history, or not saved yet.";
    item.iconPath = new vscode.ThemeIcon(turn ? (ICONS[turn.author.kind] ?? "history") : "dash");
    item.contextValue = turn ? "past" : "";
    const selection = new vscode.Range(start, 0, start + lines - 1, Number.MAX_SAFE_INTEGER);
    item.command = { title: "Show", command: "vscode.open", arguments: [uri, { selection }] };
    if (turn) item.id = `${root}\0${start}\0${turn.turn}`;
    return item;
  }
}

export function registerHistory(folders: Folders): vscode.Disposable {
  const history = new HistoryTree(folders);
  const lines = new LinesTree(folders);
  const listening: vscode.Disposable[] = [];
  const refresh = () => {
    history.refresh();
    lines.refresh();
  };
  return vscode.Disposable.from(
    vscode.window.registerTreeDataProvider("redraft.history", history),
    vscode.window.registerTreeDataProvider("redraft.lines", lines),
    vscode.workspace.registerTextDocumentContentProvider(TURN_SCHEME, new TurnTexts(folders)),
    vscode.window.onDidChangeActiveTextEditor(() => lines.refresh()),
    folders.onDidJoin((folder) => {
      listening.push(folder.onDidChange(({ kind }) => (kind === "turn" || kind === "all") && refresh()));
      refresh();
    }),
    vscode.commands.registerCommand("redraft.moreHistory", () => history.more()),
    vscode.commands.registerCommand("redraft.blame", () =>
      attempt(async () => {
        await vscode.commands.executeCommand("redraft.lines.focus");
        lines.refresh();
      }),
    ),
    new vscode.Disposable(() => {
      for (const each of listening) each.dispose();
    }),
  );
}
