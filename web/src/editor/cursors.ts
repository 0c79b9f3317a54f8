/** Others' cursors, including the agent's, and sending them ours. */

import { StateEffect, StateField } from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  EditorView,
  type PluginValue,
  ViewPlugin,
  type ViewUpdate,
  WidgetType,
} from "@codemirror/view";
import * as Y from "yjs";
import type { Session } from "@/live/session";
import { newlinesField } from "./binding";
import { toEditor, toShared } from "./newlines";

const COLOURS = ["#2f7fd1", "#b4531f", "#2a7d4f", "#a1338a", "#7a6a00", "#c2334d"];
const TELL_AFTER_MS = 80;

interface Presence {
  user?: { name?: string; kind?: string };
  cursor?: { anchor: unknown; head: unknown } | null;
}

/** Everybody's colour, the same in every window. */
export function colourOf(client: number): string {
  return COLOURS[client % COLOURS.length] ?? "#2f7fd1";
}

class Caret extends WidgetType {
  constructor(
    readonly name: string,
    readonly colour: string,
  ) {
    super();
  }

  override eq(other: Caret): boolean {
    return other.name === this.name && other.colour === this.colour;
  }

  override toDOM(): HTMLElement {
    const caret = document.createElement("span");
    caret.className = "cm-caret";
    // Through the DOM: the page's content security policy allows no style attributes.
    caret.style.setProperty("--colour", this.colour);
    const label = caret.appendChild(document.createElement("span"));
    label.className = "cm-caretName";
    label.textContent = this.name;
    return caret;
  }

  override ignoreEvent(): boolean {
    return true;
  }
}

const others = StateEffect.define<DecorationSet>();

const carets = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(value, transaction) {
    for (const effect of transaction.effects) if (effect.is(others)) return effect.value;
    return value.map(transaction.changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});

class Cursors implements PluginValue {
  #telling: ReturnType<typeof setTimeout> | undefined;
  #showing: ReturnType<typeof setTimeout> | undefined;

  constructor(
    readonly view: EditorView,
    readonly session: Session,
  ) {
    session.awareness.on("change", this.#show);
    this.#show();
  }

  update(update: ViewUpdate): void {
    if (update.selectionSet || update.focusChanged || update.docChanged) {
      this.#telling ??= setTimeout(() => this.#tell(), TELL_AFTER_MS);
    }
  }

  destroy(): void {
    clearTimeout(this.#telling);
    clearTimeout(this.#showing);
    this.session.awareness.off("change", this.#show);
    this.session.awareness.setLocalStateField("cursor", null);
  }

  #tell(): void {
    this.#telling = undefined;
    const { state } = this.view;
    const place = (at: number) =>
      Y.createRelativePositionFromTypeIndex(this.session.text, toShared(state.doc, state.field(newlinesField), at));
    const { anchor, head } = state.selection.main;
    const cursor = this.view.hasFocus ? { anchor: place(anchor), head: place(head) } : null;
    this.session.awareness.setLocalStateField("cursor", cursor);
  }

  // Deferred, since a change of others and its cursor arrive together, and the cursor needs the updated text.
  #show = (): void => {
    this.#showing ??= setTimeout(() => {
      this.#showing = undefined;
      this.view.dispatch({ effects: others.of(Decoration.set(this.#marks(), true)) });
    });
  };

  #marks() {
    const { awareness } = this.session;
    return [...awareness.getStates()].flatMap(([client, state]) => {
      const { user, cursor } = state as Presence;
      if (client === awareness.clientID || !cursor) return [];
      const [anchor, head] = [this.#place(cursor.anchor), this.#place(cursor.head)];
      if (anchor === null || head === null) return [];
      const colour = user?.kind === "agent" ? "var(--agent)" : colourOf(client);
      const caret = Decoration.widget({ widget: new Caret(user?.name ?? "Someone", colour), side: 1 }).range(head);
      if (anchor === head) return [caret];
      const selected = Decoration.mark({ class: "cm-othersSelection", attributes: { style: `--colour: ${colour}` } });
      return [caret, selected.range(Math.min(anchor, head), Math.max(anchor, head))];
    });
  }

  #place(relative: unknown): number | null {
    const { doc, text } = this.session;
    const found = Y.createAbsolutePositionFromRelativePosition(Y.createRelativePositionFromJSON(relative), doc);
    if (found?.type !== text) return null;
    const { state } = this.view;
    return toEditor(state.doc, state.field(newlinesField), found.index);
  }
}

export function showOtherCursors(session: Session) {
  return [carets, ViewPlugin.define((view) => new Cursors(view, session))];
}
