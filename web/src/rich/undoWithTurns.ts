/**
 * Undo and redo in a rich editor to which agents' replacements were brought.
 *
 * A replacement is a turn of its author's and no typing of the person's, so the stack of what they typed does not hold
 * it. Where it was the last thing that happened here, undo takes back that turn, through the history, and redo brings it
 * back the same way; else they step through the person's own typing, as they always do.
 */

import type { UndoManager } from "yjs";

/** A turn, and how much of the person's own typing lies below it. */
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
    /** Bring what was typed into the shared text: until then it cannot be taken back. */
    readonly flush: () => Promise<boolean>,
    /** Take a turn back; gives the turn that did it, null where it could not be. */
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

  // What is typed anew ends what could be brought back, as it does in every editor.
  #added = ({ type, origin }: { type: Direction; origin: unknown }): void => {
    if (type === "undo" && origin !== this.own) this.#again = [];
  };
}
