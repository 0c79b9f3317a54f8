/**
 * Pictures that a person pastes, drops or chooses: each goes into the folder first, and into the text at the place where
 * it was meant to be, wherever that has moved meanwhile. What cannot be stored is said, and nothing is put into the text.
 */

import { type Editor, Extension } from "@tiptap/core";
import { Plugin } from "@tiptap/pm/state";
import { type Schemas, sentenceOf, server, told } from "@/api/client";
import { say } from "@/state/store";
import { parsedHtml } from "./pasting";
import { toolState } from "./state";

const KINDS = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const MAX_BYTES = 10 * 1024 * 1024;
/** What clipboards call a picture without a name. */
const NAMELESS = /^(?:image|img|picture|screenshot|untitled|unknown|download|blob)?(?:[-_ ]?\d+)?$/i;

export function choosePicture(editor: Editor): void {
  const input = document.createElement("input");
  input.type = "file";
  input.accept = KINDS.join(",");
  input.multiple = true;
  input.onchange = () => addPictures(editor, [...(input.files ?? [])], editor.state.selection.from);
  input.click();
}

/** Store each picture and show it where `at` is by then. */
export async function addPictures(editor: Editor, files: File[], at: number): Promise<void> {
  let place = at;
  const follow = ({ transaction }: { transaction: { mapping: { map: (pos: number) => number } } }) => {
    place = transaction.mapping.map(place);
  };
  editor.on("transaction", follow);
  try {
    for (const file of files) {
      const added = await stored(toolState(editor).getState().path, file);
      if (editor.isDestroyed) {
        say(`Stored ${added.path} in the folder. Its document was closed meanwhile, and does not show it yet.`);
        return;
      }
      const image = { type: "image", attrs: { src: added.source, alt: alternative(file.name) } };
      editor.chain().insertContentAt(place, image).focus().run();
      if (added.turn) say(`Stored ${added.path} in the folder.`);
    }
  } catch (error) {
    say(sentenceOf(error), { tone: "bad" });
  } finally {
    editor.off("transaction", follow);
  }
}

async function stored(document: string, file: File): Promise<Schemas["AddedImage"]> {
  if (file.size > MAX_BYTES) throw new Error(`${file.name} is larger than 10 MB.`);
  const content = await base64(file);
  return told(server.POST("/api/images", { body: { document, name: file.name, content } }));
}

function base64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ""));
    reader.onerror = () => reject(new Error(`${file.name} cannot be read.`));
    reader.readAsDataURL(file);
  });
}

/** Words for those who do not see it; none where the name says nothing. */
export function alternative(name: string): string {
  const stem = name.replace(/\.[a-z0-9]+$/i, "");
  return NAMELESS.test(stem) ? "" : stem.replace(/[-_]+/g, " ").replace(/[[\]]/g, "").trim();
}

function picturesIn(data: DataTransfer | null): File[] {
  return [...(data?.files ?? [])].filter((file) => KINDS.includes(file.type));
}

/** Whether what was copied is more than one picture: then its words matter, and its pictures come as they can. */
function hasWords(html: string): boolean {
  return parsedHtml(html).textContent.trim() !== "";
}

export const Pictures = Extension.create({
  name: "pictures",
  addProseMirrorPlugins() {
    const { editor } = this;
    return [
      new Plugin({
        props: {
          handlePaste(view, event) {
            const files = picturesIn(event.clipboardData);
            if (files.length === 0 || hasWords(event.clipboardData?.getData("text/html") ?? "")) return false;
            void addPictures(editor, files, view.state.selection.from);
            return true;
          },
          handleDrop(view, event, _slice, moved) {
            if (moved || !event.dataTransfer?.files.length) return false;
            event.preventDefault();
            const files = picturesIn(event.dataTransfer);
            const at = view.posAtCoords({ left: event.clientX, top: event.clientY })?.pos ?? view.state.selection.from;
            if (files.length === 0) say("Only PNG, JPEG, GIF and WebP pictures can be dropped here.", { tone: "bad" });
            else void addPictures(editor, files, at);
            return true;
          },
        },
      }),
    ];
  },
});
