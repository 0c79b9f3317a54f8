/** A document taken out of the app: as a file that the server makes, or printed by the browser. */

import type { Editor } from "@tiptap/core";
import { DOMSerializer } from "@tiptap/pm/model";
import { Failure, sentenceOf, server, told, UNREACHABLE } from "@/api/client";
import { allArrived } from "@/live/arriving";
import { say } from "@/state/store";
import { imageAddress } from "./images";

export type FileKind = "html" | "docx";

/** Let the browser keep the document as a file. What was typed a moment ago is in it. */
export async function exportFile(path: string, to: FileKind): Promise<void> {
  try {
    const late = new Failure("The server cannot be reached.", UNREACHABLE, 0, "Export it when it is back.");
    if (!(await allArrived([path]))) throw late;
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
  // In a page that is never shown: an image that is made in this one is loaded from wherever it says.
  const aside = document.implementation.createHTMLDocument("");
  const sheet = aside.createElement("div");
  sheet.dataset.paper = "";
  const { schema, state } = editor;
  sheet.append(DOMSerializer.fromSchema(schema).serializeFragment(state.doc.content, { document: aside }));
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
