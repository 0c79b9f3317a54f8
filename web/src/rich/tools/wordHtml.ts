/**
 * Corrects Word's HTML: its lists are paragraphs that look like items, its title is a paragraph, its spaces do not
 * break. Everything here is recognised by Word's own class names and `mso-` styles; other pages are not touched.
 */

interface Item {
  level: number;
  ordered: boolean;
}

const LISTED = /mso-list\s*:\s*l\d+\s+level(\d+)/i;
const MARKER = /mso-list\s*:\s*ignore/i;
const NUMBER = /^\s*(?:\d+|[a-z]|[ivxlc]+)[.)]/i;

export function tidyWord(body: HTMLElement): void {
  for (const space of body.querySelectorAll(".Apple-converted-space")) space.replaceWith(" ");
  if (!body.querySelector("[class*='Mso'], [data-style*='mso-'], o\\:p")) return;
  for (const title of body.querySelectorAll("p.MsoTitle")) {
    const heading = body.ownerDocument.createElement("h1");
    heading.append(...title.childNodes);
    title.replaceWith(heading);
  }
  gatherLists(body);
  for (const empty of body.querySelectorAll("o\\:p")) empty.replaceWith(...empty.childNodes);
  breakBlanks(body);
}

/** A paragraph as a list item, with its bullet removed from the text; null if it is none. */
function itemOf(paragraph: Element): Item | null {
  const level = LISTED.exec(paragraph.getAttribute("data-style") ?? "")?.[1];
  if (level === undefined) return null;
  const spans = [...paragraph.querySelectorAll<HTMLElement>("[data-style]")];
  const marker = spans.find((span) => MARKER.test(span.dataset.style ?? ""));
  const sign = marker?.textContent ?? "";
  marker?.remove();
  return { level: Math.min(Number(level), 9), ordered: NUMBER.test(sign.replaceAll("\u00a0", " ")) };
}

/** Neighbouring paragraphs that are items become one list, nested by their levels. */
function gatherLists(body: HTMLElement): void {
  let open: HTMLElement[] = [];
  let last: Element | null = null;
  for (const paragraph of [...body.querySelectorAll("p, h1, h2, h3, h4, h5, h6")]) {
    const item = itemOf(paragraph);
    if (!item) continue;
    if (last === null || paragraph.previousElementSibling !== last) open = [];
    const made = body.ownerDocument.createElement("li");
    made.append(...paragraph.childNodes);
    open = open.slice(0, item.level);
    let list = open.at(-1);
    if (!list || open.length < item.level || (list.tagName === "OL") !== item.ordered) {
      const tag = item.ordered ? "ol" : "ul";
      if (list && open.length === item.level) open.pop();
      list = body.ownerDocument.createElement(tag);
      const parent = open.at(-1)?.lastElementChild;
      if (parent) parent.append(list);
      else if (last && paragraph.previousElementSibling === last) last.after(list);
      else paragraph.before(list);
      // A list that begins below its first level is one level deep all the same.
      open.push(list);
    }
    list.append(made);
    paragraph.remove();
    last = open[0] ?? null;
  }
}

function breakBlanks(body: HTMLElement): void {
  const walker = body.ownerDocument.createTreeWalker(body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode;
    if (!text.parentElement?.closest("pre")) text.nodeValue = (text.nodeValue ?? "").replace(/[\u00a0\s]+/g, " ");
  }
}
