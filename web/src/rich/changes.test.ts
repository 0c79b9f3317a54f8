import { Text } from "@codemirror/state";
import { getSchema, type JSONContent } from "@tiptap/core";
import { Node } from "@tiptap/pm/model";
import { describe, expect, it } from "vitest";
import type { Hunk } from "@/review/hunkPlaces";
import { type Change, findChanges, type Read, withLines } from "./changes";
import { richExtensions } from "./schema";

const schema = getSchema(richExtensions());

/** Paragraphs and lists, parsed like the server does: a list is as long as its lines together. */
function read(text: string): Read {
  const content: JSONContent[] = [];
  const blocks: { start: number; end: number }[] = [];
  text.split("\n").forEach((line, number) => {
    const paragraph = { type: "paragraph", content: [{ type: "text", text: line.replace(/^- /, "") }] };
    const [last, lines] = [content.at(-1), blocks.at(-1)];
    if (line === "") return;
    if (line.startsWith("- ") && last?.type === "bulletList" && lines?.end === number) {
      last.content?.push({ type: "listItem", content: [paragraph] });
      lines.end += 1;
      return;
    }
    const list = { type: "bulletList", content: [{ type: "listItem", content: [paragraph] }] };
    content.push(line.startsWith("- ") ? list : paragraph);
    blocks.push({ start: number, end: number + 1 });
  });
  return { doc: Node.fromJSON(schema, { type: "doc", content }), blocks };
}

interface Told {
  from: number;
  base: string;
  working: string;
  author?: string;
  conflict?: boolean;
}

function changes(base: string, working: string, hunks: Told[]): { doc: Node; found: Change[] } {
  const [before, after] = [read(base), read(working)];
  const placed = hunks.map(({ from, author = "agent", conflict = false, ...rest }, at) => {
    const hunk = { hunk_id: `h${at}`, author, conflict, ...rest } as unknown as Hunk;
    return { hunk, from, to: from + rest.working.length };
  });
  const found = findChanges(
    after.doc,
    after,
    before,
    withLines(placed, Text.of(working.split("\n")), Text.of(base.split("\n"))),
    working,
  );
  return { doc: after.doc, found };
}

function words({ doc, found }: { doc: Node; found: Change[] }) {
  return found.map(({ added, removed, gone }) => ({
    added: added.map(({ from, to }) => doc.textBetween(from, to)),
    removed: removed.map(({ text }) => text),
    gone: gone.flatMap(({ nodes }) => nodes.map((node) => node.textContent)),
  }));
}

const STORY = "The lamp was dark.\n\nShe read the letter.\n\n- one\n- two\n\nThe keys were gone.\n";

describe("what a review changed, in the rich document", () => {
  it("is shown word by word", () => {
    const working = STORY.replace("dark", "out");
    const found = changes(STORY, working, [{ from: 0, base: "The lamp was dark.\n", working: "The lamp was out.\n" }]);
    expect(words(found)).toEqual([{ added: ["out"], removed: ["dark"], gone: [] }]);
  });

  it("is a block that came", () => {
    const working = STORY.replace("letter.\n\n", "letter.\n\nThen again.\n\n");
    const found = changes(STORY, working, [{ from: working.indexOf("Then"), base: "", working: "Then again.\n\n" }]);
    expect(words(found)).toEqual([{ added: ["Then again."], removed: [], gone: [] }]);
  });

  it("is a block that went, shown where it was", () => {
    const working = STORY.replace("She read the letter.\n\n", "");
    const found = changes(STORY, working, [{ from: 20, base: "She read the letter.\n\n", working: "" }]);
    expect(words(found)).toEqual([{ added: [], removed: [], gone: ["She read the letter."] }]);
    expect(found.found[0]?.gone[0]?.at).toBe(found.doc.child(0).nodeSize);
  });

  it.each([
    ["at its beginning", "- three\n- one", "- one"],
    ["in its middle", "- one\n- three\n- two", "- one\n- two"],
    ["at its end", "- two\n- three", "- two"],
  ])("is an item that came into a list %s, or went out of it", (_where, longer, shorter) => {
    const working = STORY.replace(shorter, longer);
    const item = "- three\n";
    const from = working.indexOf(item);
    const came = changes(STORY, working, [{ from, base: "", working: item }]);
    expect(words(came)).toEqual([{ added: ["three"], removed: [], gone: [] }]);
    const went = changes(working, STORY, [{ from, base: item, working: "" }]);
    expect(words(went).map(({ removed, gone }) => [removed.join("").trim(), gone])).toEqual([["three", []]]);
  });

  it("is told once for a block that two hunks share, with both of them", () => {
    const base = "- one\n- two\n- three\n- four\n";
    const working = "- 1\n- two\n- three\n- 4\n";
    const found = changes(base, working, [
      { from: 0, base: "- one\n", working: "- 1\n" },
      { from: 18, base: "- four\n", working: "- 4\n" },
    ]);
    expect(found.found.map(({ hunks }) => hunks.length)).toEqual([2]);
    expect(words(found)).toEqual([{ added: ["1", "4"], removed: ["one", "four"], gone: [] }]);
  });

  it("marks the block of a conflict, though it stands as it was", () => {
    const { found } = changes(STORY, STORY, [
      { from: 0, base: "The lamp was dark.\n", working: "The lamp was dark.\n", author: "mixed", conflict: true },
    ]);
    expect(found.map(({ blocks, added }) => [blocks.length, added.length])).toEqual([[1, 0]]);
  });
});
