/** The keys under which typing is stored in this browser; separate from the code that stores it, which few pages need.
 * */

const PREFIX = "redraft-rich";

/** The prefix of the keys of a document's editors. */
export function keyPrefix(path: string): string {
  return `${PREFIX}:${path}\n`;
}

export function listKeys(path: string): string[] {
  return Object.keys(localStorage).filter((name) => name.startsWith(keyPrefix(path)));
}

/** The document whose typing is under this key; null for any other key. */
export function pathOfKey(name: string): string | null {
  const end = name.lastIndexOf("\n");
  return name.startsWith(`${PREFIX}:`) && end > 0 ? name.slice(PREFIX.length + 1, end) : null;
}
