import { EditorState, Text } from "@codemirror/state";
import { describe, expect, it } from "vitest";
import { baseOf, findHunkAt, type Hunk, isOpen, mapHunks, placeHunks } from "./hunkPlaces";
import { toDocumentText } from "./sides";
import { diffWords } from "./wordDiff";

function hunk(line: number, base: string, working: string, more: Partial<Hunk> = {}): Hunk {
  return {
    hunk_id: `h${line}${base}`,
    kind: "modified",
    author: "agent",
    conflict: false,
    oversized_hunk: false,
    labels: [],
    turn: 1,
    base,
    proposed: working,
    working,
    start_line: line,
    working_start_line: line,
    working_column: 0,
    working_at: 0,
    ...more,
  };
}

function text(...lines: string[]): Text {
  return Text.of(lines);
}

describe("the places of hunks", () => {
  it("are found by their lines, with any newlines", () => {
    const { placed, whole } = placeHunks([hunk(2, "old\r\n", "new\r\n")], text("one", "new", "three"));
    expect(whole).toBe(true);
    expect(placed).toMatchObject([{ from: 4, to: 8 }]);
  });

  it("are empty where something was taken out", () => {
    expect(placeHunks([hunk(2, "gone\n", "")], text("one", "three")).placed).toMatchObject([{ from: 4, to: 4 }]);
    expect(placeHunks([hunk(1, "\ngone", "", { working_column: 3 })], text("one")).placed).toMatchObject([
      { from: 3, to: 3 },
    ]);
  });

  it("may lie within a line, one behind the other", () => {
    const found = placeHunks(
      [hunk(1, "A. ", "a. "), hunk(1, "C.", "c.", { working_column: 6 })],
      text("a. B. c."),
    ).placed;
    expect(found).toMatchObject([
      { from: 0, to: 3 },
      { from: 6, to: 8 },
    ]);
  });

  it("are the right one of many that are alike, behind characters of two units", () => {
    const told = hunk(2, "x", "so", { working_column: 4 });
    expect(placeHunks([told], text("so so so", "𝄞so so so")).placed).toMatchObject([{ from: 14, to: 16 }]);
  });

  it("stay where they were seen while the text goes on", () => {
    const state = EditorState.create({ doc: "one\nnew\nthree" });
    const first = placeHunks([hunk(2, "old\n", "new\n")], state.doc).placed;
    const typed = state.update({ changes: { from: 5, insert: "X" } });
    const now = mapHunks(first, typed.changes);
    expect(now).toMatchObject([{ from: 4, to: 9 }]);
    const again = placeHunks([hunk(2, "old\n", "new\n")], typed.state.doc, now);
    expect(again.whole).toBe(false);
    expect(again.placed).toMatchObject([{ from: 4, to: 9 }]);
  });

  it("stay where they were seen, too, where nothing is left to compare", () => {
    const told = [hunk(2, "old\n", "new\n"), hunk(3, "gone\n", "")];
    const state = EditorState.create({ doc: "one\nnew\nthree" });
    const typed = state.update({ changes: { from: 0, insert: "zero\n" } });
    const now = mapHunks(placeHunks(told, state.doc).placed, typed.changes);
    expect(placeHunks(told, typed.state.doc, now)).toMatchObject({ whole: false, placed: [{ from: 9 }, { from: 13 }] });
  });

  it("do not grow by what is typed at their edges", () => {
    const state = EditorState.create({ doc: "one\nnew\nthree" });
    const placed = placeHunks([hunk(2, "old\n", "new\n")], state.doc).placed;
    for (const at of [4, 8]) {
      const { changes, state: after } = state.update({ changes: { from: at, insert: "typed " } });
      const [found] = mapHunks(placed, changes);
      expect(after.sliceDoc(found?.from, found?.to)).toBe("new\n");
    }
  });

  it("give the text back that was there before", () => {
    const now = text("# Title", "new", "three", "added", "");
    const { placed } = placeHunks([hunk(2, "old\n", "new\n"), hunk(3, "two\n", ""), hunk(4, "", "added\n")], now);
    expect(baseOf(now, placed)).toBe("# Title\nold\ntwo\nthree\n");
  });

  it("hold the cursor, and only an agent's are to be decided", () => {
    const { placed } = placeHunks([hunk(2, "old\n", "new\n")], text("one", "new", "three"));
    expect([3, 4, 7, 8].map((at) => findHunkAt(placed, at) !== undefined)).toEqual([false, true, true, false]);
    expect(isOpen(hunk(1, "", "", { author: "user" }))).toBe(false);
    expect(isOpen(hunk(1, "", "", { author: "none", conflict: true }))).toBe(true);
  });
});

describe("the words of a hunk", () => {
  it("are marked one by one where most of them stay", () => {
    const found = diffWords("dark for eleven years.\n", "dark for twelve long years.\n");
    expect(found).toEqual({ added: [{ from: 9, to: 20 }], removed: [{ at: 9, text: "eleven" }], block: "" });
  });

  it("are shown apart where little of them is left", () => {
    expect(diffWords("gone\n", "")).toEqual({ added: [], removed: [], block: "gone\n" });
    const { block, removed } = diffWords("Once upon a time there was nothing.\n", "1234567890 0987654321 !!\n");
    expect([block, removed]).toEqual(["Once upon a time there was nothing.\n", []]);
    expect(diffWords("goes", "went", true).block).toBe("goes");
  });

  it("are shown where they stood when they are only a part of a line", () => {
    const replaced = { added: [{ from: 0, to: 4 }], removed: [{ at: 0, text: "goes" }], block: "" };
    expect(diffWords("goes", "went")).toEqual(replaced);
    expect(diffWords("gone ", "")).toEqual({ added: [], removed: [{ at: 0, text: "gone " }], block: "" });
  });
});

describe("a text that settles a hunk", () => {
  it.each([
    ["keeps the document's newlines", "a\nb", hunk(1, "x\r\n", "y\r\n"), "a\r\nb\r\n"],
    ["ends as the hunk ends", "a", hunk(1, "x", "y"), "a"],
    ["may be nothing", "", hunk(1, "x\n", "y\n"), ""],
  ])("%s", (_name, chosen, about, wanted) => {
    expect(toDocumentText(chosen, about)).toBe(wanted);
  });
});
