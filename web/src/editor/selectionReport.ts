/** Reports the selection of the editor in front to the store, for the agent's context; after a pause, not on every key.
 * */

import { type EditorView, type PluginValue, ViewPlugin, type ViewUpdate } from "@codemirror/view";
import { show, useStore } from "@/state/store";

const AFTER_MS = 200;

class SelectionReporter implements PluginValue {
  #telling: ReturnType<typeof setTimeout> | undefined;

  constructor(
    readonly view: EditorView,
    readonly path: string,
  ) {}

  update({ selectionSet }: ViewUpdate): void {
    if (!selectionSet) return;
    clearTimeout(this.#telling);
    this.#telling = setTimeout(() => this.#tell(), AFTER_MS);
  }

  destroy(): void {
    clearTimeout(this.#telling);
    if (useStore.getState().selection?.path === this.path) show({ selection: null });
  }

  #tell(): void {
    const { doc, selection } = this.view.state;
    const { from, to, empty } = selection.main;
    const current = useStore.getState().selection;
    if (empty) {
      if (current?.path === this.path) show({ selection: null });
      return;
    }
    const [startLine, endLine] = [doc.lineAt(from).number, doc.lineAt(to).number];
    show({ selection: { path: this.path, startLine, endLine, text: doc.sliceString(from, to) } });
  }
}

export function reportSelection(path: string) {
  return ViewPlugin.define((view) => new SelectionReporter(view, path));
}
