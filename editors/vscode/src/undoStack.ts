/**
 * What Undo takes back and Redo brings back, in the order in which it was done: decisions, and what was typed before,
 * between and after them.
 *
 * Typing is in the undo manager of its document, which takes back nobody else's. A decision knows how many steps of
 * typing are below it in each document that it is about.
 */

import type * as Y from "yjs";

export type Direction = "undo" | "redo";

/** A document's typing. */
export interface TypingHistory {
  readonly undo: Y.UndoManager;
}

export interface Decision {
  /** The turn that takes it back when it is undone. */
  turn: number;
  paths: readonly string[];
  depths: ReadonlyMap<TypingHistory, number>;
}

export class UndoStack {
  readonly #stacks: Record<Direction, Decision[]> = { undo: [], redo: [] };

  constructor(readonly find: (path: string) => TypingHistory | undefined) {}

  /** The person typed: nothing that was undone in this document can be done again. */
  noteTyping(history: TypingHistory): void {
    this.#stacks.redo = this.#stacks.redo.filter(({ depths }) => !depths.has(history));
  }

  /** The person decided something; what is typed next is a step of its own. */
  noteDecision(turn: number, paths: readonly string[]): void {
    for (const history of this.#histories(paths)) history.undo.clear(false, true);
    this.#stacks.redo = this.#stacks.redo.filter((other) => !other.paths.some((path) => paths.includes(path)));
    this.#push("undo", turn, paths);
  }

  /** A decision was taken back, or made again, by this turn: from here it goes the other way. */
  noteReversed(direction: Direction, turn: number, paths: readonly string[]): void {
    this.#push(direction === "undo" ? "redo" : "undo", turn, paths);
  }

  /** Take back, or bring back, the last typing, unless a decision came after it: that is returned instead, once. */
  step(direction: Direction, path: string): Decision | null {
    const history = this.find(path);
    const stack = this.#stacks[direction];
    const decision = stack.findLast(({ paths }) => paths.includes(path));
    if (history && stepTyping(history.undo, direction, decision?.depths.get(history) ?? 0)) return null;
    if (decision) this.#stacks[direction] = stack.filter((other) => other !== decision);
    return decision ?? null;
  }

  #histories(paths: readonly string[]): TypingHistory[] {
    return paths.flatMap((path) => this.find(path) ?? []);
  }

  #push(direction: Direction, turn: number, paths: readonly string[]): void {
    const histories = this.#histories(paths);
    for (const history of histories) history.undo.stopCapturing();
    const depths = new Map(histories.map((history) => [history, history.undo[`${direction}Stack`].length]));
    this.#stacks[direction].push({ turn, paths, depths });
  }
}

/** One step of the typing above a depth; returns whether there was one that changed anything. */
function stepTyping(manager: Y.UndoManager, direction: Direction, depth: number): boolean {
  const stack = manager[`${direction}Stack`];
  const below = stack.splice(0, depth);
  try {
    return manager[direction]() !== null;
  } finally {
    stack.unshift(...below);
  }
}

/**
 * A decision changes the words from `from` to `to`: what was typed over there before can no longer be undone, since
 * that would bring back words that are decided about.
 */
export function forgetTypedOver(manager: Y.UndoManager, text: Y.Text, from: number, to: number): void {
  const gone = deletedBetween(text, from, to);
  for (const { deletions, insertions } of [...manager.undoStack, ...manager.redoStack]) {
    const meets = gone.some(({ client, clock, len }) =>
      (deletions.clients.get(client) ?? []).some((each) => each.clock < clock + len && clock < each.clock + each.len),
    );
    if (!meets) continue;
    // Emptied and not removed: decisions know how many steps are below them.
    deletions.clients.clear();
    insertions.clients.clear();
  }
}

function deletedBetween(text: Y.Text, from: number, to: number): { client: number; clock: number; len: number }[] {
  const gone: { client: number; clock: number; len: number }[] = [];
  let at = 0;
  for (let item = text._start; item !== null && at <= to; item = item.right) {
    if (!item.deleted) at += item.countable ? item.length : 0;
    else if (at >= from) gone.push({ ...item.id, len: item.length });
  }
  return gone;
}
