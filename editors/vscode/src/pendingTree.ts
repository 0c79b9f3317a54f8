/** What waits for review: turns, their documents, and their changes. */

import * as path from "node:path";
import * as vscode from "vscode";
import type { Folder } from "./folder";
import type { Folders } from "./folders";
import { describeHunk, describeLabels, openHunks } from "./hunks";
import type { HunkRef } from "./lenses";
import type { Draft, Hunk, Turn } from "./shapes";

/** What the commands of a turn are given. */
export interface TurnRef {
  root: string;
  turn: number;
}

interface TurnNode extends TurnRef {
  kind: "turn";
  folder: Folder;
}

interface DocumentNode {
  kind: "document";
  folder: Folder;
  root: string;
  path: string;
  draft: Draft;
  turn: number | null;
}

interface HunkNode extends HunkRef {
  kind: "hunk";
}

type Node = TurnNode | DocumentNode | HunkNode;

export class PendingTree implements vscode.TreeDataProvider<Node> {
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.#changed.event;
  readonly #turns = new Map<string, Promise<Turn>>();

  constructor(readonly folders: Folders) {
    folders.onDidReview(() => this.#changed.fire());
  }

  getChildren(node?: Node): Node[] {
    if (!node) return this.folders.all.flatMap((folder) => this.#roots(folder));
    if (node.kind === "turn") return documentsOf(node.folder, node.turn);
    if (node.kind === "document") return hunksOf(node);
    return [];
  }

  #roots(folder: Folder): Node[] {
    const turns = new Set(folder.drafts.flatMap(openHunks).map(({ turn }) => turn));
    const known = [...turns].filter((turn) => turn !== null).sort((one, other) => other - one);
    const { root } = folder;
    // What no turn made is shown by document: where two programs changed one place.
    const rest = turns.has(null) ? documentsOf(folder, null) : [];
    return [...known.map((turn): TurnNode => ({ kind: "turn", folder, root, turn })), ...rest];
  }

  async getTreeItem(node: Node): Promise<vscode.TreeItem> {
    if (node.kind === "turn") return this.#turnItem(node);
    if (node.kind === "document") return documentItem(node);
    return hunkItem(node);
  }

  async #turnItem({ folder, root, turn }: TurnNode): Promise<vscode.TreeItem> {
    const key = `${root}\0${turn}`;
    const asked =
      this.#turns.get(key) ?? folder.server.get<{ turn: Turn }>(`/api/turns/${turn}`).then((found) => found.turn);
    this.#turns.set(key, asked);
    const found = await asked.catch(() => null);
    const item = new vscode.TreeItem(found?.title || `Turn ${turn}`, vscode.TreeItemCollapsibleState.Expanded);
    item.id = key;
    item.description = found ? `${found.author.name} · ${ago(found.created)}` : "";
    item.iconPath = new vscode.ThemeIcon("git-pull-request");
    item.contextValue = "turn";
    return item;
  }
}

function documentsOf(folder: Folder, turn: number | null): DocumentNode[] {
  const drafts = folder.drafts.filter((draft) => openHunks(draft).some((hunk) => hunk.turn === turn));
  return drafts.map((draft) => ({ kind: "document", folder, root: folder.root, path: draft.path, draft, turn }));
}

function hunksOf({ draft, turn, root, path: name }: DocumentNode): HunkNode[] {
  const hunks = openHunks(draft).filter((hunk) => hunk.turn === turn);
  return hunks.map((hunk) => ({ kind: "hunk", root, path: name, hunk }));
}

function documentItem({ folder, path: name, draft, turn }: DocumentNode): vscode.TreeItem {
  const count = openHunks(draft).filter((hunk) => hunk.turn === turn).length;
  const item = new vscode.TreeItem(path.posix.basename(name), vscode.TreeItemCollapsibleState.Expanded);
  const where = path.posix.dirname(name);
  item.id = `${folder.root}\0${turn}\0${name}`;
  item.description = `${where === "." ? "" : `${where} · `}${count === 1 ? "1 change" : `${count} changes`}`;
  item.resourceUri = folder.uriOf(name);
  item.iconPath = vscode.ThemeIcon.File;
  item.contextValue = "document";
  item.command = { title: "Review", command: "redraft.openDocument", arguments: [folder.uriOf(name)] };
  return item;
}

function hunkItem({ hunk, root, path: name }: HunkNode): vscode.TreeItem {
  const item = new vscode.TreeItem(describeHunk(hunk));
  item.id = `${root}\0${name}\0${hunk.hunk_id}`;
  item.description = [`line ${hunk.working_start_line}`, describeLabels(hunk)].filter(Boolean).join(" · ");
  item.iconPath = new vscode.ThemeIcon(hunk.conflict ? "warning" : icon(hunk));
  item.contextValue = hunk.conflict ? "conflict" : "hunk";
  item.tooltip = [hunk.warning ?? "", hunk.base && `Before:\n${hunk.base}`, hunk.working && `After:\n${hunk.working}`]
    .filter(Boolean)
    .join("\n\n");
  item.command = { title: "Show", command: "redraft.showHunk", arguments: [{ root, path: name, hunk }] };
  return item;
}

function icon({ base, working }: Hunk): string {
  if (base === "") return "diff-added";
  return working === "" ? "diff-removed" : "diff-modified";
}

export function ago(seconds: number): string {
  const past = Math.max(0, Date.now() / 1000 - seconds);
  if (past < 60) return "just now";
  if (past < 3600) return `${Math.floor(past / 60)} min ago`;
  if (past < 86_400) return `${Math.floor(past / 3600)} h ago`;
  return new Date(seconds * 1000).toLocaleDateString();
}

export function registerPendingTree(folders: Folders): vscode.Disposable {
  const tree = new PendingTree(folders);
  const view = vscode.window.createTreeView("redraft.pending", { treeDataProvider: tree, showCollapseAll: true });
  const count = () => {
    const value = folders.all.flatMap(({ drafts }) => drafts).flatMap(openHunks).length;
    view.badge =
      value === 0 ? undefined : { value, tooltip: value === 1 ? "1 change to review" : `${value} changes to review` };
    void vscode.commands.executeCommand("setContext", "redraft.pending", value > 0);
  };
  return vscode.Disposable.from(view, folders.onDidReview(count));
}
