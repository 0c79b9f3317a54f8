import { Text } from "@codemirror/state";
import { expect, it } from "vitest";
import { count, tokensOf, wordsIn } from "./counting";
import { rangeOf } from "./places";

it.each([
  ["", 0],
  ["one", 1],
  ["  one,\ttwo  ", 2],
  ["don't stop – now", 4],
  ["wide\u00a0and\u3000wider", 3],
])("counts the words of %j", (line, words) => {
  expect(wordsIn(line)).toBe(words);
});

it("estimates tokens as the tools do", () => {
  expect(tokensOf(Text.of(["abcdefghi"]))).toBe(3);
  expect(tokensOf(Text.empty)).toBe(0);
});

it("counts a long document in pieces, and gives up when it is told to", async () => {
  const text = Text.of(Array.from({ length: 20_000 }, () => "four words a line"));
  const found = await new Promise((done) => count(text, done));
  expect(found).toMatchObject({ words: 80_000 });
  let told = false;
  count(text, () => {
    told = true;
  })();
  await new Promise((done) => setTimeout(done, 100));
  expect(told).toBe(false);
});

it("finds places that are told in characters", () => {
  const text = Text.of(["first", "\u{1F600}\u{1F600} found"]);
  expect(rangeOf(text, { line: 2, column: 3, length: 5 })).toEqual({ from: 11, to: 16 });
  expect(rangeOf(text, { line: 99 })).toEqual({ from: 6, to: 6 });
});
