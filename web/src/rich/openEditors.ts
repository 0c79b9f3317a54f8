/** The rich editors that are open in this window, for those who act in them: the live bridge, the tools. */

import type { Editor } from "@tiptap/core";
import type { Session } from "@/live/session";

export interface OpenEditor {
  path: string;
  editor: Editor;
  session: Session;
  /** Bring what was typed so far into the shared text; whether it is there. */
  flush(): Promise<boolean>;
  /** The same, and show what others did to it; whether both went well. */
  settle(): Promise<boolean>;
  /** When the person was last in it, by `Date.now()`; 0 where they were not yet. */
  focusedAt: number;
}

/** By path. */
export const openEditors: ReadonlyMap<string, OpenEditor> = new Map();

const editors = openEditors as Map<string, OpenEditor>;
const listeners = new Set<() => void>();

/** Be told when an editor was opened, closed or focused; the answer ends it. */
export function onEditorsChanged(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function registerEditor(editor: OpenEditor): void {
  editors.set(editor.path, editor);
  notifyListeners();
}

/** It shows its document under another name than before. */
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
