import { expect, test } from "vitest";
import { diffWords } from "./wordDiff";

function marks(base: string, working: string): { added: string[]; removed: string[] } {
  const { added, removed } = diffWords(base, working, true);
  return { added: added.map(({ from, to }) => working.slice(from, to)), removed: removed.map(({ text }) => text) };
}

test("a changed word is marked whole, though it shares letters with the old one", () => {
  const [base, working] = ["She looked behind the flour.", "She looked behind the sugar."];
  expect(marks(base, working)).toEqual({ added: ["sugar"], removed: ["flour"] });
  expect(marks("It was a nail in the wall.", "It was a snail in the hall.")).toEqual({
    added: ["snail", "hall"],
    removed: ["nail", "wall"],
  });
});
