/**
 * Removes from an undo manager what it knows about a range of the text that somebody else has decided about.
 *
 * Undoing that words were typed over restores those words. If they were an agent's and are rejected by now, nobody
 * wrote the text that would result, nor what half of the step would leave. So such a step is dropped. If the person
 * only inserted words, those can still be removed again.
 */

import * as Y from "yjs";

/** The characters on both sides of a range; null at the beginning and the end of the text. */
export interface Stretch {
  before: Y.ID | null;
  after: Y.ID | null;
}

export function createStretch(text: Y.Text, from: number, to: number): Stretch {
  return { before: from > 0 ? idAt(text, from - 1) : null, after: idAt(text, to) };
}

function idAt(text: Y.Text, index: number): Y.ID | null {
  return Y.createRelativePositionFromTypeIndex(text, index).item;
}

/** What was typed over in a range so far can no longer be undone or redone. */
export function forgetTypedOver(manager: Y.UndoManager, text: Y.Text, stretch: Stretch): void {
  const removed = listGone(text, stretch);
  for (const { deletions, insertions } of [...manager.undoStack, ...manager.redoStack]) {
    if (!removed.some((range) => overlaps(deletions, range))) continue;
    // Emptied and not removed: others know how many steps are below theirs.
    deletions.clients.clear();
    insertions.clients.clear();
  }
}

interface Range {
  client: number;
  clock: number;
  len: number;
}

function overlaps(
  { clients }: Y.UndoManager["undoStack"][number]["deletions"],
  { client, clock, len }: Range,
): boolean {
  return (clients.get(client) ?? []).some((each) => each.clock < clock + len && clock < each.clock + each.len);
}

/** The characters that were in a range and no longer are. */
function listGone(text: Y.Text, { before, after }: Stretch): Range[] {
  const removed: Range[] = [];
  let inside = before === null;
  for (let item = text._start; item !== null; item = item.right) {
    if (inside && item.deleted) removed.push({ ...item.id, len: item.length });
    // Both may be characters of one item, between which nothing was deleted.
    if (holds(item, before)) inside = true;
    if (holds(item, after)) break;
  }
  return removed;
}

function holds({ id, length }: Y.Item, wanted: Y.ID | null): boolean {
  return wanted?.client === id.client && id.clock <= wanted.clock && wanted.clock < id.clock + length;
}
