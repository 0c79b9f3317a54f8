/** The folder search, as the panel uses it. */

import { queryOptions } from "@tanstack/react-query";
import { errorMessage, Failure, type Schemas, server, unwrap } from "@/api/client";

export interface SearchRequest {
  query: string;
  kind: "exact" | "regex" | "semantic";
  matchCase: boolean;
  wholeWord: boolean;
  glob: string;
}

export interface DocumentHits {
  path: string;
  lines: Omit<Hit, "path">[];
}

export interface SearchAnswer {
  documents: DocumentHits[];
  count: number;
  truncated: boolean;
  /** By meaning: notes about the answer. */
  note?: string;
}

const OFF =
  "Search by meaning is not available here. Search by words or pattern, or set embeddings to wordllama in your settings.";
const INDEXING = "Still indexing: some passages are ranked by their words alone so far.";
const TOO_MUCH = "This folder has too much text to search by meaning. Enter the files to include above.";
const AGAIN_MS = 1000;

export const searchQuery = (asked: SearchRequest) =>
  queryOptions({
    queryKey: ["search", asked],
    enabled: asked.query.trim() !== "",
    placeholderData: (before: SearchAnswer | undefined) => before,
    staleTime: 0,
    // The server continues where it was.
    refetchInterval: ({ state }) => (state.data?.note === INDEXING ? AGAIN_MS : false),
    retry: (failures, error) => failures < 1 && !isOff(error),
    queryFn: () => search(asked),
  });

function isOff(error: unknown): boolean {
  return error instanceof Failure && error.code === "embeddings_unavailable";
}

/** Why the search failed, for the panel: the server's own message mentions tools. */
export function describeProblem(error: unknown): string {
  return isOff(error) ? OFF : errorMessage(error);
}

async function search(asked: SearchRequest): Promise<SearchAnswer> {
  const where = asked.glob.trim() ? { glob: asked.glob.trim() } : {};
  if (asked.kind === "semantic") return searchMeaning({ query: asked.query, ...where });
  const query = {
    query: asked.query,
    regex: asked.kind === "regex",
    case_sensitive: asked.matchCase,
    whole_word: asked.wholeWord,
    ...where,
  };
  const { hits, truncated } = await unwrap(server.GET("/api/search/lines", { params: { query } }));
  return { documents: groupHits(hits), count: hits.length, truncated };
}

async function searchMeaning(query: { query: string; glob?: string }): Promise<SearchAnswer> {
  const { hits, status, truncated } = await unwrap(server.GET("/api/search/meaning", { params: { query } }));
  const lines = hits.map(({ path, line, text }) => ({ path, line, column: 0, length: 0, text, text_start: 0 }));
  const note = status === "indexing" ? INDEXING : truncated ? TOO_MUCH : "";
  return { documents: groupHits(lines), count: lines.length, truncated: false, ...(note && { note }) };
}

type Hit = Schemas["LineHit"];

/** The hits by document, in the order they came. */
export function groupHits(hits: readonly Hit[]): DocumentHits[] {
  const found = new Map<string, DocumentHits>();
  for (const { path, ...line } of hits) {
    const document = found.get(path) ?? { path, lines: [] };
    document.lines.push(line);
    found.set(path, document);
  }
  return [...found.values()];
}
