import { Extension, type Extensions } from "@tiptap/core";
import { openLink } from "./actions";
import { CodeHighlight } from "./codeHighlight";
import { FindKeys } from "./findKeys";
import { ImageUpload } from "./imageUpload";
import { PasteCleaner } from "./paste";
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
  return [ImageUpload, PasteCleaner, SlashKeys, FindKeys, CodeHighlight, ToolKeys];
}
