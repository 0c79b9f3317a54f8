import { getSchema, type JSONContent } from "@tiptap/core";
import { describe, expect, it } from "vitest";
import { blocksOf } from "./blocks";
import type { MarkdownApi } from "./markdownApi";
import { parseNear, type ReadText, readText, serialiseNear } from "./parts";
import { richExtensions } from "./schema";

const schema = getSchema(richExtensions());

/** Markdown of paragraphs, and of comments that go on until they are closed, which may be far below. */
function parse(markdown: string) {
  const lines = markdown.split("\n");
  const content: JSONContent[] = [];
  const blocks: { start: number; end: number }[] = [];
  for (let line = 0; line < lines.length; line += 1) {
    const text = lines[line] ?? "";
    if (text === "") continue;
    const close = text.startsWith("<!--") ? lines.findIndex((each, at) => at >= line && each.endsWith("-->")) : line;
    const end = close < 0 ? lines.length : close + 1;
    blocks.push({ start: line, end });
    const source = lines.slice(line, end).join("\n");
    content.push(
      text.startsWith("<!--")
        ? { type: "source", attrs: { markdown: source, kind: "html" } }
        : { type: "paragraph", content: [{ type: "text", text }] },
    );
    line = end - 1;
  }
  return { doc: { type: "doc", content: content.length > 0 ? content : [{ type: "paragraph" }] }, blocks, context: "" };
}

function serialise(doc: JSONContent): string {
  const texts = (doc.content ?? []).map(({ content = [], attrs }) =>
    attrs ? String(attrs.markdown) : content.map(({ text = "" }) => text).join(""),
  );
  return texts
    .filter((text) => text !== "")
    .map((text) => `${text.trimEnd()}\n`)
    .join("\n");
}

function server(): MarkdownApi & { sent: number[] } {
  const sent: number[] = [];
  return {
    sent,
    parse: (markdown) => {
      sent.push(markdown.length);
      return Promise.resolve(parse(markdown));
    },
    serialise: (doc) => {
      const markdown = serialise(doc);
      sent.push(markdown.length);
      return Promise.resolve({ markdown, ...parse(markdown) });
    },
  };
}

const LONG = Array.from({ length: 1000 }, (_, at) => `Paragraph ${at} of a long text.\n`).join("\n");
const read = (text: string) => readText(text, parse(text), schema.nodeFromJSON(parse(text).doc));

/** The parts' result is that of the whole text. */
function check(found: ReadText, text: string): void {
  const whole = parse(text);
  expect(found.text).toBe(text);
  expect(found.blocks).toEqual(whole.blocks);
  expect(found.doc.toJSON()).toEqual(schema.nodeFromJSON(whole.doc).toJSON());
}

/** The document with other blocks in one place. */
function withBlocks(before: ReadText, from: number, to: number, texts: readonly string[]) {
  const nodes = texts.map((text) => schema.node("paragraph", null, text === "" ? [] : schema.text(text)));
  const all = blocksOf(before.doc);
  return before.doc.type.create(null, [...all.slice(0, from), ...nodes, ...all.slice(to)]);
}

describe("a long text", () => {
  it.each([
    [0, 1, ["First, changed."]],
    [500, 501, ["One.", "Two."]],
    [500, 503, ["Joined."]],
    [700, 700, ["New."]],
    [998, 1000, []],
    [999, 1000, ["Last."]],
  ])("is written by sending what changed, from block %i to %i", async (from, to, texts) => {
    const [api, before] = [server(), read(LONG)];
    const doc = withBlocks(before, from, to, texts);
    const found = await serialiseNear(api, before, doc);
    check(found, serialise(doc.toJSON()));
    expect(Math.max(...api.sent)).toBeLessThan(400);
  });

  it("sends no block again that markdown cannot express as it is", async () => {
    const [api, before] = [server(), read(LONG)];
    const blank = withBlocks(before, 10, 11, ["Ends with a blank "]);
    const first = await serialiseNear(api, before, blank);
    const second = blank.replace(0, 0, blank.slice(0, 0));
    const nodes = blocksOf(second).map((node, at) =>
      at === 900 ? schema.node("paragraph", null, schema.text("x")) : node,
    );
    await serialiseNear(api, first, second.type.create(null, nodes));
    expect(Math.max(...api.sent)).toBeLessThan(400);
  });

  it.each([
    ["Paragraph 400 of", "Paragraph 400, changed, of"],
    ["Paragraph 400 of a long text.\n\n", ""],
    ["Paragraph 999 of a long text.\n", "The end.\n"],
    ["Paragraph 0 of", "<!-- a comment -->\n\nParagraph 0 of"],
  ])("is parsed by sending what others changed (%j)", async (old, fresh) => {
    const [api, before] = [server(), read(LONG)];
    const text = LONG.replace(old, fresh);
    check(await parseNear(api, before, text), text);
    expect(Math.max(...api.sent)).toBeLessThan(400);
  });

  it("is sent whole if a change concerns what is far below", async () => {
    const closed = LONG.replace("Paragraph 800", "-->\n\nParagraph 800");
    const [api, before] = [server(), read(closed)];
    const text = closed.replace("Paragraph 400 ", "<!-- Paragraph 400 ");
    check(await parseNear(api, before, text), text);
    expect(Math.max(...api.sent)).toBe(text.length);
  });
});
