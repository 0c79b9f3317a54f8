/** From hunk to hunk, with the keyboard. */

import { searchPanelOpen } from "@codemirror/search";
import { EditorView, type KeyBinding } from "@codemirror/view";
import { type Hunk, isOpen, type PlacedHunk } from "./hunkPlaces";
import { currentHunk, hunksField, reviewActions } from "./reviewState";

function openHunksIn(view: EditorView): PlacedHunk[] {
  return view.state.field(hunksField).filter(({ hunk }) => isOpen(hunk));
}

/** Go to a hunk; with the focus on its bar, where one key decides, or in the text. */
export function goToHunk(view: EditorView, { hunk, from }: PlacedHunk, toBar: boolean): void {
  view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
  if (!toBar) {
    view.focus();
    return;
  }
  const bar = findBar(view, hunk.hunk_id);
  if (bar) {
    bar.focus();
    return;
  }
  // After drawing: the bar of a hunk outside the view exists only then.
  view.requestMeasure({
    read: () => null,
    write: () => requestAnimationFrame(() => findBar(view, hunk.hunk_id)?.focus()),
  });
}

/** The accept button of a hunk. */
function findBar(view: EditorView, id: string): HTMLElement | null {
  return view.contentDOM.querySelector(`[data-hunk="${CSS.escape(id)}"] button[data-first]`);
}

/**
 * From the bar of one hunk to the next or the previous one; the returned function goes there. After the last one here
 * the next document comes, and if there is none, the first one again.
 */
export function stepFromBar(view: EditorView, id: string, step: number): () => void {
  const all = openHunksIn(view);
  const at = all.findIndex(({ hunk }) => hunk.hunk_id === id);
  const isLast = all[at + step] === undefined;
  const next = all[(at + step + all.length) % all.length]?.hunk.hunk_id;
  return () => {
    if (isLast && view.state.facet(reviewActions).goOn(step)) return;
    const found = openHunksIn(view).find(({ hunk }) => hunk.hunk_id === next);
    if (found && next !== id) goToHunk(view, found, true);
  };
}

/** From the cursor to the nearest hunk in a direction, of those that are `wanted`; after the last one in another document. */
export function stepToHunk(view: EditorView, step: number, wanted: (hunk: Hunk) => boolean = () => true): boolean {
  const all = openHunksIn(view).filter(({ hunk }) => wanted(hunk));
  const { head } = view.state.selection.main;
  const onward = step > 0 ? all.find(({ from }) => from > head) : all.findLast(({ from }) => from < head);
  if (!onward && view.state.facet(reviewActions).goOn(step)) return true;
  const next = onward ?? (step > 0 ? all[0] : all.at(-1));
  if (!next) return false;
  goToHunk(view, next, false);
  return true;
}

function decideCurrent(act: "accept" | "reject") {
  return (view: EditorView): boolean => {
    // Escape first closes the search, as everywhere.
    const hunk = searchPanelOpen(view.state) ? undefined : currentHunk(view);
    if (!hunk) return false;
    const actions = view.state.facet(reviewActions);
    if (act === "accept" && hunk.conflict) actions.settle(hunk);
    else actions.decide(act, hunk);
    return true;
  };
}

/** The keys of a review, while typing. */
export const reviewKeys: readonly KeyBinding[] = [
  { key: "Mod-Enter", run: decideCurrent("accept") },
  { key: "Escape", run: decideCurrent("reject") },
  { key: "Alt-j", run: (view) => stepToHunk(view, 1), preventDefault: true },
  { key: "Alt-k", run: (view) => stepToHunk(view, -1), preventDefault: true },
];
