import { Text } from "@codemirror/state";
import { expect, it } from "vitest";
import { toRange } from "./places";
import { countText, countWords, estimateTokens } from "./textCounts";

it.each([
  ["", 0],
  ["one", 1],
  ["  one,\ttwo  ", 2],
  ["don't stop – now", 4],
  ["wide\u00a0and\u3000wider", 3],
])("counts the words of %j", (line, words) => {
  expect(countWords(line)).toBe(words);
});

it("estimates tokens as the tools do", () => {
  expect(estimateTokens(Text.of(["abcdefghi"]))).toBe(3);
  expect(estimateTokens(Text.empty)).toBe(0);
});

it("counts a long document in pieces, and gives up when it is told to", async () => {
  // More than the fastest machine counts in one step.
  const text = Text.of(Array.from({ length: 500_000 }, () => "four words a line"));
  const found = await new Promise((done) => countText(text, done));
  expect(found).toMatchObject({ words: 2_000_000 });
  let told = false;
  countText(text, () => {
    told = true;
  })();
  await new Promise((done) => setTimeout(done, 100));
  expect(told).toBe(false);
});

it("finds places that are told in characters", () => {
  const text = Text.of(["first", "\u{1F600}\u{1F600} found"]);
  expect(toRange(text, { line: 2, column: 3, length: 5 })).toEqual({ from: 11, to: 16 });
  expect(toRange(text, { line: 99 })).toEqual({ from: 6, to: 6 });
});
