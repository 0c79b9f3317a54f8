/** A change in a few words, for accessible names. Pure. */

const MOST = 40;
/** Invisible characters that reorder or hide the words around them; joiners are needed for Persian and emoji. */
const INVISIBLE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}]/gu;

/** `"six" → "seven"`, `add "seven"`, `delete "six"`: what a change removes and inserts. */
export function describeChange(before: string, after: string): string {
  const [old, fresh] = [quote(before), quote(after)];
  if (old && fresh) return `${old} → ${fresh}`;
  if (fresh) return `add ${fresh}`;
  return old ? `delete ${old}` : "whitespace";
}

/** `"six" or "seven"`: the two texts of a conflict. */
export function describeChoice(one: string, other: string): string {
  return `${quote(one) || "nothing"} or ${quote(other) || "nothing"}`;
}

function quote(text: string): string {
  const characters = Array.from(text.replace(/\s+/g, " ").replace(INVISIBLE, "").trim());
  if (characters.length === 0) return "";
  return `"${characters.length > MOST ? `${characters.slice(0, MOST - 1).join("")}…` : characters.join("")}"`;
}

const WORD = /[\p{L}\p{M}\p{N}_'’]/u;

/** The difference of two texts, without their common beginning and end, in whole words. */
export function findChangedWords(before: string, after: string): { before: string; after: string } {
  const [old, fresh] = [Array.from(before), Array.from(after)];
  const least = Math.min(old.length, fresh.length);
  let start = 0;
  while (start < least && old[start] === fresh[start]) start += 1;
  let end = 0;
  while (end < least - start && old.at(-1 - end) === fresh.at(-1 - end)) end += 1;
  const isWord = (letter: string | undefined) => letter !== undefined && WORD.test(letter);
  const touchesWord = (at: (letters: string[]) => string | undefined) => isWord(at(old)) || isWord(at(fresh));
  while (
    start > 0 &&
    isWord(old[start - 1]) &&
    touchesWord((letters) => letters.slice(0, letters.length - end)[start])
  ) {
    start -= 1;
  }
  while (
    end > 0 &&
    isWord(old.at(-end)) &&
    touchesWord((letters) => letters.slice(start, letters.length - end).at(-1))
  ) {
    end -= 1;
  }
  const middle = (letters: string[]) => letters.slice(start, letters.length - end).join("");
  return { before: middle(old), after: middle(fresh) };
}
