import { expect, test } from "vitest";
import { rankPath } from "./fuzzy";

const PATHS = ["alice/chapter-01.md", "alice/chapter-10.md", "bob/chapter-01.md", "notes/malice.md", "README.md"];

function find(typed: string): string[] {
  return PATHS.map((path) => ({ path, rank: rankPath(typed, path) }))
    .filter(({ rank }) => rank !== null)
    .sort((one, other) => (one.rank ?? 0) - (other.rank ?? 0))
    .map(({ path }) => path);
}

test("words may be in the folder and in the name, in any order", () => {
  expect(find("alice chapter-01")).toEqual(["alice/chapter-01.md"]);
  expect(find("01 bob")).toEqual(["bob/chapter-01.md"]);
});

test("a few letters in order are enough, and whole words come before pieces of words", () => {
  expect(find("ach01")).toEqual(["alice/chapter-01.md"]);
  expect(find("alice")[0]).toBe("alice/chapter-01.md");
  expect(find("chapter")[0]).toBe("bob/chapter-01.md");
  expect(find("zz")).toEqual([]);
});
