/**
 * Pictures of the folder: where the app finds the one that a document names, and how a pasted or dropped one gets into
 * the folder. External pictures have no address here: nothing is loaded that is not in the folder.
 */

/** A scheme, or an address that omits only the scheme. */
const REMOTE = /^(?:[a-z][a-z0-9+.-]*:|\/\/)/i;

/** The path within the folder that `src` refers to in the document at `path`; null if it is no file of the folder. */
export function imagePath(path: string, src: string): string | null {
  if (!src || REMOTE.test(src) || src.includes("\\")) return null;
  const named = decode(src.replace(/[?#].*$/s, ""));
  if (!named) return null;
  const parts = named.startsWith("/") ? [] : path.split("/").slice(0, -1);
  for (const part of named.split("/")) {
    if (part === "..") {
      if (parts.pop() === undefined) return null;
    } else if (part !== "." && part !== "") {
      parts.push(part);
    }
  }
  return parts.length > 0 ? parts.join("/") : null;
}

/** The address at which the server shows the picture; null if it is not in the folder. */
export function imageAddress(path: string, src: string): string | null {
  const found = imagePath(path, src);
  return found === null ? null : `/api/images?path=${encodeURIComponent(found)}`;
}

function decode(src: string): string | null {
  try {
    return decodeURIComponent(src);
  } catch {
    return null;
  }
}
