import { expect, test } from "vitest";
import {
  countUnchanged,
  type DiffLine,
  groupLines,
  linesBetween,
  linesOf,
  linesOfHunks,
  markWords,
  sizeOf,
  unitsOf,
} from "./patch";

const PATCH = `diff --git a/a.md b/a.md
--- a/a.md
+++ b/a.md
@@ -1,4 +1,4 @@
 # Title
-The lamp was dark for eleven years.
+The lamp was dark for twelve years.
 
-gone
+-- new
@@ -20,2 +20,1 @@
 end
-last
\\ No newline at end of file
`;

test("a patch becomes lines with their numbers", () => {
  const lines = linesOf(PATCH);
  expect(lines.map((line) => line.kind)).toEqual([
    "same",
    "removed",
    "added",
    "same",
    "removed",
    "added",
    "same",
    "removed",
  ]);
  expect(lines.at(-1)).toEqual({ kind: "removed", text: "last", old: 21, marks: [] });
  expect(lines[5]).toEqual({ kind: "added", text: "-- new", new: 4, marks: [] });
  expect(sizeOf([PATCH])).toEqual({ added: 2, removed: 3 });
});

const texts = (line: DiffLine | undefined) => line?.marks.map(([from, to]) => line.text.slice(from, to));

test("inside a changed line the changed words are marked", () => {
  const lines = markWords(linesOf(PATCH));
  expect([texts(lines[1]), texts(lines[2])]).toEqual([["eleven"], ["twelve"]]);
});

test("marks change no line and stay within it", () => {
  const lines = linesOf("@@ -1,3 +1,2 @@\n-one two three\n-four five\n+one 2 three four\n+five six\n same");
  const done = markWords(lines);
  expect(done.map(({ marks: _, ...line }) => line)).toEqual(lines.map(({ marks: _, ...line }) => line));
  for (const line of done) {
    for (const [from, to] of line.marks) {
      expect(from).toBeGreaterThanOrEqual(0);
      expect(to).toBeGreaterThanOrEqual(from);
      expect(to).toBeLessThanOrEqual(line.text.length);
    }
  }
});

test("a line that became another has no marks: all of it changed", () => {
  const [removed, added] = markWords(linesOf("@@ -1 +1 @@\n-abc\n+XYZ QRS"));
  expect([removed?.marks, added?.marks]).toEqual([[], []]);
});

test("hunks that are told one by one are counted on as all of them together have it", () => {
  const [first, second] = linesOfHunks(["@@ -2,2 +2,3 @@\n two\n+two and a half\n three", "@@ -9 +9 @@\n-nine\n+NINE"]);
  expect(first?.map((line) => [line.old, line.new])).toEqual([
    [2, 2],
    [undefined, 3],
    [3, 4],
  ]);
  expect(second?.map((line) => [line.old, line.new])).toEqual([
    [9, undefined],
    [undefined, 10],
  ]);
});

test("lines that changed together are one group, and groups lose no line", () => {
  const lines = linesOf(PATCH);
  const groups = groupLines(lines);
  expect(groups.map((group) => [group.changed, group.lines.length])).toEqual([
    [false, 1],
    [true, 2],
    [false, 1],
    [true, 2],
    [false, 1],
    [true, 1],
  ]);
  expect(groups.flatMap((group) => group.lines)).toEqual(lines);
});

test("what stayed the same is counted in the whole document, and not where the patch is cut short", () => {
  expect(countUnchanged({ patch: PATCH, lines: 20, truncated: false })).toBe(18);
  expect(countUnchanged({ patch: PATCH, lines: 20, truncated: true })).toBeNull();
});

test("two texts become the lines that went and those that came", () => {
  expect(linesBetween("a\nb\n", "c\n", 3, 5)).toEqual([
    { kind: "removed", text: "a", old: 3, marks: [] },
    { kind: "removed", text: "b", old: 4, marks: [] },
    { kind: "added", text: "c", new: 5, marks: [] },
  ]);
  expect(linesBetween("", "x", 1, 1)).toEqual([{ kind: "added", text: "x", new: 1, marks: [] }]);
  expect(linesBetween("\n", "", 1, 1)).toEqual([{ kind: "removed", text: "", old: 1, marks: [] }]);
});

test("hunks of the same or neighbouring lines are read as the whole change has them, the others by themselves", () => {
  const hunks = [
    "@@ -1,4 +1,4 @@\n Line 1.\n-Line 2.\n+One. 2.\n Line 3.\n Line 4.\n",
    "@@ -1,4 +1,5 @@\n Line 1.\n-Line 2.\n+Line\n+2.\n Line 3.\n Line 4.\n",
    "@@ -1,4 +1,4 @@\n Line 1.\n Line 2.\n-Line 3.\n+Three.\n Line 4.\n",
    "@@ -19,2 +19,2 @@\n Line 19.\n-Line 20.\n+Twenty.\n",
  ];
  const whole =
    "@@ -1,4 +1,5 @@\n Line 1.\n-Line 2.\n-Line 3.\n+One.\n+2.\n+Three.\n Line 4.\n" +
    "@@ -19,2 +20,2 @@\n Line 19.\n-Line 20.\n+Twenty.\n";
  const units = unitsOf(hunks, whole);
  expect(units.map(({ first, count }) => [first, count])).toEqual([
    [0, 3],
    [3, 1],
  ]);
  const numbers = units.map(({ lines }) => lines.map((line) => `${line.old ?? ""}:${line.new ?? ""} ${line.text}`));
  expect(numbers).toEqual([
    ["1:1 Line 1.", "2: Line 2.", "3: Line 3.", ":2 One.", ":3 2.", ":4 Three.", "4:5 Line 4."],
    ["19:20 Line 19.", "20: Line 20.", ":21 Twenty."],
  ]);
});
