/** What the app knows about the server: each fact has one query, cached until the server says that it changed. */

import { type Query, QueryClient, type QueryFilters, queryOptions } from "@tanstack/react-query";
import { followTabs } from "@/state/documentMoves";
import { type Schemas, server, unwrap } from "./client";

export const client = new QueryClient({
  defaultOptions: { queries: { staleTime: 60_000, retry: 1, refetchOnWindowFocus: true } },
});

export const workspaceQuery = queryOptions({
  queryKey: ["workspace"],
  queryFn: () => unwrap(server.GET("/api/workspace")),
});

export const treeQuery = queryOptions({
  queryKey: ["tree"],
  queryFn: async () => {
    const entries = [];
    for (let start: number | null = 0; start !== null; ) {
      const page: Schemas["TreeResponse"] = await unwrap(
        server.GET("/api/tree", { params: { query: { limit: 10_000, start } } }),
      );
      entries.push(...page.entries);
      start = page.next;
    }
    return entries;
  },
});

export const tabsQuery = queryOptions({
  queryKey: ["tabs"],
  queryFn: async ({ signal }) => {
    const { tabs } = await unwrap(server.GET("/api/tabs"));
    if (!signal.aborted) followTabs(tabs); // otherwise a newer answer is here, or on its way
    return tabs;
  },
});

export const reviewQuery = queryOptions({
  queryKey: ["review"],
  queryFn: async () => (await unwrap(server.GET("/api/review"))).documents,
});

export const outlineQuery = (path: string) =>
  queryOptions({
    queryKey: ["outline", path],
    queryFn: () => unwrap(server.GET("/api/outline", { params: { query: { path } } })),
  });

export const turnsQuery = queryOptions({
  queryKey: ["turns"],
  queryFn: async () => (await unwrap(server.GET("/api/turns", { params: { query: { limit: 100 } } }))).turns,
});

export const trashQuery = queryOptions({
  queryKey: ["trash"],
  queryFn: async () => (await unwrap(server.GET("/api/trash"))).documents,
});

export const settingsQuery = queryOptions({
  queryKey: ["settings"],
  queryFn: () => unwrap(server.GET("/api/settings")),
});

export const providersQuery = queryOptions({
  queryKey: ["providers"],
  queryFn: () => unwrap(server.GET("/api/providers")),
});

/** What may have changed after each kind of change that the server reports. */
export const QUERIES_BY_CHANGE: Record<string, readonly string[]> = {
  document: ["tabs", "outline", "workspace"],
  review: ["review", "workspace", "tabs"],
  turn: ["turns", "trash", "workspace", "review", "tree"],
  tabs: ["tabs", "workspace"],
  tree: ["tree", "trash"],
  job: ["jobs", "sessions", "providers"],
  notice: ["workspace"],
};

/** Every kind of change that the server reports. */
export const CHANGE_KINDS: readonly string[] = [...Object.keys(QUERIES_BY_CHANGE), "all"];

/**
 * Refetch existing queries. An answer that is on its way may predate the change: it is dropped, and asked for again.
 * Not so a first answer, nor a further page, which somebody waits for: it is awaited, and then all is refetched.
 */
export async function refetch(what: QueryFilters = {}): Promise<void> {
  let left = client.getQueryCache().findAll(what);
  while (left.length > 0) {
    const awaited = left.filter(isAwaited);
    await Promise.all([
      client.invalidateQueries({ predicate: (query) => left.includes(query) && !awaited.includes(query) }),
      client.invalidateQueries({ predicate: (query) => awaited.includes(query) }, { cancelRefetch: false }),
    ]);
    left = awaited; // by now somebody may wait for a further page of these
  }
}

/** Whether somebody waits for an answer that a refetch would drop. Nobody sees what an unused query fetches. */
function isAwaited(query: Query): boolean {
  const { data, fetchMeta, fetchStatus } = query.state;
  return query.isActive() && fetchStatus === "fetching" && (data === undefined || fetchMeta?.fetchMore !== undefined);
}

/** Refetch what these kinds of changes affect; `all` if it is unknown what was missed. */
export function refresh(...kinds: string[]): void {
  if (kinds.includes("all")) void refetch();
  else
    for (const name of new Set(kinds.flatMap((kind) => QUERIES_BY_CHANGE[kind] ?? [])))
      void refetch({ queryKey: [name] });
}
