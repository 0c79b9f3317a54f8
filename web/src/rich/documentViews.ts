/** Switch between the views of a document. */

import { type DocumentView, show, useStore } from "@/state/store";
import { openEditors } from "./openEditors";

const PATIENCE_MS = 1000;

/** Show a document in another view, once what was typed is in its text, but after a second at the latest. */
export async function switchView(path: string, view: DocumentView): Promise<void> {
  const late = new Promise((resolve) => setTimeout(resolve, PATIENCE_MS));
  await Promise.race([openEditors.get(path)?.flush(), late]);
  show({ views: { ...useStore.getState().views, [path]: view } });
}

/** Switch between the rich view and the source; a document that is not markdown has only the source. */
export function toggleView(path: string | null): void {
  if (path !== null) void switchView(path, useStore.getState().views[path] === "rich" ? "source" : "rich");
}
