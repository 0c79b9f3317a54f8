/**
 * Takes out of an undo manager what it knows of a stretch of the text that somebody else has decided about.
 *
 * To undo that words were typed over brings those words back. Where they were an agent's and are refused by now, nobody
 * wrote the text that would come of it, nor that which half of the step leaves. So such a step is forgotten. Where the
 * person only put words in, those can still be taken out again.
 */

import * as Y from "yjs";

/** The characters on both sides of a stretch; null at the beginning and the end of the text. */
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

/** What was typed over in a stretch so far cannot be taken back, nor brought back, any more. */
export function forgetTypedOver(manager: Y.UndoManager, text: Y.Text, stretch: Stretch): void {
  const gone = listGone(text, stretch);
  for (const { deletions, insertions } of [...manager.undoStack, ...manager.redoStack]) {
    if (!gone.some((range) => overlaps(deletions, range))) continue;
    // Emptied and not taken off: others know how many steps lie below theirs.
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

/** The characters that were in a stretch and are not there any more. */
function listGone(text: Y.Text, { before, after }: Stretch): Range[] {
  const gone: Range[] = [];
  let inside = before === null;
  for (let item = text._start; item !== null; item = item.right) {
    if (inside && item.deleted) gone.push({ ...item.id, len: item.length });
    // Both may be characters of one item, between which nothing is gone.
    if (holds(item, before)) inside = true;
    if (holds(item, after)) break;
  }
  return gone;
}

function holds({ id, length }: Y.Item, wanted: Y.ID | null): boolean {
  return wanted?.client === id.client && id.clock <= wanted.clock && wanted.clock < id.clock + length;
}
