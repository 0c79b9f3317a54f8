/**
 * Pictures that a person pastes, drops or chooses: each is stored in the folder first, and then inserted at its
 * intended place, wherever that has moved meanwhile. If it cannot be stored, the person is told, and nothing is
 * inserted.
 */

import { type Editor, Extension } from "@tiptap/core";
import { Plugin } from "@tiptap/pm/state";
import { errorMessage, type Schemas, server, unwrap } from "@/api/client";
import { showToast } from "@/state/store";
import { focusEditor, isFocusFree } from "../editorFocus";
import { parseHtml } from "./paste";
import { toolState } from "./state";

const KINDS = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const MAX_BYTES = 10 * 1024 * 1024;
/** What clipboards call a picture without a name. */
const NAMELESS = /^(?:image|img|picture|screenshot|untitled|unknown|download|blob)?(?:[-_ ]?\d+)?$/i;

export function chooseImages(editor: Editor): void {
  const input = document.createElement("input");
  input.type = "file";
  input.accept = KINDS.join(",");
  input.multiple = true;
  input.onchange = () => addImages(editor, [...(input.files ?? [])], editor.state.selection.from);
  input.click();
}

/** Store each picture and insert it where `at` is by then. */
export async function addImages(editor: Editor, files: File[], at: number): Promise<void> {
  let place = at;
  const follow = ({ transaction }: { transaction: { mapping: { map: (pos: number) => number } } }) => {
    place = transaction.mapping.map(place);
  };
  editor.on("transaction", follow);
  try {
    for (const file of files) {
      const added = await storeImage(toolState(editor).getState().path, file);
      if (editor.isDestroyed) {
        showToast(`Saved ${added.path} to the folder. Its document was closed before the image could be inserted.`);
        return;
      }
      const image = { type: "image", attrs: { src: added.source, alt: altText(file.name) } };
      editor.commands.insertContentAt(place, image);
      if (isFocusFree(editor.view.dom)) focusEditor(editor);
      if (added.turn) showToast(`Saved ${added.path} to the folder.`);
    }
  } catch (error) {
    showToast(errorMessage(error), { tone: "bad" });
  } finally {
    editor.off("transaction", follow);
  }
}

async function storeImage(document: string, file: File): Promise<Schemas["NewImageResponse"]> {
  if (file.size > MAX_BYTES) throw new Error(`${file.name} is larger than 10 MB.`);
  const content = await base64(file);
  return unwrap(server.POST("/api/images", { body: { document, name: file.name, content } }));
}

function base64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ""));
    reader.onerror = () => reject(new Error(`${file.name} cannot be read.`));
    reader.readAsDataURL(file);
  });
}

/** Alternative text; empty if the name says nothing. */
export function altText(name: string): string {
  const stem = name.replace(/\.[a-z0-9]+$/i, "");
  return NAMELESS.test(stem) ? "" : stem.replace(/[-_]+/g, " ").replace(/[[\]]/g, "").trim();
}

function imagesIn(data: DataTransfer | null): File[] {
  return [...(data?.files ?? [])].filter((file) => KINDS.includes(file.type));
}

/** Whether more than a picture was copied: then the words matter, and the pictures are optional. */
function hasWords(html: string): boolean {
  return parseHtml(html).textContent.trim() !== "";
}

export const ImageUpload = Extension.create({
  name: "pictures",
  addProseMirrorPlugins() {
    const { editor } = this;
    return [
      new Plugin({
        props: {
          handlePaste(view, event) {
            const files = imagesIn(event.clipboardData);
            if (files.length === 0 || hasWords(event.clipboardData?.getData("text/html") ?? "")) return false;
            void addImages(editor, files, view.state.selection.from);
            return true;
          },
          handleDrop(view, event, _slice, moved) {
            if (moved || !event.dataTransfer?.files.length) return false;
            event.preventDefault();
            const files = imagesIn(event.dataTransfer);
            const at = view.posAtCoords({ left: event.clientX, top: event.clientY })?.pos ?? view.state.selection.from;
            if (files.length === 0)
              showToast("Only PNG, JPEG, GIF and WebP images can be dropped here.", { tone: "bad" });
            else void addImages(editor, files, at);
            return true;
          },
        },
      }),
    ];
  },
});
