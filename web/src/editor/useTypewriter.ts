/** Typewriter scrolling: the line that is written stays in the middle of the text, in any of its views. */

import { type RefObject, useEffect } from "react";

export function useTypewriter(pane: RefObject<HTMLElement | null>, wanted: boolean): void {
  useEffect(() => {
    const element = pane.current;
    if (!wanted || !element) return;
    let frame = 0;
    const typed = () => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => centreCursor(element));
    };
    element.addEventListener("input", typed);
    element.addEventListener("keyup", typed);
    return () => {
      cancelAnimationFrame(frame);
      element.removeEventListener("input", typed);
      element.removeEventListener("keyup", typed);
    };
  }, [pane, wanted]);
}

function centreCursor(pane: HTMLElement): void {
  const selection = getSelection();
  const node = selection?.focusNode;
  if (!selection || !node || !pane.contains(node)) return;
  const range = document.createRange();
  range.setStart(node, selection.focusOffset);
  const box =
    range.getClientRects()[0] ?? (node instanceof Element ? node : node.parentElement)?.getBoundingClientRect();
  const scroller = scrollerOf(node);
  if (!box || !scroller) return;
  const frame = scroller.getBoundingClientRect();
  scroller.scrollTop += box.top + box.height / 2 - (frame.top + frame.height / 2);
}

/** The element that scrolls a text. */
function scrollerOf(node: Node): HTMLElement | null {
  let element = node instanceof HTMLElement ? node : node.parentElement;
  while (element && !(element.scrollHeight > element.clientHeight && getComputedStyle(element).overflowY === "auto"))
    element = element.parentElement;
  return element;
}
