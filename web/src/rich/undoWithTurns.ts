/**
 * Undo and redo in a rich editor that received agents' replacements.
 *
 * A replacement is a turn by its author and not the person's typing, so the stack of what they typed does not contain
 * it. If it was the last thing that happened here, undo reverts that turn, through the history, and redo restores it
 * the same way; otherwise they step through the person's own typing, as usual.
 */

import type { UndoManager } from "yjs";

/** A turn, and how much of the person's own typing is below it. */
interface Mark {
  turn: number;
  depth: number;
}

export type Direction = "undo" | "redo";

export class UndoWithTurns {
  #back: Mark[] = [];
  #again: Mark[] = [];
  #stepping: Promise<void> = Promise.resolve();

  constructor(
    readonly own: UndoManager,
    /** Bring what was typed into the shared text: until then it cannot be undone. */
    readonly flush: () => Promise<boolean>,
    /** Undo a turn; returns the turn that did it, or null if that was impossible. */
    readonly undo: (turn: number) => Promise<number | null>,
  ) {
    own.on("stack-item-added", this.#added);
  }

  end(): void {
    this.own.off("stack-item-added", this.#added);
  }

  /** This turn was the last thing that happened here. */
  note(turn: number): void {
    this.#back.push({ turn, depth: this.own.undoStack.length });
    this.#again = [];
  }

  /** Whether any step could be about a turn. */
  get has(): boolean {
    return this.#back.length + this.#again.length > 0;
  }

  step(direction: Direction): Promise<void> {
    this.#stepping = this.#stepping.then(() => this.#step(direction));
    return this.#stepping;
  }

  async #step(direction: Direction): Promise<void> {
    await this.flush();
    const { own } = this;
    const back = direction === "undo";
    const [from, to] = back ? [this.#back, this.#again] : [this.#again, this.#back];
    const [here, there] = back ? [own.undoStack, own.redoStack] : [own.redoStack, own.undoStack];
    const last = from.at(-1);
    if (!last || last.depth < here.length) {
      own[direction]();
      return;
    }
    from.pop();
    const turn = await this.undo(last.turn);
    if (turn !== null) to.push({ turn, depth: there.length });
  }

  // New typing clears the redo stack, as in every editor.
  #added = ({ type, origin }: { type: Direction; origin: unknown }): void => {
    if (type === "undo" && origin !== this.own) this.#again = [];
  };
}
