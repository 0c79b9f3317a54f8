import { getSchema, type JSONContent } from "@tiptap/core";
import { Node } from "@tiptap/pm/model";
import { describe, expect, it } from "vitest";
import { type RichText, toPlace, toPosition } from "./places";
import { richExtensions } from "./schema";

const schema = getSchema(richExtensions());
const words = (text: string, ...marks: string[]): JSONContent =>
  marks.length > 0 ? { type: "text", text, marks: marks.map((type) => ({ type })) } : { type: "text", text };
const paragraph = (...content: JSONContent[]): JSONContent => ({ type: "paragraph", content });
const item = (...content: JSONContent[]): JSONContent => ({ type: "listItem", content });

const STANDING: RichText = {
  text: "---\na: b\n---\n\nShe read the letter.\r\n\nIt was **very** dark\nup there \u{1F600}.\n\n* one\n* two\n",
  blocks: [
    { start: 0, end: 3 },
    { start: 4, end: 5 },
    { start: 6, end: 8 },
    { start: 9, end: 11 },
  ],
  doc: Node.fromJSON(schema, {
    type: "doc",
    content: [
      { type: "source", attrs: { markdown: "---\na: b\n---", kind: "frontmatter" } },
      paragraph(words("She read the letter.")),
      { type: "paragraph" },
      paragraph(words("It was "), words("very", "bold"), words(" dark up there \u{1F600}.")),
      { type: "bulletList", content: [item(paragraph(words("one"))), item(paragraph(words("two")))] },
    ],
  }),
};

/** The words after a position, up to the end of their paragraph. */
function after(position: number): string {
  const place = STANDING.doc.resolve(position);
  return STANDING.doc.textBetween(position, place.parent.isTextblock ? place.end() : position);
}

describe("places in the markdown and in the rich document", () => {
  it.each([
    [4, 0, "She read the letter."],
    [4, 4, "read the letter."],
    [4, 20, ""],
    [6, 0, "It was very dark up there \u{1F600}."],
    [6, 9, "very dark up there \u{1F600}."],
    [6, 16, "dark up there \u{1F600}."],
    [7, 3, "there \u{1F600}."],
    [7, 9, "\u{1F600}."],
    [9, 2, "one"],
    [10, 4, "o"],
  ])("line %i, column %i", (line, column, wanted) => {
    expect(after(toPosition(STANDING, { line, column }))).toBe(wanted);
  });

  it("go to and fro in a plain paragraph, exactly", () => {
    for (let column = 0; column <= 20; column += 1) {
      expect(toPlace(STANDING, toPosition(STANDING, { line: 4, column }))).toEqual({ line: 4, column });
    }
  });

  it("are in the document, wherever somebody is in the text, and the other way round", () => {
    const lines = STANDING.text.split(/\r\n?|\n/);
    lines.forEach((text, line) => {
      for (let column = 0; column <= text.length; column += 1) {
        const position = toPosition(STANDING, { line, column });
        expect(position).toBeGreaterThanOrEqual(0);
        expect(position).toBeLessThanOrEqual(STANDING.doc.content.size);
      }
    });
    for (let position = 0; position <= STANDING.doc.content.size; position += 1) {
      const { line, column } = toPlace(STANDING, position);
      expect(column).toBeLessThanOrEqual(lines[line]?.length ?? -1);
    }
  });

  it("are the beginning where there is nothing", () => {
    const empty: RichText = {
      text: "",
      blocks: [],
      doc: Node.fromJSON(schema, { type: "doc", content: [paragraph()] }),
    };
    expect(toPlace(empty, 1)).toEqual({ line: 0, column: 0 });
    expect(toPosition(empty, { line: 3, column: 2 })).toBe(0);
  });
});
