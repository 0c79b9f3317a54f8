import { posToDOMRect } from "@tiptap/core";
import type { CursorPrompt } from "@/state/store";
import { linesOf, toPlace } from "./places";
import type { RichEditor } from "./richEditor";

/** What the agent is asked about in the rich view: the selection, the cursor's line, or a change to refine. */
export function cursorPrompt(
  { editor, content, path }: RichEditor,
  change?: { from: number; to: number; words: string },
): CursorPrompt {
  const { from, to, $from, empty } = editor.state.selection;
  const [start, end] = change ? [change.from, change.to] : [from, to];
  const [first, last] = [toPlace(content, start), toPlace(content, end)];
  const isEmpty = !change && empty && $from.parent.content.size === 0;
  // An empty paragraph has no line of its own in the markdown: it comes after the block before it.
  const line = isEmpty ? Math.min(first.line + 2, linesOf(content.text).length) : first.line + 1;
  return {
    path,
    startLine: line,
    endLine: isEmpty ? line : last.line + 1,
    text: editor.state.doc.textBetween(start, end, "\n", " "),
    empty: isEmpty,
    ...(change && { refine: change.words }),
    place: () => posToDOMRect(editor.view, start, end),
    back: () => editor.view.focus(),
  };
}
