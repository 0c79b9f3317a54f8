/**
 * The browser tells the editor of a moved cursor with the next frame. On a busy machine the next key is faster, and would
 * be taken at the old place; and a change that arrives meanwhile would put the cursor back. So the editor hears of it
 * before either.
 */

import { Extension } from "@tiptap/core";
import { Plugin } from "@tiptap/pm/state";
import type { EditorView } from "@tiptap/pm/view";

const ACTS = ["keydown", "beforeinput", "pointerdown", "copy", "cut", "paste"] as const;

/** Let the editor hear where the cursor is by now. */
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
        // Everywhere in the window, since a button of the toolbar acts on the selection too.
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
