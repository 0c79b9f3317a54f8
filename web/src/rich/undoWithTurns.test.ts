/** Undo among one's own typing and agents' turns. The text and the stack are real; the server undoes turns. */

import { describe, expect, it } from "vitest";
import * as Y from "yjs";
import { UndoWithTurns } from "./undoWithTurns";

const ME = {};
const FIRST_UNDO = 100;

/** A text that a person types at the end of, with agents' turns written at its beginning. */
class Desk {
  readonly text = new Y.Doc().getText("text");
  readonly own = new Y.UndoManager(this.text, { trackedOrigins: new Set([ME]), captureTimeout: 0 });
  readonly log: number[] = [];
  readonly #made = new Map<number, { add: string } | { take: string }>();
  #pending = "";
  #turns = FIRST_UNDO;
  refuse = false;
  readonly undoing = new UndoWithTurns(
    this.own,
    async () => {
      if (this.#pending) this.text.doc?.transact(() => this.text.insert(this.text.length, this.#pending), ME);
      this.#pending = "";
      return true;
    },
    async (turn) => this.#undo(turn),
  );

  type(words: string): void {
    this.#pending += words;
  }

  async agent(turn: number, words: string): Promise<void> {
    await this.undoing.flush();
    this.text.insert(0, words);
    this.#made.set(turn, { add: words });
    this.undoing.note(turn);
  }

  #undo(turn: number): number | null {
    this.log.push(turn);
    const made = this.#made.get(turn);
    if (this.refuse || !made) return null;
    const words = "add" in made ? made.add : made.take;
    if ("add" in made) this.text.delete(this.text.toString().indexOf(words), words.length);
    else this.text.insert(0, words);
    this.#turns += 1;
    this.#made.set(this.#turns, "add" in made ? { take: words } : { add: words });
    return this.#turns;
  }

  async steps(...directions: ("undo" | "redo")[]): Promise<string[]> {
    const seen: string[] = [];
    for (const direction of directions) {
      await this.undoing.step(direction);
      seen.push(this.text.toString());
    }
    return seen;
  }
}

describe("taking back", () => {
  it("goes back in the order in which things happened, and forth again", async () => {
    const desk = new Desk();
    desk.type("one ");
    await desk.agent(1, "A ");
    desk.type("two ");
    await desk.agent(2, "B ");
    desk.type("three ");
    const back = ["B A one two ", "A one two ", "A one ", "one ", ""];
    expect(await desk.steps("undo", "undo", "undo", "undo", "undo", "undo")).toEqual([...back, ""]);
    const forth = ["one ", "A one ", "A one two ", "B A one two ", "B A one two three "];
    expect(await desk.steps("redo", "redo", "redo", "redo", "redo")).toEqual(forth);
    expect(await desk.steps("undo", "undo")).toEqual(back.slice(0, 2));
  });

  it("takes back what was typed and not handed in yet before any turn", async () => {
    const desk = new Desk();
    await desk.agent(1, "A ");
    desk.type("one ");
    expect(await desk.steps("undo")).toEqual(["A "]);
    expect(desk.log).toEqual([]);
  });

  it("brings nothing back once something was typed, or an agent came again", async () => {
    const desk = new Desk();
    await desk.agent(1, "A ");
    expect(await desk.steps("undo")).toEqual([""]);
    desk.type("one ");
    expect(await desk.steps("redo")).toEqual(["one "]);
    expect(desk.log).toEqual([1]);
    await desk.agent(2, "B ");
    await desk.steps("undo");
    await desk.agent(3, "C ");
    expect(await desk.steps("redo")).toEqual(["C one "]);
  });

  it("goes on with one's own typing where a turn cannot be taken back", async () => {
    const desk = new Desk();
    desk.type("one ");
    await desk.agent(1, "A ");
    desk.refuse = true;
    expect(await desk.steps("undo", "undo")).toEqual(["A one ", "A "]);
    expect(desk.log).toEqual([1]);
  });

  it("does steps that come at once one after the other", async () => {
    const desk = new Desk();
    desk.type("one ");
    await desk.agent(1, "A ");
    await Promise.all([desk.undoing.step("undo"), desk.undoing.step("undo")]);
    expect(desk.text.toString()).toBe("");
  });

  it("is about nothing until a turn came", async () => {
    const desk = new Desk();
    desk.type("one ");
    await desk.undoing.flush();
    expect(desk.undoing.has).toBe(false);
    await desk.agent(1, "A ");
    expect(desk.undoing.has).toBe(true);
  });
});
