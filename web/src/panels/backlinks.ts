/** Where other documents link to one: by a markdown link, or by `[[its name]]`. */

import { queryOptions } from "@tanstack/react-query";
import { type Schemas, server, unwrap } from "@/api/client";
import { folderOf } from "./tree";

export type Backlink = Pick<Schemas["LineHit"], "path" | "line" | "text">;

const MOST = 200;

/** The documents that link to this one. They are found by its name, so a link is on a line of the search's answer. */
export const backlinksQuery = (path: string) =>
  queryOptions({
    queryKey: ["outline", path, "backlinks"],
    queryFn: async () => {
      const name = stemOf(path);
      // A link writes a blank as %20, or as it is between < and >.
      const queries = [...new Set([name, encodeURI(name)])];
      const found = await Promise.all(
        queries.map((query) => unwrap(server.GET("/api/search/lines", { params: { query: { query, limit: MOST } } }))),
      );
      const hits = new Map(found.flatMap(({ hits }) => hits).map((hit) => [`${hit.path} ${hit.line}`, hit]));
      return [...hits.values()].filter((hit) => hit.path !== path && linksTo(hit, path));
    },
  });

function stemOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1).replace(/\.[^.]+$/, "");
}

/** Whether a line of a document has a link to another document. */
export function linksTo({ path, text }: Pick<Backlink, "path" | "text">, target: string): boolean {
  for (const [, bracketed, plain] of text.matchAll(/\]\(\s*(?:<([^>]*)>|([^\s)]+))/g)) {
    if (resolve(folderOf(path), bracketed ?? plain ?? "") === target) return true;
  }
  for (const [, name = ""] of text.matchAll(/\[\[([^\]|#]+)/g)) {
    const wanted = name.trim().toLowerCase().replace(/\.md$/, "");
    const whole = target.toLowerCase().replace(/\.[^.]+$/, "");
    if (wanted === whole || wanted === stemOf(target).toLowerCase()) return true;
  }
  return false;
}

/** The path that a link means, from the folder of the document that it stands in. */
function resolve(folder: string, link: string): string {
  let address = link.replace(/[?#].*$/, "");
  try {
    address = decodeURIComponent(address);
  } catch {
    // As it stands: a sign that looks like an escape and is none.
  }
  const parts = address.startsWith("/") || !folder ? [] : folder.split("/");
  for (const part of address.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "." && part !== "") parts.push(part);
  }
  return parts.join("/");
}
