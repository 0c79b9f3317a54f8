/**
 * Colours in code blocks, as decorations: the document itself is not changed. A block is coloured again only if it
 * changed; nodes are immutable, so results can be cached per node.
 */

import { classHighlighter, highlightTree } from "@lezer/highlight";
import { Extension } from "@tiptap/core";
import type { Node } from "@tiptap/pm/model";
import { Plugin, PluginKey } from "@tiptap/pm/state";
import { Decoration, DecorationSet, type EditorView } from "@tiptap/pm/view";
import { flushSelection } from "../selectionFlush";
import { languageName, loadParser, parserOf } from "./languages";

interface Stretch {
  from: number;
  to: number;
  style: string;
}

/** Longer blocks stay in one colour: parsing them would delay typing. */
const LONGEST = 50_000;
const KEY = new PluginKey<DecorationSet>("highlighting");

const known = new WeakMap<Node, Stretch[]>();

/** The coloured ranges of a code block, by offsets in its text; none while its language is not loaded. */
function stretches(block: Node, waiting: Set<string>): Stretch[] {
  const cached = known.get(block);
  if (cached) return cached;
  const name = block.content.size > LONGEST ? null : languageName(block.attrs.language as string | null);
  if (name === null) return [];
  const parser = parserOf(name);
  if (!parser) {
    waiting.add(name);
    return [];
  }
  const found: Stretch[] = [];
  highlightTree(parser.parse(block.textContent), classHighlighter, (from, to, style) =>
    found.push({ from, to, style }),
  );
  known.set(block, found);
  return found;
}

function colourBlock(doc: Node, waiting: Set<string>): DecorationSet {
  const marks: Decoration[] = [];
  doc.descendants((node, at) => {
    if (node.type.name === "codeBlock") {
      for (const { from, to, style } of stretches(node, waiting)) {
        marks.push(Decoration.inline(at + 1 + from, at + 1 + to, { class: style }));
      }
    }
    return !node.isTextblock;
  });
  return DecorationSet.create(doc, marks);
}

/** The code blocks of a document, in order: with the same blocks the colours are the same, only elsewhere. */
function blocksOf(doc: Node): Node[] {
  const found: Node[] = [];
  doc.descendants((node) => {
    if (node.type.name === "codeBlock") found.push(node);
    return !node.isTextblock;
  });
  return found;
}

function isSame(one: Node[], other: Node[]): boolean {
  return one.length === other.length && one.every((block, at) => block === other[at]);
}

export const CodeHighlight = Extension.create({
  name: "highlighting",
  addProseMirrorPlugins() {
    const waiting = new Set<string>();
    const load = (view: EditorView) => {
      for (const name of waiting) {
        waiting.delete(name);
        void loadParser(name).then(() => {
          if (view.isDestroyed) return;
          flushSelection(view);
          view.dispatch(view.state.tr.setMeta(KEY, name).setMeta("addToHistory", false));
        });
      }
    };
    return [
      new Plugin<DecorationSet>({
        key: KEY,
        state: {
          init: (_, { doc }) => colourBlock(doc, waiting),
          apply(tr, before) {
            if (tr.getMeta(KEY)) return colourBlock(tr.doc, new Set());
            if (!tr.docChanged) return before;
            const unchanged = isSame(blocksOf(tr.before), blocksOf(tr.doc));
            return unchanged ? before.map(tr.mapping, tr.doc) : colourBlock(tr.doc, waiting);
          },
        },
        props: { decorations: (state) => KEY.getState(state) },
        view(view) {
          load(view);
          return { update: load };
        },
      }),
    ];
  },
});
