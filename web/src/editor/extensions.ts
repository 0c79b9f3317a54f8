/** What every editor of ours can do. */

import { defaultKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, codeFolding, foldGutter, foldKeymap } from "@codemirror/language";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState, type Extension, Prec } from "@codemirror/state";
import {
  crosshairCursor,
  drawSelection,
  dropCursor,
  EditorView,
  highlightSpecialChars,
  keymap,
  lineNumbers,
  rectangularSelection,
} from "@codemirror/view";
import { nonce } from "@/app/nonce";
import type { Session } from "@/live/session";
import { bound } from "./binding";
import { cursors } from "./cursors";
import { language } from "./language";
import { theme } from "./theme";

/** Looks and ways of moving, for a text that is only read, too. */
export function reading(path: string, length: number): Extension {
  return [
    EditorView.cspNonce.of(nonce()),
    lineNumbers(),
    codeFolding(),
    foldGutter(),
    highlightSpecialChars(),
    drawSelection(),
    EditorState.allowMultipleSelections.of(true),
    EditorView.lineWrapping,
    bracketMatching(),
    highlightSelectionMatches(),
    search({ top: true }),
    language(path, length),
    theme,
  ];
}

/** A session's text and all that one needs to type into it. */
export function typing(
  path: string,
  session: Session,
  onSave: () => void,
): { doc: EditorState["doc"]; extensions: Extension } {
  const { doc, extensions } = bound(session);
  const { undo } = session;
  const keys = [
    { key: "Mod-s", run: always(onSave), preventDefault: true, stopPropagation: true },
    { key: "Mod-z", run: always(() => undo.undo()), preventDefault: true },
    { key: "Mod-y", mac: "Mod-Shift-z", run: always(() => undo.redo()), preventDefault: true },
    { key: "Mod-Shift-z", run: always(() => undo.redo()), preventDefault: true },
  ];
  return {
    doc,
    extensions: [
      extensions,
      cursors(session),
      Prec.high(keymap.of(keys)),
      keymap.of([...searchKeymap, ...foldKeymap, ...defaultKeymap, indentWithTab]),
      EditorView.clipboardInputFilter.of(sound),
      dropCursor(),
      rectangularSelection(),
      crosshairCursor(),
      reading(path, doc.length),
    ],
  };
}

/** As a command of the editor, which says that it has seen to the key. */
function always(act: () => unknown): () => boolean {
  return () => {
    act();
    return true;
  };
}

/** Without what no document can hold: NUL, and halves of characters. */
function sound(text: string): string {
  return text
    .replaceAll("\0", "")
    .replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd");
}
