import { describe, expect, it } from "vitest";
import type { Hunk } from "./hunkPlaces";
import { canBeSplit, findSplit } from "./hunkSplit";

const hunk = (working: string, more: Partial<Hunk> = {}): Hunk =>
  ({ kind: "modified", working, oversized_hunk: true, author: "agent", conflict: false, ...more }) as Hunk;

describe("splitting", () => {
  it("cuts where a line begins, in code points, whatever its line breaks are", () => {
    expect(findSplit("a😀\nb\nc\n", 1)).toBe(3);
    expect(findSplit("a😀\r\nb\r\nc", 2)).toBe(7);
  });

  it("cuts at the paragraph nearest to the middle where no line is named", () => {
    expect(findSplit("one\ntwo\n\nthree\nfour\nfive\n")).toBe("one\ntwo\n\n".length);
    expect(findSplit("one\ntwo\nthree\nfour\n")).toBe("one\ntwo\n".length);
    expect(findSplit("one\ntwo\n", 7)).toBe("one\n".length);
  });

  it("is offered for an agent's hunk of several lines that is too large", () => {
    expect(canBeSplit(hunk("one\ntwo\n"))).toBe(true);
    expect(canBeSplit(hunk("one\n"))).toBe(false);
    expect(canBeSplit(hunk("one\ntwo\n", { oversized_hunk: false }))).toBe(false);
    expect(canBeSplit(hunk("one\ntwo\n", { author: "mixed" }))).toBe(false);
    expect(canBeSplit(hunk("one\ntwo\n", { conflict: true }))).toBe(false);
    expect(canBeSplit(hunk("one\ntwo\n", { kind: "created" }))).toBe(false);
  });
});
