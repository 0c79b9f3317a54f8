import { expect, it } from "vitest";
import type { BlamedLines } from "@/history/blame";
import type { Hunk } from "./hunkPlaces";
import { findWriter, listSides } from "./sides";

const hunk = (author: Hunk["author"], base: string, working: string, proposed: string) =>
  ({ author, base, working, proposed, conflict: true }) as Hunk;
const titles = (...given: Parameters<typeof listSides>) =>
  listSides(...given).map(({ title, text }) => `${title}: ${text}`);

it("names the person, the agent and what was there before", () => {
  const found = hunk("mixed", "100", "150", "200");
  expect(titles(found, { agent: "Scribe" })).toEqual(["Before: 100", "Yours: 150", "Scribe's: 200"]);
  expect(titles(found, {}).at(-1)).toBe("The agent's: 200");
});

it("names the other program where the person typed nothing", () => {
  const found = hunk("mixed", "350", "350", "200");
  const about = { agent: "Scribe", before: "100", writer: "outside" } as const;
  expect(titles(found, about)).toEqual(["Before: 100", "Another program's: 350", "Scribe's: 200"]);
  expect(titles(found, { ...about, before: undefined, writer: "you" })).toEqual(["Yours: 350", "Scribe's: 200"]);
  expect(titles(found, {})).toEqual(["In the document: 350", "The agent's: 200"]);
});

it("finds the other program's line anywhere in the hunk, and takes old lines for nobody's", () => {
  const lines = (...kinds: (string | undefined)[]) =>
    kinds.map((kind, at) => ({ start: at + 1, text: ["x"], turn: kind && { author: { kind } } })) as BlamedLines[];
  const found = { ...hunk("mixed", "a\nb\n", "a\nb\n", "c"), working_start_line: 2 };
  expect(findWriter(lines(undefined, undefined, "outside", "person"), found)).toBe("outside");
  expect(findWriter(lines("outside", undefined, "person", "outside"), found)).toBe("you");
  expect(findWriter(lines("outside", undefined, "agent", "outside"), found)).toBeUndefined();
});

it("names the other program where no agent is there", () => {
  expect(titles(hunk("user", "350", "150", "350"), {})).toEqual(["Another program's: 350", "Yours: 150"]);
  const both = listSides(hunk("user", "End. No.", "End. Yes. No.", "End. No."), {});
  expect(both.map(({ title }) => title)).toEqual(["Another program's", "Yours and the other program's"]);
});
