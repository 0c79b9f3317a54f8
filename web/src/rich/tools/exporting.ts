/** A document taken out of the app: as a file that the server makes, or printed by the browser. */

import type { Editor } from "@tiptap/core";
import { DOMSerializer } from "@tiptap/pm/model";
import { Failure, sentenceOf, server, told } from "@/api/client";
import { say } from "@/state/store";
import { openRich } from "../open";
import { imageAddress } from "./images";

export type FileKind = "html" | "docx";

/** Let the browser keep the document as a file. What was typed a moment ago is in it. */
export async function exportFile(path: string, to: FileKind): Promise<void> {
  try {
    if ((await openRich.get(path)?.flush()) === false) throw new Failure("The server cannot be reached.", "", 0);
    const asked = server.GET("/api/export", { params: { query: { path, to } }, parseAs: "blob" });
    const content = (await told(asked)) as unknown as Blob;
    const name = path.split("/").at(-1) ?? path;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(content);
    link.download = `${name.replace(/(?<=.)\.[^.]*$/, "")}.${to}`;
    link.click();
    URL.revokeObjectURL(link.href);
  } catch (error) {
    say(sentenceOf(error), { tone: "bad" });
  }
}

/** The document alone, as it is on paper: no marks of a review, no cursors, nothing of the app. */
export function paper(editor: Editor, path: string): HTMLElement {
  const sheet = document.createElement("div");
  sheet.dataset.paper = "";
  sheet.append(DOMSerializer.fromSchema(editor.schema).serializeFragment(editor.state.doc.content));
  for (const hidden of sheet.querySelectorAll("[data-source='frontmatter'], [data-source='definition']"))
    hidden.remove();
  for (const picture of sheet.querySelectorAll("img")) {
    const address = imageAddress(path, picture.getAttribute("src") ?? "");
    if (address) picture.src = address;
    else picture.replaceWith(picture.alt);
  }
  return sheet;
}

/** While the browser prints, by whatever key or menu, only the document is there. The answer ends that. */
export function printsOnlyTheDocument(editor: Editor, path: string): () => void {
  let sheet: HTMLElement | null = null;
  const before = () => {
    sheet ??= document.body.appendChild(paper(editor, path));
  };
  const after = () => {
    sheet?.remove();
    sheet = null;
  };
  addEventListener("beforeprint", before);
  addEventListener("afterprint", after);
  return () => {
    after();
    removeEventListener("beforeprint", before);
    removeEventListener("afterprint", after);
  };
}
