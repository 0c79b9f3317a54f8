/** From one view of a document to another. */

import { type DocumentView, show, useStore } from "@/state/store";
import { openEditors } from "./openEditors";

const PATIENCE_MS = 1000;

/** Show a document in another view, once what was typed in the one before is in its text; or a second later. */
export async function switchView(path: string, view: DocumentView): Promise<void> {
  const late = new Promise((resolve) => setTimeout(resolve, PATIENCE_MS));
  await Promise.race([openEditors.get(path)?.flush(), late]);
  show({ views: { ...useStore.getState().views, [path]: view } });
}

/** From the rich view to the source and back; a document that is no markdown has the source alone. */
export function toggleView(path: string | null): void {
  if (path !== null) void switchView(path, useStore.getState().views[path] === "rich" ? "source" : "rich");
}
