/** Where the cursor goes after an agent's replacement; the rest of the bridge is tested in a real browser. */

import { getSchema } from "@tiptap/core";
import { EditorState, TextSelection } from "@tiptap/pm/state";
import { describe, expect, it } from "vitest";
import told from "../../../tests/vectors/rich/positions.json?raw";
import { placeCursor } from "./bridge";
import { richExtensions } from "./schema";

interface Vector {
  doc: object;
  text: string;
  positions: number[];
}

const schema = getSchema(richExtensions());
const vectors: Vector[] = JSON.parse(told);

function done(cursor: number, length: number) {
  return { type: "done", id: "", turn: 1, cursor, length } as const;
}

describe("the cursor", () => {
  it("stands in a text, as near to the place as one can, wherever a replacement ended", () => {
    for (const { doc, text, positions } of vectors) {
      const state = EditorState.create({ doc: schema.nodeFromJSON(doc) });
      let hasText = false;
      state.doc.descendants((node) => {
        hasText ||= node.inlineContent;
      });
      for (const [offset, position] of positions.entries()) {
        if (offset % 7 > 0 && offset < text.length) continue; // each takes a pass over the whole document
        const placed = placeCursor(state, done(offset, text.length));
        expect(placed !== null).toBe(hasText);
        if (placed === null) continue;
        const { selection } = placed;
        expect([placed.docChanged, selection instanceof TextSelection, selection.empty]).toEqual([false, true, true]);
        if (state.doc.resolve(position).parent.inlineContent) expect(selection.head).toBe(position);
      }
    }
  });

  it("stays where it is in an editor that shows something else", () => {
    const [vector] = vectors;
    const state = EditorState.create({ doc: schema.nodeFromJSON(vector?.doc) });
    expect(placeCursor(state, done(0, (vector?.text.length ?? 0) + 1))).toBe(null);
  });
});
