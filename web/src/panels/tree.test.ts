import { describe, expect, test } from "vitest";
import { dropTarget, type Entry, listRows } from "./tree";

const entry = (path: string, kind: Entry["kind"] = "file"): Entry => ({ path, kind, size: 1, modified: "" });
const entries = [entry("a.md"), entry("story/chapter-10.md"), entry("story/chapter-2.md"), entry("empty", "folder")];

describe("the rows of the tree", () => {
  test("folders come first and are closed", () => {
    expect(listRows(entries, new Set()).map(({ path }) => path)).toEqual(["empty", "story", "a.md"]);
  });

  test("an open folder shows its documents in the order people count", () => {
    const shown = listRows(entries, new Set(["story"])).map(({ name, depth }) => `${depth} ${name}`);
    expect(shown).toEqual(["0 empty", "0 story", "1 chapter-2.md", "1 chapter-10.md", "0 a.md"]);
  });

  test("a filter opens the folders above what fits and hides the rest", () => {
    expect(listRows(entries, new Set(), "TER-2").map(({ path }) => path)).toEqual(["story", "story/chapter-2.md"]);
  });
});

describe("dropping a document", () => {
  const [, story] = listRows(entries, new Set());

  test("on a folder puts it there, on nothing into the root", () => {
    expect(dropTarget("a.md", story ?? null)).toBe("story/a.md");
    expect(dropTarget("story/chapter-2.md", null)).toBe("chapter-2.md");
  });

  test("on a document puts it beside that document", () => {
    const chapter = listRows(entries, new Set(["story"])).find(({ name }) => name === "chapter-2.md");
    expect(dropTarget("a.md", chapter ?? null)).toBe("story/a.md");
  });
});
