/** The extensions of all our editors. */

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
import { trackTyping } from "@/review/decisionStack";
import { stepBack, stepForward } from "@/review/decisions";
import { bindText } from "./binding";
import { showOtherCursors } from "./cursors";
import { language } from "./language";
import { theme } from "./theme";

/** Appearance and navigation, also for read-only text. */
export function viewExtensions(path: string, length: number): Extension {
  return [
    EditorView.cspNonce.of(nonce()),
    lineNumbers(),
    codeFolding(),
    foldGutter(),
    highlightSpecialChars(),
    drawSelection(),
    EditorState.allowMultipleSelections.of(true),
    EditorView.lineWrapping,
    EditorView.perLineTextDirection.of(true),
    bracketMatching(),
    highlightSelectionMatches(),
    search({ top: true }),
    language(path, length),
    theme,
  ];
}

/** A session's text and everything needed to type into it. */
export function editorFor(
  path: string,
  session: Session,
  onSave: () => void,
): { doc: EditorState["doc"]; extensions: Extension } {
  const { doc, extensions } = bindText(session);
  trackTyping(session, path);
  const keys = [
    { key: "Mod-s", run: asCommand(onSave), preventDefault: true, stopPropagation: true },
    { key: "Mod-z", run: asCommand(() => stepBack(path)), preventDefault: true },
    { key: "Mod-y", mac: "Mod-Shift-z", run: asCommand(() => stepForward(path)), preventDefault: true },
    { key: "Mod-Shift-z", run: asCommand(() => stepForward(path)), preventDefault: true },
  ];
  return {
    doc,
    extensions: [
      extensions,
      showOtherCursors(session),
      Prec.high(keymap.of(keys)),
      keymap.of([...searchKeymap, ...foldKeymap, ...defaultKeymap, indentWithTab]),
      EditorView.clipboardInputFilter.of(dropInvalid),
      dropCursor(),
      rectangularSelection(),
      crosshairCursor(),
      viewExtensions(path, doc.length),
    ],
  };
}

/** As an editor command that reports the key as handled. */
function asCommand(act: () => unknown): () => boolean {
  return () => {
    act();
    return true;
  };
}

/** Without what no document can contain: NUL, and unpaired surrogates. */
function dropInvalid(text: string): string {
  return text
    .replaceAll("\0", "")
    .replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd");
}
