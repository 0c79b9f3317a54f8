import { describe, expect, it } from "vitest";
import { mergeInto } from "./textMerge";

function merged(base: string, mine: string, theirs: string): string {
  return mergeInto(base, mine, theirs).reduceRight(
    (text, { from, to, insert }) => text.slice(0, from) + insert + text.slice(to),
    theirs,
  );
}

describe("what was typed, in a text that has gone on", () => {
  it.each([
    ["nothing was typed", "one two", "one two", "one 2 two", "one 2 two"],
    ["nothing else changed", "one two", "one and two", "one two", "one and two"],
    ["in other places", "one two three", "zero one two three", "one two 3", "zero one two 3"],
    ["at the end", "a\n", "a\nmine", "b\n", "b\nmine"],
    ["the server has it all", "a", "ab", "ab", "ab"],
    ["the server has the first of it", "a", "a bc", "a b", "a bc"],
    ["in the same place", "one", "one mine", "one theirs", "one theirs mine"],
    ["taken out", "one two three", "one three", "one two three four", "one three four"],
    ["a character of two units", "\u{1F600}", "\u{1F601}", "\u{1F600}!", "\u{1F600}!\u{1F601}"],
  ])("%s", (_name, base, mine, theirs, wanted) => {
    expect(merged(base, mine, theirs)).toBe(wanted);
  });

  it("leaves out no word that was typed, whatever happened meanwhile", () => {
    const words = ["the", "lamp", "had", "been", "dark", "for", "years"];
    let state = 11;
    const roll = (sides: number) => {
      state = (state * 1103515245 + 12345) % 2147483648;
      return Math.floor((state / 2147483648) * sides);
    };
    for (let round = 0; round < 300; round += 1) {
      const base = Array.from({ length: roll(12) }, () => words[roll(words.length)] ?? "");
      const typed = `typed${round}`;
      const mine = base.toSpliced(roll(base.length + 1), roll(3), typed);
      const theirs = base.toSpliced(roll(base.length + 1), roll(4), `other${round}`);
      const result = merged(base.join(" "), mine.join(" "), theirs.join(" "));
      expect(result).toContain(typed);
      expect(result).toContain(`other${round}`);
    }
  });

  it("never cuts a character in two", () => {
    const edits = mergeInto("a \u{1F600} b", "a \u{1F601} b", "a \u{1F600} b!");
    expect(edits).toEqual([{ from: 2, to: 4, insert: "\u{1F601}" }]);
  });
});
