/** Switch between the views of a document. */

import { formatOf } from "@/editor/language";
import { type DocumentView, type Store, show, useStore } from "@/state/store";
import { openEditors } from "./openEditors";

const PATIENCE_MS = 1000;
// What the server parses in one request.
export const LONGEST = 2_000_000;
// A longer text takes seconds to open, so it is shown as rich text only if the person asks for it.
const LONGEST_UNASKED = 300_000;

/** Show a document in another view, once what was typed is in its text, but after a second at the latest. */
export async function switchView(path: string, view: DocumentView): Promise<void> {
  const late = new Promise((resolve) => setTimeout(resolve, PATIENCE_MS));
  await Promise.race([openEditors.get(path)?.flush(), late]);
  show({ views: { ...useStore.getState().views, [path]: view } });
}

/** The view of a document: as the person left it, else the rich one for markdown, unless they prefer the source. */
export function chosenView({ views, firstView }: Store, path: string, length = 0): DocumentView {
  return (
    views[path] ??
    (firstView === "rich" && formatOf(path) === "Markdown" && length <= LONGEST_UNASKED ? "rich" : "source")
  );
}

/** Switch between the rich view and the source; a document that is not markdown has only the source. */
export function toggleView(path: string | null): void {
  if (path !== null) void switchView(path, chosenView(useStore.getState(), path) === "rich" ? "source" : "rich");
}
