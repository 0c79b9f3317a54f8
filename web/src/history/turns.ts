/** The history from the server, and what can be done with a turn. */

import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { reportClashes } from "@/agent/actions";
import { describeFate } from "@/agent/undo";
import { type Schemas, server, unwrap } from "@/api/client";
import { refresh } from "@/api/queries";
import { attempt } from "@/state/documents";
import { dismissToastsOf } from "@/state/store";

export type Turn = Schemas["TurnResponse"];
export type Hunk = Schemas["TurnHunkShape"];
export type Clash = Schemas["ClashShape"];

const PAGE = 40;

/** Who made a turn, in words. */
export function authorOf({ author }: Turn): string {
  return author.kind === "outside" ? "another program" : author.name;
}

/** Which turns are wanted: of a document, an author, a stretch of time. */
export interface Wanted {
  path: string | null;
  author?: string;
  since?: number;
  until?: number;
}

/** The turns page by page, newest first. */
export const pagesQuery = ({ path, author, ...time }: Wanted) =>
  infiniteQueryOptions({
    queryKey: ["turns", "pages", path, author, time],
    queryFn: ({ pageParam }) => {
      const named = { ...(path && { path }), ...(author && { author }) };
      const query = { limit: PAGE, ...(pageParam && { before: pageParam }), ...named, ...time };
      return unwrap(server.GET("/api/turns", { params: { query } }));
    },
    initialPageParam: null as number | null,
    getNextPageParam: (page) => page.next_before,
  });

export const turnQuery = (number: number) =>
  queryOptions({
    queryKey: ["turns", number],
    queryFn: async () => {
      const page = (offset: number) =>
        unwrap(server.GET("/api/turns/{number}", { params: { path: { number }, query: { offset } } }));
      const detail = await page(0);
      const hunks = [...detail.hunks];
      for (let next = detail.next_offset; next !== null; ) {
        const more = await page(next);
        hunks.push(...more.hunks);
        next = more.next_offset;
      }
      return { ...detail, hunks };
    },
  });

export const compareQuery = (turn: number, path: string) =>
  queryOptions({
    queryKey: ["turns", turn, "compare", path],
    queryFn: () => {
      const params = { path: { checkpoint_id: turn }, query: { file_path: path } };
      return unwrap(server.GET("/api/agent/checkpoints/{checkpoint_id}/diff3", { params }));
    },
  });

const refreshHistory = () => refresh("turn", "review", "document", "tree");

/** Undo a turn and keep everything after it; reports conflicts. */
export async function undo(turn: number): Promise<Clash[]> {
  let clashes: Clash[] = [];
  dismissToastsOf(turn);
  await attempt(async () => {
    const taken = await unwrap(server.POST("/api/turns/undo", { body: { turn } }));
    reportClashes(taken, "Turn undone.");
    clashes = taken.conflicts;
  });
  refreshHistory();
  return clashes;
}

export async function redo(): Promise<void> {
  await attempt(async () => reportClashes(await unwrap(server.POST("/api/turns/redo")), "Turn redone."));
  refreshHistory();
}

/** Undo the selected hunks only, or, without any, reset the turn's documents to their state before it. */
export async function rollback(turn: number, hunks: readonly string[] | "all"): Promise<Clash[]> {
  let clashes: Clash[] = [];
  const body =
    hunks === "all"
      ? { mode: "hard_all" as const, hunk_ids: [] }
      : { mode: "scoped_selected" as const, hunk_ids: [...hunks] };
  await attempt(async () => {
    const asked = server.POST("/api/agent/checkpoints/{checkpoint_id}/rollback", {
      params: { path: { checkpoint_id: turn } },
      body,
    });
    const taken = await unwrap(asked);
    reportClashes(taken, hunks === "all" ? "Documents restored." : "Hunks undone.");
    clashes = taken.conflicts;
  });
  refreshHistory();
  return clashes;
}

/**
 * What became of a turn, in the words that the card, the history and the command line share; `turns` are those among
 * which the decisions about it are found. Empty if there is no more to say than its title.
 */
export function describeState(turn: Turn, turns: readonly Turn[]): string {
  if (turn.state === "proposed") return "to review";
  if (turn.kind !== "propose" && turn.author.kind !== "agent") return turn.state === "undone" ? "undone" : "";
  return describeFate(turns, turn.turn);
}

/** Whether a turn can still be undone as a whole. */
export function canUndo(turn: Turn): boolean {
  return !turn.pruned && (turn.state === "proposed" || (turn.state === "applied" && turn.kind !== "propose"));
}
