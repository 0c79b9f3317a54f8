import { Text } from "@codemirror/state";
import { useEffect } from "react";
import { baseOf, type Draft, type Hunk, placeHunks } from "@/review/hunkPlaces";
import { type Change, findChanges, withLines } from "./changes";
import { linesOf } from "./lines";
import type { RichEditor } from "./richEditor";
import { showChanges } from "./richReview";
import { flushSelection } from "./selectionFlush";

const NONE: Hunk[] = [];

/** Shows a review in a rich editor; `text` is the shared text that the editor shows, null while it does not. */
export function useRichReview(editing: RichEditor | null, draft: Draft | null, text: string | null): void {
  const whole = draft?.kind === "created";
  const hunks = draft && !whole ? draft.hunks : NONE;
  useEffect(() => {
    if (!editing || text === null) return;
    let ended = false;
    const show = async () => {
      const changes = await changesOf(editing, hunks);
      const { sync, editor } = editing;
      if (!changes || ended) return;
      flushSelection(editor.view);
      if (sync.settled && sync.text === text) showChanges(editor.view, changes);
    };
    show().catch(() => undefined); // the server is unreachable, and reports again when it is back
    return () => {
      ended = true;
    };
  }, [editing, hunks, text]);
}

/** What is shown; null if the review is about an outdated text, and will be fetched again. */
async function changesOf({ sync, editor }: RichEditor, all: readonly Hunk[]): Promise<Change[] | null> {
  const hunks = all.filter(({ kind }) => kind === "modified");
  if (hunks.length === 0) return [];
  const text = Text.of(linesOf(sync.text));
  const { placed, whole } = placeHunks(hunks, text);
  if (!whole) return null;
  const base = baseOf(text, placed);
  const working = sync.read;
  const before = await sync.parse(base);
  return findChanges(editor.state.doc, working, before, withLines(placed, text, Text.of(linesOf(base))));
}
