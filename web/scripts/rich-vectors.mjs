/**
 * What TipTap itself says about offsets and positions, for the tests of both languages.
 *
 *     node scripts/rich-vectors.mjs > ../tests/vectors/rich/positions.json      documents from a seeded generator
 *     node scripts/rich-vectors.mjs DOCUMENTS.jsonl > VECTORS.jsonl             one document's JSON on each line
 *
 *     node scripts/rich-vectors.mjs --schema > ../tests/vectors/rich/schema.json
 *
 * Nothing of our own decides here: only `getText` and `getTextBetween` of the library are asked. `offsets[p]` is the
 * length of the text before position p. `positions[k]` is the position p with exactly the first k units before it: where
 * several are, that of the character which follows, else the last within a line, else the first; where none is (between
 * the two newlines of a separator), the last one before it. Units are UTF-16.
 */

import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { getSchema, getText, getTextBetween, getTextSerializersFromSchema } from "@tiptap/core";
import { createServer } from "vite";
import { documents } from "./rich-documents.mjs";

const server = await createServer({ server: { middlewareMode: true, hmr: false, ws: false }, logLevel: "error" });
const { describeSchema, richExtensions } = await server.ssrLoadModule("/src/rich/schema.ts");
const schema = getSchema(richExtensions());
const options = { blockSeparator: "\n\n", textSerializers: getTextSerializersFromSchema(schema) };

function vector(json) {
  const doc = schema.nodeFromJSON(json);
  doc.check();
  const text = getText(doc, options);
  const offsets = Array.from({ length: doc.content.size + 1 }, (_, to) => {
    const before = getTextBetween(doc, { from: 0, to }, options);
    if (!text.startsWith(before)) throw new Error("the text before a position is no prefix");
    return before.length;
  });
  const positions = Array.from({ length: text.length + 1 }, (_, offset) => place(doc, text, offsets, offset));
  return { doc: json, text, positions, offsets };
}

function place(doc, text, offsets, offset) {
  const candidates = [];
  for (let p = offsets.indexOf(offset); p >= 0 && offsets[p] === offset; p++) candidates.push(p);
  if (candidates.length === 0) return offsets.lastIndexOf(offset - 1);
  const inline = candidates.filter((p) => doc.resolve(p).parent.inlineContent);
  const character = inline.find((p) => {
    const next = p < doc.content.size ? getTextBetween(doc, { from: p, to: p + 1 }, options) : "";
    return next !== "" && text.startsWith(next, offset);
  });
  return character ?? inline.at(-1) ?? candidates[0];
}

const given = process.argv[2];
if (given === "--schema") {
  process.stdout.write(`${JSON.stringify(describeSchema(schema), null, 1)}\n`);
} else if (given === undefined) {
  process.stdout.write(
    `[\n${documents(0x7e57, 40)
      .map((json) => JSON.stringify(vector(json)))
      .join(",\n")}\n]\n`,
  );
} else {
  for await (const line of createInterface({ input: createReadStream(given, "utf8") })) {
    process.stdout.write(`${JSON.stringify(vector(JSON.parse(line)))}\n`);
  }
}
await server.close();
