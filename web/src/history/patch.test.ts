import { expect, test } from "vitest";
import { type DiffLine, linesOf, marked, sizeOf } from "./patch";

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
  const lines = marked(linesOf(PATCH));
  expect([texts(lines[1]), texts(lines[2])]).toEqual([["eleven"], ["twelve"]]);
});

test("marks change no line and stay within it", () => {
  const lines = linesOf("@@ -1,3 +1,2 @@\n-one two three\n-four five\n+one 2 three four\n+five six\n same");
  const done = marked(lines);
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
  const [removed, added] = marked(linesOf("@@ -1 +1 @@\n-abc\n+XYZ QRS"));
  expect([removed?.marks, added?.marks]).toEqual([[], []]);
});
