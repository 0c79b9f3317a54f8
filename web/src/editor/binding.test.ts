import { EditorState, Text } from "@codemirror/state";
import { describe, expect, it } from "vitest";
import * as Y from "yjs";
import { changesOf, editsOf, newlinesField, replaceWithShared, toTransaction } from "./binding";
import { type NewlineStyle, readNewlines, toEditor, toShared } from "./newlines";

/** Pseudo-random numbers, the same in every run. */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return Math.floor((state / 2147483648) * sides);
  };
}

const PIECES = ["a", "word ", "\u{1F600}", "\n", "\r\n", "\r", "é", ""];

function someText(roll: (sides: number) => number, pieces: readonly string[]): string {
  return Array.from({ length: roll(12) }, () => pieces[roll(pieces.length)] ?? "").join("");
}

/** An editor and a shared text, connected as in `binding`, without a window. */
class Pair {
  readonly doc = new Y.Doc();
  readonly shared = this.doc.getText("text");
  readonly own = {};
  state: EditorState;

  constructor(text: string) {
    this.shared.insert(0, text);
    const { text: doc, newlines } = readNewlines(text);
    this.state = EditorState.create({ doc, extensions: newlinesField.init(() => newlines) });
    this.shared.observe((event, { origin }) => {
      if (origin === this.own) return;
      const found = changesOf(event.delta, this.state.doc, this.state.field(newlinesField));
      this.state = this.state.update(
        found ? toTransaction(found) : replaceWithShared(this.state, this.shared.toString()),
      ).state;
    });
  }

  type(from: number, to: number, insert: string): void {
    const transaction = this.state.update({ changes: { from, to, insert } });
    const { fragile } = this.state.field(newlinesField);
    this.doc.transact(() => {
      for (const edit of editsOf(transaction).toReversed()) {
        this.shared.delete(edit.from, edit.to - edit.from);
        this.shared.insert(edit.from, edit.insert);
      }
    }, this.own);
    this.state = transaction.state;
    if (fragile) this.state = this.state.update(replaceWithShared(this.state, this.shared.toString())).state;
  }

  /** The laws: the editor shows the shared text, and every position can be mapped back. */
  check(): void {
    const shared = this.shared.toString();
    const { text } = readNewlines(shared);
    expect(JSON.stringify(this.state.doc.toString())).toBe(JSON.stringify(text.toString()));
    const known = this.state.field(newlinesField);
    const wrong: number[] = [];
    let index = 0;
    for (let place = 0; place <= text.length; place += 1) {
      const long = shared.startsWith("\r\n", index);
      const found = toShared(text, known, place) === index && toEditor(text, known, index) === place;
      if (!found || (long && toEditor(text, known, index + 1) !== null)) wrong.push(place);
      index += long ? 2 : 1;
    }
    expect(wrong).toEqual([]);
  }
}

/** The next position that is not inside a character. */
function between(text: string, at: number): number {
  return (text.charCodeAt(at) & 0xfc00) === 0xdc00 ? at + 1 : at;
}

describe("the editor and the shared text", () => {
  it.each([
    ["a\nb\n", "LF"],
    ["a\r\nb\r\n", "CRLF"],
    ["a\rb\r", "CR"],
    ["a\r\nb\nc", "mixed"],
    ["none", "LF"],
  ])("%j is %s", (text, style) => {
    expect(readNewlines(text).newlines.style).toBe(style as NewlineStyle);
  });

  it("writes the prevailing newline for Enter, and leaves every other as it was", () => {
    const pair = new Pair("one\r\ntwo\r\nthree\nfour");
    pair.type(3, 3, "\nand");
    expect(pair.shared.toString()).toBe("one\r\nand\r\ntwo\r\nthree\nfour");
    pair.type(pair.state.doc.length, pair.state.doc.length, "!");
    expect(pair.shared.toString()).toBe("one\r\nand\r\ntwo\r\nthree\nfour!");
    pair.check();
  });

  it("deletes a whole line break, however long it is", () => {
    const pair = new Pair("one\r\ntwo\n");
    pair.type(3, 4, "");
    expect(pair.shared.toString()).toBe("onetwo\n");
  });

  it("reads anew where somebody cuts a line break in two", () => {
    const pair = new Pair("one\r\ntwo\r\n");
    pair.shared.delete(3, 1);
    expect(pair.state.doc.toString()).toBe("one\ntwo\n");
    pair.check();
  });

  it.each(Array.from({ length: 60 }, (_, seed) => seed))(
    "say the same after any typing on either side (%i)",
    (seed) => {
      const roll = dice(seed + 1);
      const styles = [["a", "b\n"], ["a", "b\r\n"], PIECES, ["a", "\n", "b\r\n", "c\r\n"]];
      const pieces = styles[seed % styles.length] ?? PIECES;
      const pair = new Pair(someText(roll, pieces));
      for (let round = 0; round < 25; round += 1) {
        if (roll(2)) {
          const text = pair.state.doc.toString();
          const from = between(text, roll(text.length + 1));
          const to = between(text, Math.min(text.length, from + roll(4)));
          pair.type(from, to, someText(roll, ["x", "\n", "y", ""]));
        } else {
          const text = pair.shared.toString();
          const from = between(text, roll(text.length + 1));
          const to = between(text, Math.min(text.length, from + roll(4)));
          pair.doc.transact(() => {
            pair.shared.delete(from, to - from);
            pair.shared.insert(from, someText(roll, pieces));
          });
        }
        pair.check();
      }
    },
  );

  it("finds places in a long text of two units a break", () => {
    const text = Text.of(Array.from({ length: 1000 }, (_, at) => "x".repeat(at % 7)));
    const { newlines } = readNewlines(text.toString().replaceAll("\n", "\r\n"));
    for (let place = 0; place <= text.length; place += 13) {
      expect(toEditor(text, newlines, toShared(text, newlines, place))).toBe(place);
    }
  });
});
