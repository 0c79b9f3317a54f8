/** A document in the editor: `redraft:` and the path of its file. */

import * as path from "node:path";
import * as vscode from "vscode";

/** A document as Redraft has it: with what waits for review, and typing that is not saved. */
export const SCHEME = "redraft";
/** The same document before the changes that wait. */
export const BASE_SCHEME = "redraft-base";
/** A document before or after a turn. */
export const TURN_SCHEME = "redraft-turn";

export const toLive = (uri: vscode.Uri): vscode.Uri => vscode.Uri.from({ scheme: SCHEME, path: uri.path });
export const toBase = (uri: vscode.Uri): vscode.Uri => vscode.Uri.from({ scheme: BASE_SCHEME, path: uri.path });
export const toFile = (uri: vscode.Uri): vscode.Uri => vscode.Uri.file(uri.path);

export function toTurn(root: string, name: string, turn: number, side: "before" | "after"): vscode.Uri {
  return vscode.Uri.from({ scheme: TURN_SCHEME, path: path.posix.join(root, name), query: `${turn}/${side}` });
}

/** A file's path in a folder, as the server names it; null where it is somewhere else. */
export function pathIn(root: string, uri: vscode.Uri): string | null {
  const found = path.posix.relative(root, uri.path);
  return found === "" || found.startsWith("../") || found === ".." ? null : found;
}
