/** What others learn about a rich editor, with a delay: the status bar, the agent's context, other windows. */

import { Text } from "@codemirror/state";
import type { Editor } from "@tiptap/core";
import * as Y from "yjs";
import type { Facts } from "@/editor/facts";
import { countText } from "@/editor/textCounts";
import { show, useStore } from "@/state/store";
import { lineStarts, linesOf } from "./lines";
import { toPlace } from "./places";
import type { RichEditor } from "./richEditor";

const PLACE_AFTER_MS = 150;
const COUNT_AFTER_MS = 600;

/** Follow an editor; returns the function that ends it. */
export function trackFacts(editing: RichEditor, facts: Facts): () => void {
  const { editor, session } = editing;
  let placing: ReturnType<typeof setTimeout> | undefined;
  let counting: ReturnType<typeof setTimeout> | undefined;
  let giveUp: () => void = () => undefined;
  const place = () => {
    placing = undefined;
    reportPlace(editing, facts);
    reportSelection(editing);
    session.awareness.setLocalStateField("cursor", editor.isFocused ? cursorOf(editing) : null);
  };
  const placeSoon = () => {
    placing ??= setTimeout(place, PLACE_AFTER_MS);
  };
  const countNow = () => {
    giveUp();
    giveUp = countText(Text.of(linesOf(editing.sync.text)), (counts) => facts.update({ counts }));
  };
  const countSoon = () => {
    clearTimeout(counting);
    counting = setTimeout(countNow, COUNT_AFTER_MS);
  };
  const events = ["selectionUpdate", "focus", "blur"] as const;
  for (const event of events) editor.on(event, placeSoon);
  editor.on("update", countSoon);
  placeSoon();
  countNow();
  return () => {
    for (const event of events) editor.off(event, placeSoon);
    editor.off("update", countSoon);
    clearTimeout(placing);
    clearTimeout(counting);
    giveUp();
    session.awareness.setLocalStateField("cursor", null);
    if (useStore.getState().selection?.path === editing.path) show({ selection: null });
  };
}

function reportPlace({ editor, content }: RichEditor, facts: Facts): void {
  const { from, to, head } = editor.state.selection;
  const { line, column } = toPlace(content, head);
  const newlines = content.text.includes("\r\n") ? "CRLF" : "LF";
  facts.update({ line: line + 1, column: column + 1, selected: textOf(editor, from, to).length, newlines });
}

function reportSelection({ editor, content, path }: RichEditor): void {
  const { from, to, empty } = editor.state.selection;
  if (empty) {
    if (useStore.getState().selection?.path === path) show({ selection: null });
    return;
  }
  const [start, end] = [toPlace(content, from), toPlace(content, to)];
  const text = textOf(editor, from, to);
  show({ selection: { path, startLine: start.line + 1, endLine: end.line + 1, text } });
}

function textOf(editor: Editor, from: number, to: number): string {
  return editor.state.doc.textBetween(from, to, "\n", " ");
}

/** The cursor as a position in the shared text; null while the editor shows another text. */
function cursorOf({ editor, content, session, sync }: RichEditor) {
  if (!sync.settled) return null;
  const { anchor, head } = editor.state.selection;
  const place = (position: number) => {
    const { line, column } = toPlace(content, position);
    return Y.createRelativePositionFromTypeIndex(session.text, (lineStarts(content.text)[line] ?? 0) + column);
  };
  return { anchor: place(anchor), head: place(head) };
}
