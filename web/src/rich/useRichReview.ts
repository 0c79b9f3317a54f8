import { Text } from "@codemirror/state";
import { Node } from "@tiptap/pm/model";
import { useEffect } from "react";
import { baseOf, type Draft, type Hunk, place } from "@/review/placing";
import { asking } from "./asking";
import { type Change, changesIn, lined } from "./changes";
import { hearCursor } from "./cursorHeard";
import type { RichEditing } from "./editing";
import { linesOf } from "./places";
import { showChanges } from "./reviewing";

const NONE: Hunk[] = [];

/** Shows a review in a rich editor; `text` is the shared text that the editor shows by now, null while it does not. */
export function useRichReview(editing: RichEditing | null, draft: Draft | null, text: string | null): void {
  const whole = draft?.kind === "created" || draft?.kind === "deleted";
  const hunks = draft && !whole ? draft.hunks : NONE;
  useEffect(() => {
    if (!editing || text === null) return;
    let ended = false;
    const show = async () => {
      const changes = await changesOf(editing, hunks);
      const { syncing, editor } = editing;
      if (!changes || ended) return;
      hearCursor(editor.view);
      if (syncing.settled && syncing.text === text) showChanges(editor.view, changes);
    };
    show().catch(() => undefined); // the server is away, and tells again when it is back
    return () => {
      ended = true;
    };
  }, [editing, hunks, text]);
}

/** What is shown; null where the review is about a text that has gone on, and comes again. */
async function changesOf({ syncing, editor }: RichEditing, all: readonly Hunk[]): Promise<Change[] | null> {
  const hunks = all.filter(({ kind }) => kind === "modified");
  if (hunks.length === 0) return [];
  const text = Text.of(linesOf(syncing.text));
  const { placed, whole } = place(hunks, text);
  if (!whole) return null;
  const base = baseOf(text, placed);
  const { blocks } = syncing;
  const working = { doc: await syncing.reading(), blocks };
  const read = await asking.parse(base);
  const before = { doc: Node.fromJSON(editor.schema, read.doc), blocks: read.blocks };
  return changesIn(editor.state.doc, working, before, lined(placed, text, Text.of(linesOf(base))));
}
