/** Find documents by pieces of their path: every word typed must occur in it, letters in order, best matches first. */

/** How well a path fits what was typed, the smaller the better; null if it does not. */
export function rankPath(typed: string, path: string): number | null {
  const name = path.toLowerCase();
  const last = name.lastIndexOf("/") + 1;
  let rank = name.length / 1000;
  for (const word of typed.toLowerCase().split(/\s+/)) {
    if (word === "") continue;
    const at = name.lastIndexOf(word);
    if (at < 0 && !isSubsequence(word, name)) return null;
    // Whole words in the file's own name first, then in its folders, then scattered letters.
    if (at < 0) rank += 100;
    else rank += (at < last ? 2 : 0) + (/[a-z0-9]/.test(name[at - 1] ?? "") ? 4 : 0);
  }
  return rank;
}

/** Whether the name contains the letters in this order. */
export function isSubsequence(letters: string, name: string): boolean {
  let at = 0;
  for (const letter of letters) {
    at = name.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}
