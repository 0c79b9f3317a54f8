/** The matches of the find bar, marked in the text; Mod+F opens the bar. */

import { Extension } from "@tiptap/core";
import type { Node } from "@tiptap/pm/model";
import { type EditorState, Plugin, PluginKey } from "@tiptap/pm/state";
import { Decoration, DecorationSet } from "@tiptap/pm/view";
import { type FindQuery, type FoundRange, findAll } from "./find";
import { toolState } from "./state";
import css from "./tools.module.css";

export interface FindState {
  wanted: FindQuery;
  found: FoundRange[];
  /** The index of the current one; -1 for none. */
  now: number;
  marks: DecorationSet;
}

export type FindStep = { wanted: FindQuery } | { now: number };

const NOTHING: FindQuery = { text: "", caseSensitive: false, wholeWord: false };
const FIND = new PluginKey<FindState>("find");

export function findState(state: EditorState): FindState {
  return FIND.getState(state) ?? { wanted: NOTHING, found: [], now: -1, marks: DecorationSet.empty };
}

export const FIND_STEP = FIND;

function markFound(doc: Node, wanted: FindQuery, found: FoundRange[], now: number): FindState {
  const marks = found.map(({ from, to }, at) =>
    Decoration.inline(from, to, { class: `${css.found} ${at === now ? css.foundNow : ""}` }),
  );
  return { wanted, found, now, marks: DecorationSet.create(doc, marks) };
}

export const FindKeys = Extension.create({
  name: "find",
  addKeyboardShortcuts() {
    const open = () => {
      toolState(this.editor).setState({ find: true });
      return true;
    };
    return { "Mod-f": open, "Mod-h": open };
  },
  addProseMirrorPlugins() {
    return [
      new Plugin<FindState>({
        key: FIND,
        state: {
          init: () => ({ wanted: NOTHING, found: [], now: -1, marks: DecorationSet.empty }),
          apply(tr, before) {
            const step = tr.getMeta(FIND) as FindStep | undefined;
            if (step && "wanted" in step) return markFound(tr.doc, step.wanted, findAll(tr.doc, step.wanted), -1);
            if (step) return markFound(tr.doc, before.wanted, before.found, step.now);
            if (!tr.docChanged || !before.wanted.text) return before;
            const shown = before.found[before.now];
            const at = shown === undefined ? -1 : tr.mapping.map(shown.from);
            const found = findAll(tr.doc, before.wanted);
            const now = found.findIndex(({ from }) => from === at);
            return markFound(tr.doc, before.wanted, found, now);
          },
        },
        props: {
          decorations: (state) => FIND.getState(state)?.marks,
        },
      }),
    ];
  },
});
