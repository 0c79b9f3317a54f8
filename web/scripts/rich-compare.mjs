/** Holds `src/rich/positions.ts` to vectors of TipTap's: `node scripts/rich-compare.mjs VECTORS.jsonl`. */

import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { getSchema } from "@tiptap/core";
import { createServer } from "vite";

const server = await createServer({ server: { middlewareMode: true, hmr: false, ws: false }, logLevel: "error" });
const { richExtensions } = await server.ssrLoadModule("/src/rich/schema.ts");
const { Positions } = await server.ssrLoadModule("/src/rich/positions.ts");
const schema = getSchema(richExtensions());

let offsets = 0;
let wrong = 0;
for await (const line of createInterface({ input: createReadStream(process.argv[2], "utf8") })) {
  const vector = JSON.parse(line);
  const found = new Positions(schema.nodeFromJSON(vector.doc));
  if (found.text !== vector.text) wrong += 1;
  for (const [offset, position] of vector.positions.entries()) if (found.position(offset) !== position) wrong += 1;
  for (const [position, offset] of vector.offsets.entries()) if (found.offset(position) !== offset) wrong += 1;
  offsets += vector.positions.length;
}
process.stdout.write(`${JSON.stringify({ offsets, wrong })}\n`);
await server.close();
