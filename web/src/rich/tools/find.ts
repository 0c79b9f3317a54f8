/**
 * Find words in a rich document. The search runs block by block, as a person reads: across bold and plain letters, but
 * not across blocks or pictures. Pure: documents and positions in, positions out.
 */

import type { Node } from "@tiptap/pm/model";
import type { Transaction } from "@tiptap/pm/state";

export interface FindQuery {
  text: string;
  caseSensitive: boolean;
  wholeWord: boolean;
}

/** A match, by ProseMirror's positions. */
export interface FoundRange {
  from: number;
  to: number;
}

/** Stands for a picture or another leaf: one position, and a character that nobody searches for. */
const LEAF = "\ufffc";
const MOST = 10_000;

/** What to search for; null for nothing. Case is folded letter by letter, so that a match is as long as written. */
export function toPattern({ text, caseSensitive, wholeWord }: FindQuery): RegExp | null {
  if (!text) return null;
  const words = text.replace(/[.*+?^${}()|[\]\\/-]/g, (sign) => (sign === "-" ? "\\x2d" : `\\${sign}`));
  const letter = "[\\p{L}\\p{M}\\p{N}_]";
  // A word boundary is required only beside a letter: "C++" as a whole word ends in a plus.
  const start = wholeWord && /^[\p{L}\p{M}\p{N}_]/u.test(text) ? `(?<!${letter})` : "";
  const end = wholeWord && /[\p{L}\p{M}\p{N}_]$/u.test(text) ? `(?!${letter})` : "";
  return new RegExp(`${start}${words}${end}`, caseSensitive ? "gu" : "giu");
}

/** Every match, in order. */
export function findAll(doc: Node, wanted: FindQuery): FoundRange[] {
  const looking = toPattern(wanted);
  const found: FoundRange[] = [];
  if (!looking) return found;
  doc.descendants((node, at) => {
    if (!node.isTextblock || found.length >= MOST) return found.length < MOST && !node.isTextblock;
    const words = node.textBetween(0, node.content.size, undefined, LEAF);
    for (const match of words.matchAll(looking)) {
      found.push({ from: at + 1 + match.index, to: at + 1 + match.index + match[0].length });
      if (found.length >= MOST) break;
    }
    return false;
  });
  return found;
}

/** The index of the next match from `at` (or the previous one), wrapping around; -1 if there is none. */
export function findNext(found: readonly FoundRange[], at: number, direction: 1 | -1): number {
  if (found.length === 0) return -1;
  if (direction === 1) {
    const next = found.findIndex(({ from }) => from >= at);
    return next < 0 ? 0 : next;
  }
  const before = found.findLastIndex(({ to }) => to <= at);
  return before < 0 ? found.length - 1 : before;
}

/** Replace matches in this one transaction: from the last, so that the positions of the others stay valid. */
export function replaceFound(tr: Transaction, found: readonly FoundRange[], text: string): Transaction {
  for (const { from, to } of [...found].sort((one, other) => other.from - one.from)) {
    if (text) tr.insertText(text, from, to);
    else tr.delete(from, to);
  }
  return tr;
}
