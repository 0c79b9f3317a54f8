/**
 * Cleans clipboard content from other programs before the schema parses it: nothing hidden, no styles except those for
 * bold, italic or strikethrough, tables as markdown can write them, external pictures as links. The schema then drops
 * tags that it has no node for, and keeps their text. What was copied here is left as it is.
 */

import { Extension } from "@tiptap/core";
import { Plugin } from "@tiptap/pm/state";
import { isOwnClipboard, MarkedSerializer } from "./clipboard";
import { tidyWord } from "./wordHtml";

const JUNK =
  "script,style,noscript,template,meta,link,title,head,xml,svg,canvas,video,audio,iframe,object,embed,button,select," +
  "textarea,dialog,[hidden],[aria-hidden='true']:not(code):not(pre)";
const TAG = /<[a-z](?:"[^"]*"|'[^']*'|[^'">])*>/gi;
const BLOCKS = "p,div,h1,h2,h3,h4,h5,h6,ul,ol,li,blockquote,pre,section,article,header,footer,dl,dt,dd";

/**
 * HTML as an inert document, so that nothing of it loads or runs. Its styles are in `data-style`: the app's own content
 * security policy would not let them be read, and would log them and event handlers, which are removed.
 */
export function parseHtml(html: string): HTMLElement {
  const unstyled = html.replace(/<style\b.*?<\/style\s*>/gis, "");
  const quiet = unstyled.replace(TAG, (tag) =>
    tag.replace(/\sstyle\s*=/gi, " data-style=").replace(/\son\w+\s*=/gi, " data-off="),
  );
  return new DOMParser().parseFromString(quiet, "text/html").body;
}

/** The HTML of a clipboard, without what a document cannot use. */
export function cleanHtml(html: string): string {
  const body = parseHtml(html);
  if (isOwnClipboard(body)) return restoreAlignment(body);
  for (const each of body.querySelectorAll("[data-pm-slice]")) each.removeAttribute("data-pm-slice");
  dropComments(body);
  const hidden = [...body.querySelectorAll<HTMLElement>("[data-style]")].filter(isHidden);
  for (const each of [...hidden, ...body.querySelectorAll(JUNK)]) each.remove();
  tidyWord(body);
  convertCheckboxes(body);
  simplifyImages(body);
  simplifyTables(body);
  simplifyStyles(body);
  simplifyLinks(body);
  dropEmpty(body);
  return body.innerHTML;
}

/** What was copied here, unchanged, with the alignment of its cells, which was a style. */
function restoreAlignment(body: HTMLElement): string {
  for (const cell of body.querySelectorAll<HTMLElement>("td[data-style], th[data-style]")) {
    cell.setAttribute("align", /text-align\s*:\s*(\w+)/i.exec(cell.dataset.style ?? "")?.[1] ?? "");
  }
  return body.innerHTML;
}

function dropComments(body: HTMLElement): void {
  const walker = body.ownerDocument.createTreeWalker(body, NodeFilter.SHOW_COMMENT);
  const found: Node[] = [];
  while (walker.nextNode()) found.push(walker.currentNode);
  for (const each of found) each.parentNode?.removeChild(each);
}

function isHidden(element: HTMLElement): boolean {
  const style = element.dataset.style ?? "";
  return /display\s*:\s*none|visibility\s*:\s*hidden|mso-hide\s*:\s*all/i.test(style);
}

/** Task lists, as web pages write them, in the editor's own form. */
function convertCheckboxes(body: HTMLElement): void {
  for (const box of body.querySelectorAll<HTMLInputElement>("li input[type=checkbox]")) {
    const item = box.closest("li");
    const list = item?.parentElement;
    if (item && list?.tagName === "UL") {
      list.dataset.type = "taskList";
      for (const each of list.children) (each as HTMLElement).dataset.type = "taskItem";
      item.dataset.checked = String(box.checked || box.hasAttribute("checked"));
    }
  }
  for (const box of body.querySelectorAll("input")) box.remove();
}

/** An external picture becomes a link with its description; one that only the other program had, its description. */
function simplifyImages(body: HTMLElement): void {
  for (const picture of body.querySelectorAll("img")) {
    const source = picture.getAttribute("src") ?? "";
    const words = (picture.getAttribute("alt") ?? "").replace(/\s+/g, " ").trim();
    if (!/^https?:/i.test(source) || picture.closest("a")) {
      picture.replaceWith(words);
      continue;
    }
    const link = body.ownerDocument.createElement("a");
    link.href = source;
    link.textContent = words || "picture";
    picture.replaceWith(link);
  }
}

/** Tables as markdown can write them: a head, no cell that spans others, one line in each. */
function simplifyTables(body: HTMLElement): void {
  for (const inner of body.querySelectorAll("td table, th table")) inner.replaceWith(inner.textContent ?? "");
  for (const table of body.querySelectorAll("table")) {
    for (const cell of table.querySelectorAll("td, th")) toOneLine(cell);
    const rows = unmergeCells(table);
    const whole = body.ownerDocument.createElement("table");
    rows.forEach((cells, at) => {
      const row = whole.insertRow();
      for (const cell of cells) {
        const made = body.ownerDocument.createElement(at === 0 ? "th" : "td");
        if (cell) made.append(...cell.cloneNode(true).childNodes);
        row.append(made);
      }
    });
    if (rows.length > 0) table.replaceWith(whole);
    else table.remove();
  }
}

function toOneLine(cell: Element): void {
  for (const block of cell.querySelectorAll(BLOCKS)) block.replaceWith(...block.childNodes, " ");
  for (const line of cell.querySelectorAll("br")) line.replaceWith(" ");
}

/** Every cell in its row and column; null if one that spans others leaves a gap. */
function unmergeCells(table: HTMLTableElement): (Element | null)[][] {
  const grid: (Element | null | undefined)[][] = [...table.rows].map(() => []);
  [...table.rows].forEach((row, at) => {
    let column = 0;
    for (const cell of row.cells) {
      while (grid[at]?.[column] !== undefined) column += 1;
      for (let down = 0; down < Math.min(cell.rowSpan || 1, table.rows.length - at); down += 1) {
        const line = grid[at + down] ?? [];
        for (let right = 0; right < Math.min(cell.colSpan, 100); right += 1) {
          line[column + right] = down + right === 0 ? cell : null;
        }
      }
      column += Math.min(cell.colSpan, 100);
    }
  });
  const width = Math.max(0, ...grid.map((line) => line.length));
  return grid.map((line) => Array.from({ length: width }, (_, column) => line[column] ?? null));
}

/** Meaningful styles as the corresponding tags; the rest is dropped. Only this editor's own nodes count as source. */
function simplifyStyles(body: HTMLElement): void {
  for (const element of body.querySelectorAll<HTMLElement>("[data-source], [data-inline-source]")) {
    delete element.dataset.source;
    delete element.dataset.inlineSource;
  }
  for (const element of body.querySelectorAll<HTMLElement>("[data-style], [class], [id]")) {
    const style = element.dataset.style ?? "";
    delete element.dataset.style;
    element.removeAttribute("id");
    if (!element.matches("pre, code")) element.removeAttribute("class");
    const weight = /(?:^|;)\s*font-weight\s*:\s*(\w+)/i.exec(style)?.[1] ?? "";
    if (element.matches("b, strong") && /^(?:normal|[1-4]00)$/i.test(weight)) {
      element.replaceWith(...element.childNodes);
      continue;
    }
    // A heading is bold already, and a block is not: its words are.
    if (element.closest("h1,h2,h3,h4,h5,h6,pre") || !element.matches("span, font, a")) continue;
    if (/^(?:bold|bolder|[6-9]00)$/i.test(weight)) wrapInside(element, "strong");
    if (/font-style\s*:\s*(?:italic|oblique)/i.test(style)) wrapInside(element, "em");
    if (/text-decoration[\w-]*\s*:[^;]*line-through/i.test(style)) wrapInside(element, "s");
  }
}

function wrapInside(element: HTMLElement, tag: string): void {
  const made = element.ownerDocument.createElement(tag);
  made.append(...element.childNodes);
  element.append(made);
}

/** Links that lead somewhere; of others only the text stays. */
function simplifyLinks(body: HTMLElement): void {
  for (const link of body.querySelectorAll("a")) {
    link.removeAttribute("title");
    if (!/^(?:https?:|mailto:)/i.test(link.getAttribute("href") ?? "")) link.replaceWith(...link.childNodes);
  }
}

/** Meaningless spans, and blank paragraphs, which markdown does not have. */
function dropEmpty(body: HTMLElement): void {
  for (const span of body.querySelectorAll("span, font")) span.replaceWith(...span.childNodes);
  for (const block of body.querySelectorAll("p, div, h1, h2, h3, h4, h5, h6")) {
    if (!block.textContent?.trim() && !block.querySelector("img, hr, table")) block.remove();
  }
  body.normalize();
}

export const PasteCleaner = Extension.create({
  name: "pasting",
  addProseMirrorPlugins() {
    const clipboardSerializer = MarkedSerializer.of(this.editor.schema);
    return [new Plugin({ props: { transformPastedHTML: cleanHtml, clipboardSerializer } })];
  },
});
