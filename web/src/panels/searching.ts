/** The folder's search as the panel asks it. */

import { queryOptions } from "@tanstack/react-query";
import { Failure, type Schemas, sentenceOf, server, told } from "@/api/client";

export interface Asked {
  query: string;
  kind: "exact" | "regex" | "semantic";
  matchCase: boolean;
  wholeWord: boolean;
  glob: string;
}

export interface Found {
  path: string;
  lines: Omit<Hit, "path">[];
}

export interface Answered {
  documents: Found[];
  count: number;
  truncated: boolean;
  /** By meaning: what there is to know of the answer. */
  note?: string;
}

const OFF =
  "Search by meaning is not available here. Search by words or pattern, or set embeddings in your settings to wordllama.";
const INDEXING = "Some passages were judged by their words alone so far. Reading on…";
const TOO_MUCH = "The folder holds more text than can be judged by meaning; name the files to look into above.";
const AGAIN_MS = 1000;

export const searchQuery = (asked: Asked) =>
  queryOptions({
    queryKey: ["search", asked],
    enabled: asked.query.trim() !== "",
    placeholderData: (before: Answered | undefined) => before,
    staleTime: 0,
    // The server goes on where it was.
    refetchInterval: ({ state }) => (state.data?.note === INDEXING ? AGAIN_MS : false),
    retry: (failures, error) => failures < 1 && !isOff(error),
    queryFn: () => search(asked),
  });

function isOff(error: unknown): boolean {
  return error instanceof Failure && error.code === "embeddings_unavailable";
}

/** Why nothing could be searched, for the panel: the server's own words speak of tools. */
export function problemOf(error: unknown): string {
  return isOff(error) ? OFF : sentenceOf(error);
}

async function search(asked: Asked): Promise<Answered> {
  const where = asked.glob.trim() ? { glob: asked.glob.trim() } : {};
  if (asked.kind === "semantic") return byMeaning({ query: asked.query, ...where });
  const query = {
    query: asked.query,
    regex: asked.kind === "regex",
    case_sensitive: asked.matchCase,
    whole_word: asked.wholeWord,
    ...where,
  };
  const { hits, truncated } = await told(server.GET("/api/search/lines", { params: { query } }));
  return { documents: grouped(hits), count: hits.length, truncated };
}

async function byMeaning(query: { query: string; glob?: string }): Promise<Answered> {
  const { hits, status, truncated } = await told(server.GET("/api/search/meaning", { params: { query } }));
  const lines = hits.map(({ path, line, text }) => ({ path, line, column: 0, length: 0, text, text_start: 0 }));
  const note = status === "indexing" ? INDEXING : truncated ? TOO_MUCH : "";
  return { documents: grouped(lines), count: lines.length, truncated: false, ...(note && { note }) };
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
