import { Text } from "@codemirror/state";
import { expect, test } from "vitest";
import type { Hunk, PlacedHunk } from "./hunkPlaces";
import { listUnits } from "./reviewUnits";

const TEXT = `One two. Three four five.
Six seven.

- eight nine
- ten

| a | b |
| --- | --- |
| c | d |
`;

function place(words: readonly string[]): PlacedHunk[] {
  return words.map((word) => {
    const from = TEXT.indexOf(word);
    const hunk = { hunk_id: word, author: "agent", conflict: false, turn: 1 } as unknown as Hunk;
    return { hunk, from, to: from + word.length };
  });
}

function unitsOf(word: string, words: readonly string[]): Record<string, string[]> {
  const placed = place(words);
  const [own] = placed.filter(({ hunk }) => hunk.hunk_id === word);
  const units = own ? listUnits(Text.of(TEXT.split("\n")), placed, own.hunk) : [];
  return Object.fromEntries(units.map(({ kind, hunks }) => [kind, hunks.map(({ hunk_id }) => hunk_id)]));
}

const ALL = ["One", "Three", "four", "Six", "eight", "nine", "ten", "c", "d"].map((word) =>
  word === "c" ? "c |" : word,
);

test("a change in prose is part of its sentence, its paragraph and the document", () => {
  expect(unitsOf("four", ALL)).toEqual({
    sentence: ["Three", "four"],
    paragraph: ["One", "Three", "four", "Six"],
    document: ALL,
  });
});

test("one in a list is part of its item and list, one in a table of its row and table", () => {
  expect(Object.keys(unitsOf("nine", ALL))).toEqual(["item", "list", "document"]);
  expect(unitsOf("nine", ALL).item).toEqual(["eight", "nine"]);
  expect(unitsOf("ten", ALL)).toEqual({ list: ["eight", "nine", "ten"], document: ALL });
});

test("a unit that holds no more than a smaller one is not offered", () => {
  expect(unitsOf("One", ["One"])).toEqual({});
  expect(unitsOf("One", ["One", "ten"])).toEqual({ document: ["One", "ten"] });
});
