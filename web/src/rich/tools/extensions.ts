import { Extension, type Extensions } from "@tiptap/core";
import { openLink } from "./acts";
import { FindKeys } from "./findKeys";
import { Highlighting } from "./highlighting";
import { Pasting } from "./pasting";
import { Pictures } from "./pictures";
import { SlashKeys } from "./slash";

const ToolKeys = Extension.create({
  name: "toolKeys",
  addKeyboardShortcuts() {
    return {
      "Mod-k": () => {
        openLink(this.editor);
        return true;
      },
      "Alt-F10": () => {
        document.querySelector<HTMLElement>("[data-rich-bar] button")?.focus();
        return true;
      },
    };
  },
});

/** What the tools add to the editor; nothing that changes the schema. */
export function richTools(): Extensions {
  return [Pictures, Pasting, SlashKeys, FindKeys, Highlighting, ToolKeys];
}
