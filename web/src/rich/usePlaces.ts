/** Exchanges the cursor position of a rich editor with the other views. */

import { TextSelection } from "@tiptap/pm/state";
import { useEffect } from "react";
import { lastPlaces } from "@/editor/lastPlaces";
import { type Place, show, useStore } from "@/state/store";
import { chosenView } from "./documentViews";
import { linesOf } from "./lines";
import { type SourcePlace, toPlace, toPosition } from "./places";
import type { RichEditor } from "./richEditor";

/** Go to where the person was in the previous view; with the focus, if that view had it. */
export function restorePlace(editing: RichEditor): void {
  const last = lastPlaces.get(editing.path);
  if (last)
    goToPlace(editing, last, last, last.view !== "rich" || (last.focused && document.activeElement === document.body));
}

/** Remember where the person is, and send the source view there. */
export function rememberPlace(editing: RichEditor): void {
  const { path, content, editor } = editing;
  const place = toPlace(content, editor.state.selection.head);
  lastPlaces.set(path, { ...place, view: "rich", focused: editor.isFocused });
  if (chosenView(useStore.getState(), path) !== "source") return;
  const line = linesOf(content.text)[place.line] ?? "";
  show({ goingTo: { path, line: place.line + 1, column: [...line.slice(0, place.column)].length } });
}

/** Goes where the search, the outline or anything else sends the person, once the editor shows the text. */
export function useGoToPlace(editing: RichEditor | null, path: string, text: string | null): void {
  const goingTo = useStore((store) => store.goingTo);
  useEffect(() => {
    if (!editing || text === null || goingTo?.path !== path) return;
    const { from, to } = toRange(goingTo, text);
    goToPlace(editing, from, to, true);
    show({ goingTo: null });
  }, [editing, path, text, goingTo]);
}

/** A place from the API: a line from 1, a column and a length in characters. */
function toRange({ line, column = 0, length = 0 }: Place, text: string): { from: SourcePlace; to: SourcePlace } {
  const characters = [...(linesOf(text)[line - 1] ?? "")];
  const units = (count: number) => characters.slice(0, count).join("").length;
  return {
    from: { line: line - 1, column: units(column) },
    to: { line: line - 1, column: units(column + length) },
  };
}

function goToPlace({ editor, content }: RichEditor, from: SourcePlace, to: SourcePlace, focus: boolean): void {
  const { tr } = editor.state;
  const [start, end] = [toPosition(content, from), toPosition(content, to)];
  const selection = TextSelection.between(tr.doc.resolve(start), tr.doc.resolve(end));
  editor.view.dispatch(tr.setSelection(selection));
  const { node } = editor.view.domAtPos(selection.head);
  (node instanceof Element ? node : node.parentElement)?.scrollIntoView({ block: "center" });
  if (focus) editor.view.focus();
}
