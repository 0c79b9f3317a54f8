/** Blocks of source cannot be edited here: who types with one selected types below it, and does not replace it. */

import { Extension } from "@tiptap/core";
import { NodeSelection, Plugin, TextSelection } from "@tiptap/pm/state";
import type { EditorView } from "@tiptap/pm/view";

export const sourceKept = Extension.create({
  name: "sourceKept",
  addProseMirrorPlugins: () => [
    new Plugin({ props: { handleTextInput: (view, _from, _to, text) => below(view, text) } }),
  ],
});

function below(view: EditorView, text: string): boolean {
  const { selection, schema, tr } = view.state;
  const paragraph = schema.nodes.paragraph?.create(null, schema.text(text));
  if (!(selection instanceof NodeSelection) || selection.node.type.name !== "source" || !paragraph) return false;
  tr.insert(selection.to, paragraph);
  tr.setSelection(TextSelection.create(tr.doc, selection.to + 1 + text.length));
  view.dispatch(tr.scrollIntoView());
  return true;
}
