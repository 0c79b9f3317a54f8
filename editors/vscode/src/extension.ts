/**
 * Redraft in VS Code, and in editors that are built on it.
 *
 * It joins the server of the folder and holds no truth of its own: what waits, what was decided and what was typed is
 * at the server, and every window and the app show the same.
 */

import * as vscode from "vscode";
import { registerChat } from "./chat";
import { registerComments } from "./comments";
import { bindDocuments } from "./fileSystem";
import { Folders, usedRoots } from "./folders";
import { registerHistory } from "./history";
import { registerLenses } from "./lenses";
import { showMarks } from "./marks";
import { registerOpening } from "./opening";
import { registerPendingTree } from "./pendingTree";
import { registerQuickDiff } from "./quickDiff";
import { attempt, registerReviewCommands } from "./reviewCommands";
import { registerSessions } from "./sessions";

let folders: Folders | null = null;

export function activate(context: vscode.ExtensionContext): void {
  const all = new Folders();
  folders = all;
  context.subscriptions.push(
    all,
    registerPendingTree(all),
    registerQuickDiff(all),
    registerLenses(all),
    showMarks(all),
    registerReviewCommands(all),
    registerOpening(all),
    registerHistory(all),
    registerComments(all),
    registerChat(all, context.extensionUri),
    registerSessions(all),
    vscode.commands.registerCommand("redraft.join", () =>
      attempt(async () => {
        const roots = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === "file");
        if (roots.length === 0) throw new Error("Open a folder first.");
        for (const { uri } of roots) await all.join(uri.fsPath);
      }),
    ),
    bindDocuments(all),
  );
  for (const root of usedRoots()) void attempt(() => all.join(root));
}

export async function deactivate(): Promise<void> {
  await folders?.close();
}
