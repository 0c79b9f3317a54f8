import { Text } from "@codemirror/state";
import { Node } from "@tiptap/pm/model";
import { useEffect } from "react";
import { withApplied } from "@/review/appliedHunks";
import { baseOf, type Draft, type Hunk, placeHunks } from "@/review/hunkPlaces";
import { isTyping } from "@/review/useArrivals";
import { show, useStore } from "@/state/store";
import { type Change, findChanges, withLines } from "./changes";
import { markdownApi } from "./markdownApi";
import { linesOf } from "./places";
import type { RichEditor } from "./richEditor";
import { goToFirstHunk, hasHunkOf, showChanges, showFirstHunk } from "./richReview";
import { flushSelection } from "./selectionFlush";

const NONE: Hunk[] = [];

/** Shows a review in a rich editor; `text` is the shared text that the editor shows, null while it does not. */
export function useRichReview(
  editing: RichEditor | null,
  draft: Draft | null,
  applied: readonly Hunk[],
  text: string | null,
): void {
  const whole = draft?.kind === "created";
  const hunks = draft && !whole ? draft.hunks : NONE;
  const arrived = useStore((store) => store.arrived);
  const path = editing?.path;
  useEffect(() => {
    if (!editing || text === null) return;
    let ended = false;
    const showReview = async () => {
      const changes = await changesOf(editing, hunks, applied);
      const { sync, editor } = editing;
      if (!changes || ended) return;
      flushSelection(editor.view);
      if (!sync.settled || sync.text !== text) return;
      showChanges(editor.view, changes);
      if (arrived?.path === path && hasHunkOf(editor.view, arrived?.turn)) {
        show({ arrived: null });
        if (arrived?.focus) goToFirstHunk(editor.view, arrived.turn);
        else if (!isTyping()) showFirstHunk(editor.view, arrived?.turn);
      }
    };
    showReview().catch(() => undefined); // the server is unreachable, and reports again when it is back
    return () => {
      ended = true;
    };
  }, [editing, path, hunks, applied, text, arrived]);
}

/** What is shown; null if the review is about an outdated text, and will be fetched again. */
async function changesOf(
  { sync, editor }: RichEditor,
  all: readonly Hunk[],
  applied: readonly Hunk[],
): Promise<Change[] | null> {
  if (all.length + applied.length === 0) return [];
  const text = Text.of(linesOf(sync.text));
  const hunks = withApplied(all, applied, text);
  if (hunks.length === 0) return [];
  const { placed, whole } = placeHunks(hunks, text);
  if (!whole) return null;
  const base = baseOf(text, placed);
  const { blocks } = sync;
  const working = { doc: await sync.parseText(), blocks };
  const read = await markdownApi.parse(base);
  const before = { doc: Node.fromJSON(editor.schema, read.doc), blocks: read.blocks };
  return findChanges(editor.state.doc, working, before, withLines(placed, text, Text.of(linesOf(base))), sync.text);
}
