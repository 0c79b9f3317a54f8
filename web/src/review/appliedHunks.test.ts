import { Text } from "@codemirror/state";
import { expect, test } from "vitest";
import { relocate, toAppliedHunks } from "./appliedHunks";

const PATCH = "@@ -1,5 +1,5 @@\n one\n two\n-three\n+THREE\n four\n five\n";
const hunk = (patch: string) => ({ hunk_id: "h", file_path: "a.md", patch, reverse_patch: "" });
const text = (words: string) => Text.of(words.split("\n"));

test("a turn's hunk becomes the changed lines alone, at their place", () => {
  const [found] = toAppliedHunks(7, "a.md", [hunk(PATCH)]);
  expect(found).toMatchObject({ applied: 7, base: "three\n", working: "THREE\n", working_start_line: 3 });
  expect(toAppliedHunks(7, "b.md", [hunk(PATCH)])).toEqual([]);
});

test("it is found where its lines are by now, nearest to where they were, or not at all", () => {
  const found = toAppliedHunks(7, "a.md", [hunk(PATCH)]);
  const lineIn = (words: string) => relocate(found, text(words))[0]?.working_start_line;
  expect(lineIn("one\ntwo\nTHREE\nfour\n")).toBe(3);
  expect(lineIn("new\none\ntwo\nTHREE\nfour\n")).toBe(4);
  expect(lineIn("THREE\nx\nx\nTHREE\n")).toBe(4);
  expect(lineIn("one\ntwo\nTHREE, typed\nfour\n")).toBeUndefined();
});

test("at the end of a text without a last line break it has none either", () => {
  const [found] = relocate(toAppliedHunks(7, "a.md", [hunk(PATCH)]), text("one\ntwo\nTHREE"));
  expect(found).toMatchObject({ base: "three", working: "THREE" });
});

test("what was only deleted is shown between the lines around it", () => {
  const found = toAppliedHunks(7, "a.md", [hunk("@@ -1,3 +1,2 @@\n one\n-two\n three\n")]);
  expect(found).toMatchObject([{ base: "two\n", working: "", working_start_line: 2 }]);
  expect(relocate(found, text("one\nthree\n"))).toMatchObject([{ working_start_line: 2 }]);
});
