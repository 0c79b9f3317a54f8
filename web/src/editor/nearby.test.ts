import { jsonLanguage } from "@codemirror/lang-json";
import { markdownLanguage } from "@codemirror/lang-markdown";
import { yamlLanguage } from "@codemirror/lang-yaml";
import { Text } from "@codemirror/state";
import type { Parser } from "@lezer/common";
import { tagHighlighter, tags } from "@lezer/highlight";
import { describe, expect, it } from "vitest";
import { type Above, findAround, findFence, findIndentContext, highlightIn } from "./nearby";

const looks = tagHighlighter([
  { tag: tags.heading, class: "heading" },
  { tag: tags.emphasis, class: "emphasis" },
  { tag: tags.monospace, class: "code" },
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], class: "name" },
  { tag: tags.number, class: "number" },
]);

/** Each styled piece, as `class:text`. */
function marked(text: Text, seen: { from: number; to: number }, parser: Parser, above: Above): string[] {
  const found: string[] = [];
  highlightIn(text, findAround(text, seen, above), parser, looks).between(0, text.length, (from, to, { spec }) => {
    found.push(`${(spec as { class: string }).class}:${text.sliceString(from, to)}`);
  });
  return found;
}

function seenAt(text: Text, words: string): { from: number; to: number } {
  const from = text.toString().indexOf(words);
  return { from, to: from + words.length };
}

describe("what is in sight of a long document", () => {
  it("looks as it does in a parse of the whole, and the rest is left alone", () => {
    const lines = Array.from({ length: 20_000 }, (_, at) => (at % 2 ? "" : `## Part ${at} is *new*`));
    const text = Text.of(lines);
    const found = marked(text, seenAt(text, "## Part 10000 "), markdownLanguage.parser, findFence);
    expect(found).toContain("heading:## Part 10000 is ");
    expect(found.length).toBeGreaterThan(100);
    expect(found.length).toBeLessThan(1000);
    expect(found.join()).not.toContain("Part 2 ");
  });

  it("knows the fence that it lies in", () => {
    const text = Text.of(["# Title", "", "```", ...Array.from({ length: 400 }, () => "# no heading at all"), "```"]);
    const found = marked(text, { from: text.length - 200, to: text.length }, markdownLanguage.parser, findFence);
    expect(found.filter((each) => each.startsWith("heading"))).toEqual([]);
  });

  it("knows the objects that it lies in", () => {
    const items = Array.from({ length: 3000 }, (_, id) => ({ id, inner: { deep: [id] } }));
    const text = Text.of(JSON.stringify({ items }, null, 2).split("\n"));
    const found = marked(text, seenAt(text, '"id": 2000,'), jsonLanguage.parser, findIndentContext);
    expect(found).toEqual(expect.arrayContaining(['name:"id"', "number:2000", 'name:"deep"']));
    expect(found).not.toContain('name:"items"');
  });

  it("knows the keys that it is indented under", () => {
    const text = Text.of(["all:", ...Array.from({ length: 3000 }, (_, at) => `  key${at}: [one, two]`)]);
    const found = marked(text, seenAt(text, "key2000"), yamlLanguage.parser, findIndentContext);
    expect(found).toContain("name:key2000");
    expect(found).not.toContain("name:all");
  });

  it.each<[string, string]>([
    ["empty", ""],
    ["one line of a megabyte", "word ".repeat(200_000)],
  ])("may be %s", (_name, text) => {
    const whole = Text.of([text]);
    expect(() => marked(whole, { from: 0, to: whole.length }, markdownLanguage.parser, findFence)).not.toThrow();
  });
});
