/** From one view of a document to another. */

import { type DocumentView, show, useStore } from "@/state/store";
import { openRich } from "./open";

const PATIENCE_MS = 1000;

/** Show a document in another view, once what was typed in the one before is in its text; or a second later. */
export async function showAs(path: string, view: DocumentView): Promise<void> {
  const late = new Promise((resolve) => setTimeout(resolve, PATIENCE_MS));
  await Promise.race([openRich.get(path)?.flush(), late]);
  show({ views: { ...useStore.getState().views, [path]: view } });
}

/** From the rich view to the source and back; a document that is no markdown has the source alone. */
export function turnView(path: string | null): void {
  if (path !== null) void showAs(path, useStore.getState().views[path] === "rich" ? "source" : "rich");
}
