/**
 * Marks what is copied here, so that pasting can distinguish it from content that only claims to be ours: every editor
 * of this kind writes the same attribute, and a page may write anything. Only the windows of this app know the mark.
 */

import { DOMSerializer, type Fragment, type Schema } from "@tiptap/pm/model";

const MARK = "data-redraft";
const KEY = "redraft-copied";

function mark(): string {
  const known = localStorage.getItem(KEY);
  if (known) return known;
  const made = crypto.randomUUID();
  try {
    localStorage.setItem(KEY, made);
  } catch {
    return ""; // no storage: then what is copied here is cleaned like anything else
  }
  return made;
}

/** Whether this was copied here. */
export function isOwnClipboard(body: HTMLElement): boolean {
  const own = mark();
  return own !== "" && [...body.querySelectorAll(`[${MARK}]`)].some((each) => each.getAttribute(MARK) === own);
}

export class MarkedSerializer extends DOMSerializer {
  static of(schema: Schema): MarkedSerializer {
    return new MarkedSerializer(DOMSerializer.nodesFromSchema(schema), DOMSerializer.marksFromSchema(schema));
  }

  override serializeFragment(
    fragment: Fragment,
    options?: { document?: Document },
    target?: HTMLElement | DocumentFragment,
  ): HTMLElement | DocumentFragment {
    const made = super.serializeFragment(fragment, options, target);
    // Only on the outermost part of what is copied.
    if (!target) made.firstElementChild?.setAttribute(MARK, mark());
    return made;
  }
}
