/**
 * Export a document: as a file that the server makes, or printed by the browser.
 *
 * It contains the accepted text; the person is told if proposals were left out, and may include them, marked.
 */

import type { Editor } from "@tiptap/core";
import { DOMSerializer } from "@tiptap/pm/model";
import { errorMessage, Failure, server, UNREACHABLE, unwrap } from "@/api/client";
import { waitForDelivery } from "@/live/delivery";
import { showToast } from "@/state/store";
import { imageAddress } from "./imagePaths";

export type FileKind = "html" | "docx";

/** Download the document as a file, including what was typed a moment ago. */
export async function exportFile(path: string, to: FileKind, proposals = false): Promise<void> {
  try {
    const late = new Failure("The server cannot be reached.", UNREACHABLE, 0, "Try again when it is back.");
    if (!(await waitForDelivery([path]))) throw late;
    const asked = server.GET("/api/export", { params: { query: { path, to, proposals } }, parseAs: "blob" });
    const content = (await unwrap(asked)) as unknown as Blob;
    if (!proposals) announceLeftOut("Exported", countProposals((await asked).response));
    const name = path.split("/").at(-1) ?? path;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(content);
    link.download = `${name.replace(/(?<=.)\.[^.]*$/, "")}.${to}`;
    link.click();
    URL.revokeObjectURL(link.href);
  } catch (error) {
    showToast(errorMessage(error), { tone: "bad" });
  }
}

function countProposals(response: Response): number {
  return Number(response.headers.get("redraft-proposals") ?? 0);
}

function announceLeftOut(what: string, count: number): void {
  if (count > 0)
    showToast(`${what} the accepted text. ${count} ${count === 1 ? "proposal is" : "proposals are"} left out.`);
}

/** A document's page from the server, for printing, and how many proposals it leaves out. */
interface AcceptedPage {
  html: string;
  leftOut: number;
}

/** The accepted text of a document, or with proposals marked; null if the server does not answer. */
export async function fetchAcceptedPage(path: string, proposals = false): Promise<AcceptedPage | null> {
  try {
    if (!(await waitForDelivery([path]))) return null;
    const asked = server.GET("/api/export", { params: { query: { path, to: "html", proposals } }, parseAs: "text" });
    const html = (await unwrap(asked)) as unknown as string;
    return { html, leftOut: proposals ? 0 : countProposals((await asked).response) };
  } catch {
    return null;
  }
}

/** Print the document with proposals marked. */
export async function printProposals(editor: Editor, path: string): Promise<void> {
  const page = await fetchAcceptedPage(path, true);
  if (page === null) {
    showToast("The server cannot be reached.", { tone: "bad" });
    return;
  }
  const sheet = document.body.appendChild(renderPage(page, editor, path));
  addEventListener("afterprint", () => sheet.remove(), { once: true });
  print();
}

/** The server's page as a sheet. Its pictures come from where the editor has them: the app loads no others. */
function renderPage(page: AcceptedPage, editor: Editor, path: string): HTMLElement {
  const text = page.html.slice(page.html.indexOf("<main>"), page.html.lastIndexOf("</main>"));
  // Without its styles: the app's content security policy would refuse them, and log it.
  const made = new DOMParser().parseFromString(text.replace(/ style="text-align:[^"]*"/g, ""), "text/html");
  const known = [...renderSheet(editor, path).querySelectorAll("img")];
  for (const picture of made.querySelectorAll("img")) {
    const same = known.find((other) => other.alt === picture.alt);
    if (same) picture.src = same.src;
    else picture.replaceWith(picture.alt);
  }
  const sheet = document.createElement("div");
  sheet.dataset.paper = "";
  sheet.append(...(made.querySelector("main")?.childNodes ?? []));
  return sheet;
}

/** Only the document, as on paper: no review marks, no cursors, nothing of the app. */
export function renderSheet(editor: Editor, path: string): HTMLElement {
  // In an inert document: an image created in this one is loaded from wherever it says.
  const inert = document.implementation.createHTMLDocument("");
  const sheet = inert.createElement("div");
  sheet.dataset.paper = "";
  const { schema, state } = editor;
  sheet.append(DOMSerializer.fromSchema(schema).serializeFragment(state.doc.content, { document: inert }));
  for (const hidden of sheet.querySelectorAll("[data-source='frontmatter'], [data-source='definition']"))
    hidden.remove();
  for (const picture of sheet.querySelectorAll("img")) {
    const address = imageAddress(path, picture.getAttribute("src") ?? "");
    if (address) picture.src = address;
    else picture.replaceWith(picture.alt);
  }
  return sheet;
}

/**
 * While the browser prints, by whatever key or menu, only the document is shown. Returns the function that ends that.
 * `accepted` returns the page to print while something is proposed: a browser about to print does not wait for a
 * server.
 */
export function printDocumentOnly(editor: Editor, path: string, accepted: () => AcceptedPage | null): () => void {
  let sheet: HTMLElement | null = null;
  const before = () => {
    if (document.querySelector("[data-paper]")) return;
    const page = accepted();
    sheet = document.body.appendChild(page ? renderPage(page, editor, path) : renderSheet(editor, path));
    announceLeftOut("This prints", page?.leftOut ?? 0);
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
