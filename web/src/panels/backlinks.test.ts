import { expect, test } from "vitest";
import { linksTo } from "./backlinks";

const TARGET = "story/chapter one.md";

test.each([
  ["notes/a.md", "See [one](../story/chapter%20one.md#lamp)."],
  ["story/b.md", "See [one](<chapter one.md>)."],
  ["a.md", "See [one](/story/chapter%20one.md)."],
  ["a.md", "See [[chapter one]] and [[Chapter One|the first]]."],
  ["a.md", "See [[story/chapter one#The lamp]]."],
])("a link in %s is found: %s", (path, text) => {
  expect(linksTo({ path, text }, TARGET)).toBe(true);
});

test.each([
  ["notes/a.md", "See [one](chapter%20one.md)."],
  ["a.md", "The words chapter one are no link."],
  ["a.md", "See [[chapter one and a half]]."],
])("no link in %s: %s", (path, text) => {
  expect(linksTo({ path, text }, TARGET)).toBe(false);
});
