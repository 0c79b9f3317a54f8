/** The names under which typing is kept in this browser; apart from what keeps it, which few pages need. */

const PREFIX = "redraft-rich";

/** What an editor of a document keeps is under a name that begins so. */
export function keyPrefix(path: string): string {
  return `${PREFIX}:${path}\n`;
}

export function listKeys(path: string): string[] {
  return Object.keys(localStorage).filter((name) => name.startsWith(keyPrefix(path)));
}

/** The document whose typing is under this name; null for any other name. */
export function pathOfKey(name: string): string | null {
  const end = name.lastIndexOf("\n");
  return name.startsWith(`${PREFIX}:`) && end > 0 ? name.slice(PREFIX.length + 1, end) : null;
}
