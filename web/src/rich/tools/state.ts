/** What the tools of one editor share: which of them is open, and the document's path. Gone with the editor. */

import type { Editor } from "@tiptap/core";
import { useStore } from "zustand";
import { createStore, type StoreApi } from "zustand/vanilla";
import type { EditorAction } from "./actions";

/** The open slash menu: its items, the selected one, and its place. */
export interface Slash {
  items: EditorAction[];
  at: number;
  place: () => DOMRect | null;
  choose: (act: EditorAction) => void;
  close: () => void;
}

export interface ToolState {
  path: string;
  find: boolean;
  link: boolean;
  slash: Slash | null;
}

const states = new WeakMap<Editor, StoreApi<ToolState>>();

export function toolState(editor: Editor): StoreApi<ToolState> {
  let found = states.get(editor);
  if (!found) {
    found = createStore<ToolState>(() => ({ path: "", find: false, link: false, slash: null }));
    states.set(editor, found);
  }
  return found;
}

export function useTools<T>(editor: Editor, select: (state: ToolState) => T): T {
  return useStore(toolState(editor), select);
}
