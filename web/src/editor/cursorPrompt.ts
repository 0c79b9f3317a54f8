import type { EditorView } from "@codemirror/view";
import type { PlacedHunk } from "@/review/hunkPlaces";
import type { CursorPrompt } from "@/state/store";

/** What the agent is asked about in the source view: the selection, the cursor's line, or a change to refine. */
export function cursorPrompt(view: EditorView, path: string, change?: PlacedHunk): CursorPrompt {
  const { doc, selection } = view.state;
  const { from, to } = change ?? selection.main;
  const [first, last] = [doc.lineAt(from), doc.lineAt(to)];
  const text = doc.sliceString(from, to);
  return {
    path,
    startLine: first.number,
    endLine: last.number,
    text,
    empty: first.text.trim() === "",
    ...(change && { refine: text || change.hunk.base }),
    place: () => placeOf(view, from, to),
    back: () => view.focus(),
  };
}

function placeOf(view: EditorView, from: number, to: number): DOMRect {
  const { length } = view.state.doc;
  const [start, end] = [view.coordsAtPos(Math.min(from, length)), view.coordsAtPos(Math.min(to, length))];
  const area = view.scrollDOM.getBoundingClientRect();
  if (!start || !end) return new DOMRect(area.left + 16, area.top + 16, 0, 0);
  const left = Math.min(start.left, end.left);
  return new DOMRect(left, start.top, Math.max(end.right - left, 0), end.bottom - start.top);
}
