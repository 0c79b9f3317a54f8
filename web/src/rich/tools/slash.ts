/** The slash menu's keys: a "/" at the start of a block or after a space opens it, and what is typed next filters. */

import { Extension } from "@tiptap/core";
import { PluginKey } from "@tiptap/pm/state";
import { exitSuggestion, Suggestion, type SuggestionProps } from "@tiptap/suggestion";
import { type EditorAction, matchActions } from "./actions";
import { type Slash, toolState } from "./state";

export const LISTBOX = "rich-slash-menu";
const KEY = new PluginKey("slash");

export function optionId(act: EditorAction): string {
  return `${LISTBOX}-${act.id}`;
}

export const SlashKeys = Extension.create({
  name: "slash",
  addProseMirrorPlugins() {
    const { editor } = this;
    const state = toolState(editor);

    const show = (slash: Slash | null) => {
      state.setState({ slash });
      const act = slash?.items[slash.at];
      const { dom } = editor.view;
      if (act) {
        dom.setAttribute("aria-controls", LISTBOX);
        dom.setAttribute("aria-activedescendant", optionId(act));
      } else {
        dom.removeAttribute("aria-controls");
        dom.removeAttribute("aria-activedescendant");
      }
    };
    const close = () => exitSuggestion(editor.view, KEY);
    const update = (props: SuggestionProps<EditorAction, EditorAction>) => {
      const { items, clientRect, command } = props;
      show(items.length ? { items, at: 0, place: () => clientRect?.() ?? null, choose: command, close } : null);
    };
    const step = (by: number) => {
      const { slash } = state.getState();
      if (slash) show({ ...slash, at: (slash.at + by + slash.items.length) % slash.items.length });
    };

    return [
      Suggestion<EditorAction, EditorAction>({
        editor,
        pluginKey: KEY,
        char: "/",
        allowedPrefixes: [" "],
        decorationClass: "",
        allow: ({ state: now, range }) => {
          const $from = now.doc.resolve(range.from);
          return !$from.parent.type.spec.code && !$from.marks().some(({ type }) => type.name === "code");
        },
        items: ({ query }) => matchActions(query),
        command: ({ editor: here, range, props: act }) => {
          here.commands.deleteRange(range);
          act.run(here);
        },
        render: () => ({
          onStart: update,
          onUpdate: update,
          onExit: () => show(null),
          onKeyDown: ({ event }) => {
            const { slash } = state.getState();
            if (!slash) return false;
            if (event.key === "ArrowDown") step(1);
            else if (event.key === "ArrowUp") step(-1);
            else if (event.key === "Enter" || event.key === "Tab") {
              const act = slash.items[slash.at];
              if (act) slash.choose(act);
            } else return false;
            return true;
          },
        }),
      }),
    ];
  },
});
