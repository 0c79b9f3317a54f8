/** The rich editors that are open in this window, for the live bridge and the tools. */

import type { Editor } from "@tiptap/core";
import type { Session } from "@/live/session";

export interface OpenEditor {
  path: string;
  editor: Editor;
  session: Session;
  /** Bring what was typed so far into the shared text; returns whether it is there. */
  flush(): Promise<boolean>;
  /** The same, and show what others did to it; returns whether both succeeded. */
  settle(): Promise<boolean>;
  /** When the person last used it, by `Date.now()`; 0 if never. */
  focusedAt: number;
}

/** By path. */
export const openEditors: ReadonlyMap<string, OpenEditor> = new Map();

const editors = openEditors as Map<string, OpenEditor>;
const listeners = new Set<() => void>();

/** Be notified when an editor is opened, closed or focused; returns the function that unsubscribes. */
export function onEditorsChanged(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function registerEditor(editor: OpenEditor): void {
  editors.set(editor.path, editor);
  notifyListeners();
}

/** It shows its document under a new name. */
export function renameEditor(editor: OpenEditor, from: string): void {
  if (editors.get(from) === editor) editors.delete(from);
  registerEditor(editor);
}

export function noteFocus(editor: OpenEditor): void {
  editor.focusedAt = Date.now();
  notifyListeners();
}

export function unregisterEditor(editor: OpenEditor): void {
  if (editors.get(editor.path) !== editor) return;
  editors.delete(editor.path);
  notifyListeners();
}

function notifyListeners(): void {
  for (const listener of listeners) listener();
}
