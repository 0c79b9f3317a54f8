/** The changes that wait, marked in the text: words that are added and, struck through, words that are taken out. */

import * as vscode from "vscode";
import type { Folders } from "./folders";
import { isOpen, isWhole, type PlacedHunk } from "./hunks";
import type { LiveDocument } from "./liveDocument";
import { toPlain } from "./positions";
import { diffTokens, splitWords } from "./textDiff";

const MAX_REMOVED = 160;
const color = (id: string) => new vscode.ThemeColor(id);

const added = vscode.window.createTextEditorDecorationType({
  backgroundColor: color("redraft.insertedText"),
  overviewRulerColor: color("editorOverviewRuler.addedForeground"),
  overviewRulerLane: vscode.OverviewRulerLane.Center,
  rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
});
const conflicting = vscode.window.createTextEditorDecorationType({
  backgroundColor: color("redraft.conflict"),
  overviewRulerColor: color("redraft.conflict"),
  rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
});
const removed = vscode.window.createTextEditorDecorationType({
  overviewRulerColor: color("editorOverviewRuler.deletedForeground"),
  overviewRulerLane: vscode.OverviewRulerLane.Center,
});

/** Where words were added, and before which places words were taken out; in units of the text that is shown. */
export interface Marks {
  added: { from: number; to: number }[];
  removed: { at: number; text: string }[];
}

/** A hunk, word by word. */
export function markHunk({ hunk, from }: PlacedHunk): Marks {
  const marks: Marks = { added: [], removed: [] };
  const base = toPlain(hunk.base);
  let shift = from;
  for (const edit of diffTokens(splitWords(base), splitWords(toPlain(hunk.working)))) {
    const at = edit.from + shift;
    if (edit.insert !== "") marks.added.push({ from: at, to: at + edit.insert.length });
    if (edit.to > edit.from) marks.removed.push({ at, text: base.slice(edit.from, edit.to) });
    shift += edit.insert.length - (edit.to - edit.from);
  }
  return marks;
}

/** Text that is not in the document, on one line. */
function onOneLine(text: string): string {
  const shown = text.replace(/\n$/, "").replaceAll("\n", "⏎");
  return shown.length > MAX_REMOVED ? `${shown.slice(0, MAX_REMOVED)}…` : shown;
}

function toDecorations(live: LiveDocument, { hunk }: PlacedHunk, marks: Marks) {
  const hover = new vscode.MarkdownString();
  if (hunk.base) hover.appendMarkdown("Before:").appendCodeblock(toPlain(hunk.base), "text");
  return {
    added: marks.added.map((range) => ({ range: live.range(range), hoverMessage: hover })),
    removed: marks.removed.map(({ at, text }) => ({
      range: live.range({ from: at, to: at }),
      hoverMessage: hover,
      renderOptions: {
        before: {
          contentText: onOneLine(text),
          color: color("redraft.deletedText"),
          textDecoration: "line-through",
          margin: "0 0.15em 0 0",
        },
      },
    })),
  };
}

/** Whether an editor is a side of a diff, or in a peek: those show by themselves what was there before. */
function isComparison({ viewColumn, document }: vscode.TextEditor): boolean {
  const group = vscode.window.tabGroups.all.find((each) => each.viewColumn === viewColumn);
  const { input } = group?.activeTab ?? {};
  return !(input instanceof vscode.TabInputText && input.uri.toString() === document.uri.toString());
}

export function showMarks(folders: Folders): vscode.Disposable {
  const draw = (editor: vscode.TextEditor) => {
    if (isComparison(editor)) {
      for (const each of [added, removed, conflicting]) editor.setDecorations(each, []);
      return;
    }
    const live = folders.live(editor.document.uri);
    if (!live || toPlain(editor.document.getText()) !== live.shown) return; // drawn once it is what is known
    const shown = live.placed.filter(({ hunk }) => isOpen(hunk) && !isWhole(hunk));
    const found = shown.map((placed) => toDecorations(live, placed, markHunk(placed)));
    const clashes = shown.filter(({ hunk }) => hunk.conflict);
    editor.setDecorations(
      added,
      found.flatMap((each) => each.added),
    );
    editor.setDecorations(
      removed,
      found.flatMap((each) => each.removed),
    );
    editor.setDecorations(
      conflicting,
      clashes.map((placed) => ({ range: live.range(placed) })),
    );
  };
  const listening = new Map<LiveDocument, vscode.Disposable>();
  const follow = () => {
    const editors = vscode.window.visibleTextEditors;
    const shown = new Set(editors.flatMap((editor) => folders.live(editor.document.uri) ?? []));
    for (const [live, listener] of listening) {
      if (shown.has(live)) continue;
      listener.dispose();
      listening.delete(live);
    }
    for (const live of shown) {
      if (listening.has(live)) continue;
      const redraw = () => {
        for (const editor of vscode.window.visibleTextEditors)
          if (folders.live(editor.document.uri) === live) draw(editor);
      };
      listening.set(live, live.onDidChange(redraw));
    }
    for (const editor of editors) draw(editor);
  };
  return vscode.Disposable.from(
    vscode.window.onDidChangeVisibleTextEditors(follow),
    folders.onDidReview(follow),
    added,
    removed,
    conflicting,
  );
}
