/** Who has the keyboard: a rich editor's text, or something beside it. */

import type { Editor } from "@tiptap/core";

/** Focus the text at once, so that the next key is for it. Tiptap's own `focus` waits for the next frame. */
export function focusEditor(editor: Editor): void {
  if (editor.isDestroyed || editor.view.hasFocus()) return;
  editor.view.focus();
  editor.commands.scrollIntoView();
}

/** Whether nothing else has the focus: somebody who types elsewhere, or uses buttons, is not interrupted. */
export function isFocusFree(editor: Element): boolean {
  const { activeElement, body } = editor.ownerDocument;
  return !activeElement || activeElement === body || editor.contains(activeElement);
}
