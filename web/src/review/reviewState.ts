/** What an editor knows about a review: its hunks, each with its current place, and the actions on one. */

import { Facet, StateEffect, StateField } from "@codemirror/state";
import type { EditorView } from "@codemirror/view";
import { findHunkAt, type Hunk, isOpen, mapHunks, type PlacedHunk, placeHunks } from "./hunkPlaces";
import type { ReviewUnit } from "./reviewUnits";

/** What the bars and the keys do. */
export interface ReviewActions {
  decide: (act: "accept" | "reject", hunk: Hunk) => void;
  /** Open the three panes of a conflict. */
  settle: (hunk: Hunk) => void;
  showTurn: (turn: number) => void;
  /** Split a hunk in two. */
  split: (hunk: Hunk) => void;
  /** The larger units that a hunk is part of. */
  units: (hunk: Hunk) => ReviewUnit[];
  decideUnit: (act: "accept" | "reject", unit: ReviewUnit) => void;
  /** Ask the agent for something better. */
  refine: (hunk: Hunk) => void;
  /** Go on from the last change here to the first one in another document; returns whether there is one. */
  goOn: (step: number) => boolean;
  /** Whether only whole turns are decided. */
  byTurn: boolean;
}

const IDLE: ReviewActions = {
  decide: () => {},
  settle: () => {},
  showTurn: () => {},
  split: () => {},
  units: () => [],
  decideUnit: () => {},
  refine: () => {},
  goOn: () => false,
  byTurn: false,
};

export const reviewActions = Facet.define<ReviewActions, ReviewActions>({ combine: ([first]) => first ?? IDLE });

/** The hunks of a review, as fetched; those that cannot be found are left out until the next fetch. */
export const setHunks = StateEffect.define<readonly Hunk[]>();
/** Show the bar of a hunk, wherever the cursor is. */
export const pinHunk = StateEffect.define<string>();
/** A hunk was decided just now. */
export const dropHunk = StateEffect.define<string>();

export const hunksField = StateField.define<readonly PlacedHunk[]>({
  create: () => [],
  update(placed, transaction) {
    let found = transaction.docChanged && placed.length > 0 ? mapHunks(placed, transaction.changes) : placed;
    for (const effect of transaction.effects) {
      if (effect.is(setHunks)) found = placeHunks(effect.value, transaction.state.doc, found).placed;
      if (effect.is(dropHunk)) found = found.filter(({ hunk }) => hunk.hunk_id !== effect.value);
    }
    return found;
  },
});

/** The hunk that the cursor is in. */
export function currentHunk(view: EditorView): Hunk | undefined {
  const { hunk } = findHunkAt(view.state.field(hunksField), view.state.selection.main.head) ?? {};
  return hunk && isOpen(hunk) ? hunk : undefined;
}

/** How many lines below the first of this hunk the cursor is; undefined if it is elsewhere. */
export function cursorLineIn({ state }: EditorView, { hunk_id }: Hunk): number | undefined {
  const { head } = state.selection.main;
  const placed = state.field(hunksField).find(({ hunk }) => hunk.hunk_id === hunk_id);
  if (!placed || head <= placed.from || head >= placed.to) return undefined;
  return state.doc.lineAt(head).number - state.doc.lineAt(placed.from).number;
}
