/** The editor's theme: uses the tokens of `styles/tokens.css`, so that one theme is light and dark. */

import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const look = EditorView.theme({
  "&": { height: "100%", color: "var(--ink)", backgroundColor: "var(--surface)", fontSize: "var(--prose-size, 15px)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--prose, var(--mono))", lineHeight: "24px", overflow: "auto" },
  ".cm-content": { caretColor: "var(--ink)", padding: "12px 0 40vh", maxWidth: "min(100%, 86ch)" },
  // Each line has the direction of its own first letters.
  ".cm-line": { padding: "0 16px 0 8px", unicodeBidi: "plaintext" },
  ".cm-gutters": {
    backgroundColor: "var(--surface)",
    color: "var(--ink-soft)",
    border: "0",
    fontFamily: "var(--mono)",
  },
  ".cm-lineNumbers .cm-gutterElement": {
    fontSize: "12px",
    lineHeight: "24px",
    minWidth: "36px",
    padding: "0 4px 0 8px",
  },
  ".cm-foldGutter .cm-gutterElement": { cursor: "pointer", padding: "0 2px" },
  ".cm-activeLine": { backgroundColor: "transparent" },
  ".cm-activeLineGutter": { backgroundColor: "transparent", color: "var(--ink)" },
  ".cm-cursor, .cm-dropCursor": { borderLeftColor: "var(--ink)", borderLeftWidth: "2px" },
  ".cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": {
    background: "color-mix(in srgb, var(--focus) 28%, transparent)",
  },
  ".cm-selectionMatch": { backgroundColor: "color-mix(in srgb, var(--focus) 16%, transparent)" },
  ".cm-searchMatch": { backgroundColor: "var(--warn-soft)", outline: "1px solid var(--warn)" },
  ".cm-searchMatch-selected": { backgroundColor: "color-mix(in srgb, var(--warn) 40%, transparent)" },
  ".cm-foldPlaceholder": { background: "var(--raised)", border: "1px solid var(--line)", color: "var(--ink-soft)" },
  ".cm-specialChar": { color: "var(--danger)" },
  ".cm-panels": { backgroundColor: "var(--raised)", color: "var(--ink)", zIndex: "6" },
  ".cm-panels.cm-panels-top": { borderBottom: "1px solid var(--line)" },
  ".cm-panels.cm-panels-bottom": { borderTop: "1px solid var(--line)" },
  ".cm-panel": { padding: "6px 30px 6px 10px", fontFamily: "var(--sans)", fontSize: "var(--body)" },
  ".cm-panel label": { display: "inline-flex", alignItems: "center", gap: "4px", marginRight: "8px" },
  ".cm-panel .cm-textfield, .cm-panel .cm-button, .cm-panel label": { fontSize: "13px" },
  ".cm-tooltip": {
    border: "1px solid var(--line)",
    borderRadius: "8px",
    background: "var(--surface)",
    boxShadow: "var(--shadow)",
  },
  ".cm-textfield": {
    background: "var(--surface)",
    border: "1px solid var(--line)",
    borderRadius: "4px",
    padding: "3px 6px",
  },
  ".cm-button": {
    background: "var(--surface)",
    border: "1px solid var(--line)",
    borderRadius: "4px",
    padding: "3px 8px",
    cursor: "pointer",
  },
  ".cm-panel [name=close]": { color: "var(--ink)", fontSize: "18px", right: "8px", top: "4px", cursor: "pointer" },
  ".cm-caret": { position: "relative", borderLeft: "2px solid var(--colour)", margin: "0 -1px" },
  ".cm-caretName": {
    position: "absolute",
    top: "-1.5em",
    left: "-2px",
    padding: "0 4px",
    borderRadius: "3px 3px 3px 0",
    background: "var(--colour)",
    color: "#fff",
    font: "11px/16px var(--sans)",
    whiteSpace: "nowrap",
    pointerEvents: "none",
    zIndex: "5",
  },
  ".cm-othersSelection": { backgroundColor: "color-mix(in srgb, var(--colour) 22%, transparent)" },
});

export const words = HighlightStyle.define([
  { tag: [tags.heading1, tags.heading2], fontWeight: "700", fontSize: "1.15em", color: "var(--ink)" },
  { tag: tags.heading, fontWeight: "700" },
  { tag: tags.strong, fontWeight: "700" },
  { tag: tags.emphasis, fontStyle: "italic" },
  { tag: tags.strikethrough, textDecoration: "line-through" },
  { tag: [tags.link, tags.url], color: "var(--accent)" },
  { tag: tags.quote, color: "var(--ink-soft)" },
  { tag: [tags.processingInstruction, tags.meta, tags.comment, tags.contentSeparator], color: "var(--ink-soft)" },
  { tag: tags.monospace, fontFamily: "var(--mono)", color: "var(--agent)" },
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--accent)" },
  { tag: tags.string, color: "var(--added-ink)" },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: "var(--warn)" },
  { tag: [tags.keyword, tags.typeName], color: "var(--agent)" },
  { tag: tags.invalid, color: "var(--danger)" },
]);

export const theme = [look, syntaxHighlighting(words)];
