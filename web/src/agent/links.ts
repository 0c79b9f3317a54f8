/** Where a link in the agent's words may lead: to the web, in a new window; to a document of this folder; or nowhere.
 * */

export type LinkTarget = { to: "web"; href: string } | { to: "document"; path: string; line?: number } | null;

const WEB = /^(?:https?:\/\/|mailto:)/i;
const LINE = /(?:#L|:)(\d+)(?:[-–:]L?\d+)?$/;

export function resolveLink(href: string, documents: ReadonlySet<string>): LinkTarget {
  if (WEB.test(href)) return { to: "web", href };
  if (/^[a-z][a-z0-9+.-]*:/i.test(href) && !LINE.test(href)) return null;
  const line = LINE.exec(href)?.[1];
  const path = decodePath(
    href
      .replace(LINE, "")
      .replace(/#.*$/, "")
      .replace(/^\.?\//, ""),
  );
  if (!documents.has(path)) return null;
  return line ? { to: "document", path, line: Number(line) } : { to: "document", path };
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
