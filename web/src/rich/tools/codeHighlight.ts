/**
 * Colours in code blocks, as decorations: the document itself is not changed. A block is coloured again only if it
 * changed; nodes are immutable, so results can be cached per node.
 */

import { classHighlighter, highlightTree } from "@lezer/highlight";
import { Extension } from "@tiptap/core";
import type { Node } from "@tiptap/pm/model";
import { Plugin, PluginKey, type Transaction } from "@tiptap/pm/state";
import type { StepMap } from "@tiptap/pm/transform";
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

/** Whether a change is in a code block, made one or removed one. */
function touchesCode(tr: Transaction): boolean {
  let found = false;
  const look = (doc: Node, from: number, to: number) =>
    doc.nodesBetween(Math.max(0, from - 1), Math.min(doc.content.size, to + 1), (node) => {
      found ||= node.type.name === "codeBlock";
      return !found && !node.isTextblock;
    });
  tr.mapping.maps.forEach((map, at) => {
    map.forEach((from, to, fresh, end) => {
      look(tr.docs[at] ?? tr.before, from, to);
      look(tr.docs[at + 1] ?? tr.doc, fresh, end);
    });
  });
  // A change of attributes, such as the language, moves nothing.
  return found || tr.steps.some((step) => isUnmoved(step.getMap()));
}

function isUnmoved(map: StepMap): boolean {
  let moved = false;
  map.forEach(() => {
    moved = true;
  });
  return !moved;
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
            return touchesCode(tr) ? colourBlock(tr.doc, waiting) : before.map(tr.mapping, tr.doc);
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
