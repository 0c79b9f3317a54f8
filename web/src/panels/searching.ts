/** The folder's search as the panel asks it. */

import { queryOptions } from "@tanstack/react-query";
import { type Schemas, server, told } from "@/api/client";

export interface Asked {
  query: string;
  kind: "exact" | "regex" | "semantic";
  matchCase: boolean;
  wholeWord: boolean;
  glob: string;
  /** The document that is searched by meaning. */
  path: string | null;
}

export interface Found {
  path: string;
  lines: Omit<Hit, "path">[];
}

export interface Answered {
  documents: Found[];
  count: number;
  truncated: boolean;
}

export const searchQuery = (asked: Asked) =>
  queryOptions({
    queryKey: ["search", asked],
    enabled: asked.query.trim() !== "" && (asked.kind !== "semantic" || asked.path !== null),
    placeholderData: (before: Answered | undefined) => before,
    staleTime: 0,
    queryFn: () => search(asked),
  });

async function search(asked: Asked): Promise<Answered> {
  if (asked.kind === "semantic") return byMeaning(asked.query, asked.path ?? "");
  const query = {
    query: asked.query,
    regex: asked.kind === "regex",
    case_sensitive: asked.matchCase,
    whole_word: asked.wholeWord,
    ...(asked.glob.trim() && { glob: asked.glob.trim() }),
  };
  const { hits, truncated } = await told(server.GET("/api/search/lines", { params: { query } }));
  return { documents: grouped(hits), count: hits.length, truncated };
}

async function byMeaning(query: string, path: string): Promise<Answered> {
  const params = { query: { path, query, match_type: "semantic" } };
  const { matches } = await told(server.GET("/api/search/document", { params }));
  const lines = matches.map(({ line, preview }) => ({ line, column: 0, length: 0, text: preview, text_start: 0 }));
  return { documents: lines.length > 0 ? [{ path, lines }] : [], count: lines.length, truncated: false };
}

type Hit = Schemas["LineHit"];

/** The hits by document, in the order they came. */
export function grouped(hits: readonly Hit[]): Found[] {
  const found = new Map<string, Found>();
  for (const { path, ...line } of hits) {
    const document = found.get(path) ?? { path, lines: [] };
    document.lines.push(line);
    found.set(path, document);
  }
  return [...found.values()];
}
