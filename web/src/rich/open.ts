/** The rich editors that are open in this window, for those who act in them: the live bridge, the tools. */

import type { Editor } from "@tiptap/core";
import type { Session } from "@/live/session";

export interface OpenRich {
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
export const openRich: ReadonlyMap<string, OpenRich> = new Map();

const editors = openRich as Map<string, OpenRich>;
const listeners = new Set<() => void>();

/** Be told when an editor was opened, closed or focused; the answer ends it. */
export function onOpenRich(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function opened(editor: OpenRich): void {
  editors.set(editor.path, editor);
  tell();
}

/** It shows its document under another name than before. */
export function renamed(editor: OpenRich, from: string): void {
  if (editors.get(from) === editor) editors.delete(from);
  opened(editor);
}

export function focused(editor: OpenRich): void {
  editor.focusedAt = Date.now();
  tell();
}

export function closed(editor: OpenRich): void {
  if (editors.get(editor.path) !== editor) return;
  editors.delete(editor.path);
  tell();
}

function tell(): void {
  for (const listener of listeners) listener();
}
