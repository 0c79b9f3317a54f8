/** What of an agent's changes a person should look at first. */

import type { Draft, Hunk } from "./hunkPlaces";
import { listOpenHunks } from "./reviewText";

/** "number_changed" as a person reads it. */
export function formatLabel(label: string): string {
  return label.replaceAll("_", " ");
}

export function isLabelled({ labels }: Hunk): boolean {
  return labels.length > 0;
}

/** How many of a document's open hunks should be looked at first. */
export function countLabelled(draft: Draft): number {
  return listOpenHunks(draft).filter(isLabelled).length;
}
