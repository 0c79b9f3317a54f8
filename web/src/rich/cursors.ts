/** Others' cursors in the rich view, including the agent's. */

import { Extension } from "@tiptap/core";
import { Plugin, PluginKey } from "@tiptap/pm/state";
import { Decoration, DecorationSet } from "@tiptap/pm/view";
import * as Y from "yjs";
import { colourOf } from "@/editor/cursors";
import { lineAt, lineStarts } from "./lines";
import { toPosition } from "./places";
import type { RichEditor } from "./richEditor";
import { flushSelection } from "./selectionFlush";

interface Presence {
  user?: { name?: string; kind?: string };
  cursor?: { head: unknown } | null;
}

const key = new PluginKey<DecorationSet>("cursors");
const AFTER_MS = 60;

export const cursors = Extension.create({
  name: "cursors",
  addProseMirrorPlugins: () => [
    new Plugin<DecorationSet>({
      key,
      state: {
        init: () => DecorationSet.empty,
        apply: (tr, value) => (tr.getMeta(key) as DecorationSet | undefined) ?? value.map(tr.mapping, tr.doc),
      },
      props: { decorations: (state) => key.getState(state) },
    }),
  ],
});

/** Show others' cursors; returns the function that ends it. */
export function showCursors(editing: RichEditor): () => void {
  const { awareness } = editing.session;
  let showing: ReturnType<typeof setTimeout> | undefined;
  const show = () => {
    showing = undefined;
    flushSelection(editing.editor.view);
    // Until the editor shows the text that they are in, they stay where they were.
    if (!editing.sync.settled) return;
    const { view, state } = editing.editor;
    const found = [...awareness.getStates()].flatMap(([client, presence]) => mark(editing, client, presence));
    if (found.length === 0 && key.getState(state) === DecorationSet.empty) return;
    const set = found.length > 0 ? DecorationSet.create(state.doc, found) : DecorationSet.empty;
    view.dispatch(state.tr.setMeta(key, set));
  };
  const soon = () => {
    showing ??= setTimeout(show, AFTER_MS);
  };
  awareness.on("change", soon);
  soon();
  return () => {
    awareness.off("change", soon);
    clearTimeout(showing);
  };
}

function mark(editing: RichEditor, client: number, presence: Presence): Decoration[] {
  const { session, content } = editing;
  const { user, cursor } = presence;
  if (client === session.awareness.clientID || !cursor) return [];
  const relative = Y.createRelativePositionFromJSON(cursor.head);
  const found = Y.createAbsolutePositionFromRelativePosition(relative, session.doc);
  if (found?.type !== session.text) return [];
  const starts = lineStarts(content.text);
  const line = lineAt(starts, found.index);
  const place = { line, column: found.index - (starts[line] ?? 0) };
  const colour = user?.kind === "agent" ? "var(--agent)" : colourOf(client);
  const name = user?.name ?? "Someone";
  const spec = { side: 1, key: `${client} ${name}`, ignoreSelection: true };
  return [Decoration.widget(toPosition(content, place), () => caret(name, colour), spec)];
}

function caret(name: string, colour: string): HTMLElement {
  const found = document.createElement("span");
  found.className = "rich-caret";
  // Through the DOM: the page's content security policy allows no style attributes.
  found.style.setProperty("--colour", colour);
  const label = found.appendChild(document.createElement("span"));
  label.textContent = name;
  return found;
}
