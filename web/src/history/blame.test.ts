import { expect, test } from "vitest";
import type { Schemas } from "@/api/client";
import { groupBlame } from "./blame";

test("passages hold every line once, with the turn that it is from", () => {
  const told = {
    path: "a.md",
    text: "one\r\ntwo\rthree\n\nfive\n",
    blame: [
      { start_line: 1, lines: 2, turn: 7 },
      { start_line: 3, lines: 3, turn: null },
    ],
    turns: [{ turn: 7, title: "Mine" }],
  } as unknown as Schemas["BlameResponse"];
  const found = groupBlame(told);
  expect(found.map(({ start, text }) => [start, text])).toEqual([
    [1, ["one", "two"]],
    [3, ["three", "", "five"]],
  ]);
  expect(found.map(({ turn }) => turn?.title)).toEqual(["Mine", undefined]);
});
