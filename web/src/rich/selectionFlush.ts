/**
 * The browser reports a moved cursor to the editor with the next frame. On a busy machine the next key is faster, and
 * would be applied at the old position; and a change that arrives meanwhile would put the cursor back. So the editor is
 * told before either.
 */

import { Extension } from "@tiptap/core";
import { Plugin } from "@tiptap/pm/state";
import type { EditorView } from "@tiptap/pm/view";

const ACTS = ["keydown", "beforeinput", "pointerdown", "copy", "cut", "paste"] as const;

/** Tell the editor where the cursor is now. */
export function flushSelection(view: EditorView): void {
  if (!view.isDestroyed && !view.composing) view.dom.ownerDocument.dispatchEvent(new Event("selectionchange"));
}

export const flushSelectionOnInput = Extension.create({
  name: "cursorHeard",
  addProseMirrorPlugins: () => [
    new Plugin({
      view: (view) => {
        const hear = (event: Event) => {
          const composing = (event instanceof KeyboardEvent || event instanceof InputEvent) && event.isComposing;
          if (!composing && view.hasFocus()) flushSelection(view);
        };
        // Everywhere in the window, since toolbar buttons act on the selection too.
        for (const act of ACTS) window.addEventListener(act, hear, { capture: true });
        return {
          destroy: () => {
            for (const act of ACTS) window.removeEventListener(act, hear, { capture: true });
          },
        };
      },
    }),
  ],
});
