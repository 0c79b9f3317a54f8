import { expect, it } from "vitest";
import { describeChange, findChangedWords } from "./changeText";

it.each([
  ["six", "seven", '"six" → "seven"'],
  ["", "seven\n", 'add "seven"'],
  ["six  \n nine", "", 'delete "six nine"'],
  ["\n", " ", "whitespace"],
  ["a\u202eb\u0007c", "<img onerror=x>", '"abc" → "<img onerror=x>"'],
  ["", "👨‍👩‍👧 ".repeat(30), `add "${Array.from("👨‍👩‍👧 ".repeat(30)).slice(0, 39).join("")}…"`],
])("says %j to %j as %s", (before, after, said) => {
  expect(describeChange(before, after)).toBe(said);
});

it.each([
  ["It was six there.", "It was seven there.", "six", "seven"],
  ["Line 3.", "Line 3 is new.", "", " is new"],
  ["a b c", "a c", "b ", ""],
  ["same", "same", "", ""],
  ["", "all of it", "", "all of it"],
  ["walked", "talked", "walked", "talked"],
  ["🦊 ran", "🦊 run", "ran", "run"],
])("finds what changed from %j to %j", (before, after, old, fresh) => {
  expect(findChangedWords(before, after)).toEqual({ before: old, after: fresh });
});
