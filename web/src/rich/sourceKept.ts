/** Source cannot be edited here: who types with a piece of it selected types behind it, and does not replace it. */

import { Extension } from "@tiptap/core";
import { NodeSelection, Plugin, TextSelection } from "@tiptap/pm/state";
import type { EditorView } from "@tiptap/pm/view";

export const sourceKept = Extension.create({
  name: "sourceKept",
  addProseMirrorPlugins: () => [
    new Plugin({ props: { handleTextInput: (view, _from, _to, text) => behind(view, text) } }),
  ],
});

function behind(view: EditorView, text: string): boolean {
  const { selection, schema, tr } = view.state;
  if (!(selection instanceof NodeSelection) || !/^(?:source|inlineSource)$/.test(selection.node.type.name))
    return false;
  const { to, node } = selection;
  const words = schema.text(text);
  tr.insert(to, node.isInline ? words : schema.node("paragraph", null, words));
  tr.setSelection(TextSelection.create(tr.doc, to + (node.isInline ? 0 : 1) + text.length));
  view.dispatch(tr.scrollIntoView());
  return true;
}
