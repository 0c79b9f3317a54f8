import { describe, expect, test } from "vitest";
import { pathFor } from "./dialogs/NewDialog";
import { isSubsequence } from "./fuzzy";
import { matchesKeys } from "./useKeys";

const pressed = (key: string, code: string, held: Partial<KeyboardEvent> = {}) =>
  ({ key, code, ctrlKey: false, metaKey: false, shiftKey: false, altKey: false, ...held }) as KeyboardEvent;

describe("the keys of a command", () => {
  test("need exactly the keys that are named", () => {
    expect(matchesKeys("Mod+P", pressed("p", "KeyP", { ctrlKey: true }))).toBe(true);
    expect(matchesKeys("Mod+P", pressed("P", "KeyP", { ctrlKey: true, shiftKey: true }))).toBe(false);
    expect(matchesKeys("Mod+P", pressed("p", "KeyP"))).toBe(false);
  });

  test("count by their place where Alt makes them write something else", () => {
    expect(matchesKeys("Alt+N", pressed("ñ", "KeyN", { altKey: true }))).toBe(true);
  });
});

describe("the palette", () => {
  test("finds a document by letters of its path in their order", () => {
    expect(isSubsequence("ch2", "story/chapter-2.md")).toBe(true);
    expect(isSubsequence("2ch", "story/chapter-2.md")).toBe(false);
  });
});

describe("a new document's path", () => {
  test("gets the ending of markdown where it has none", () => {
    expect(pathFor("story", "chapter-4")).toBe("story/chapter-4.md");
    expect(pathFor("", "data.json")).toBe("data.json");
    expect(pathFor("", "/v1.2 notes")).toBe("v1.2 notes.md");
  });
});
