import type { EditorView } from "@codemirror/view";
import { useEffect } from "react";
import type { Draft, Hunk } from "./placing";
import { placedField, setHunks } from "./reviewState";

const NONE: Hunk[] = [];

/** Shows a review in an editor. Nothing is marked in a document that is decided as a whole. */
export function useHunks(view: EditorView | null, draft: Draft | null): void {
  const whole = draft?.kind === "created" || draft?.kind === "deleted";
  const hunks = draft && !whole ? draft.hunks : NONE;
  useEffect(() => {
    if (!view || (hunks.length === 0 && view.state.field(placedField).length === 0)) return;
    view.dispatch({ effects: setHunks.of(hunks.filter(({ kind }) => kind === "modified")) });
  }, [view, hunks]);
}
