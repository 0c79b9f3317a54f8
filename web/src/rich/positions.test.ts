/** Offsets and positions compared with TipTap's own, in the vectors that the server's tests use too. */

import { getSchema, getText, getTextSerializersFromSchema } from "@tiptap/core";
import type { Node } from "@tiptap/pm/model";
import { describe, expect, it } from "vitest";
import told from "../../../tests/vectors/rich/positions.json?raw";
import shape from "../../../tests/vectors/rich/schema.json?raw";
import { Positions, SEPARATOR } from "./positions";
import { describeSchema, richExtensions } from "./schema";

interface Vector {
  doc: object;
  text: string;
  positions: number[];
  offsets: number[];
}

const schema = getSchema(richExtensions());
const vectors: Vector[] = JSON.parse(told);

function read(json: object): Node {
  const doc = schema.nodeFromJSON(json);
  doc.check();
  return doc;
}

describe("the schema", () => {
  it("is the one that the server's tests know", () => {
    expect(JSON.parse(JSON.stringify(describeSchema(schema)))).toEqual(JSON.parse(shape));
  });
});

describe("positions", () => {
  it("gives the text and the position of every offset as TipTap does", () => {
    expect(vectors.length).toBeGreaterThan(10);
    for (const vector of vectors) {
      const found = new Positions(read(vector.doc));
      expect(found.text).toBe(vector.text);
      expect(vector.positions.map((_, offset) => found.position(offset))).toEqual(vector.positions);
    }
  });

  it("gives the offset of every position as TipTap does", () => {
    for (const vector of vectors) {
      const found = new Positions(read(vector.doc));
      expect(vector.offsets.map((_, position) => found.offset(position))).toEqual(vector.offsets);
    }
  });

  it("covers every node type of the schema, and characters of two units", () => {
    const all = JSON.stringify(vectors);
    expect(Object.keys(schema.nodes).filter((name) => !all.includes(`"${name}"`))).toEqual([]);
    expect(all).toMatch(/[\u{10000}-\u{10ffff}]/u);
  });

  it("takes the two positions of the specification's example where they are", () => {
    const paragraph = (text: string) => ({ type: "paragraph", content: [{ type: "text", text }] });
    const found = new Positions(read({ type: "doc", content: [paragraph("Hello"), paragraph("world")] }));
    expect([found.position(0), found.position(7)]).toEqual([1, 8]);
    expect(found.range(5, 7)).toEqual({ from: 6, to: 8 });
  });

  it("refuses an offset outside of the text", () => {
    const found = new Positions(read({ type: "doc", content: [{ type: "paragraph" }] }));
    expect(() => found.position(1)).toThrow(RangeError);
    expect(() => found.position(-1)).toThrow(RangeError);
    expect(() => found.position(0.5)).toThrow(RangeError);
    expect(() => found.offset(3)).toThrow(RangeError);
  });

  it("leaves an image beside a passage outside of it", () => {
    const image = { type: "image", attrs: { src: "i.png" } };
    const a = { type: "text", text: "a" };
    const b = { type: "text", text: "b" };
    const found = new Positions(read({ type: "doc", content: [{ type: "paragraph", content: [a, image, b] }] }));
    expect([found.range(0, 1), found.range(1, 2)]).toEqual([
      { from: 1, to: 2 },
      { from: 3, to: 4 },
    ]);
  });

  it("finds a position in a document of a megabyte in less than a millisecond", () => {
    const text = "word 😀 ".repeat(16);
    const content = Array.from({ length: 8000 }, () => ({ type: "paragraph", content: [{ type: "text", text }] }));
    const doc = read({ type: "doc", content });
    const found = new Positions(doc);
    expect(found.text).toBe(
      getText(doc, { blockSeparator: SEPARATOR, textSerializers: getTextSerializersFromSchema(schema) }),
    );
    expect(found.text.length).toBeGreaterThan(1_000_000);
    const start = performance.now();
    for (let number = 0; number < 1000; number++) found.position((number * 1009) % found.text.length);
    expect((performance.now() - start) / 1000).toBeLessThan(1);
  });
});
