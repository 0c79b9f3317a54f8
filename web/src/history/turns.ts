/** The history as the server tells it, and what can be done with a turn. */

import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { reportClashes } from "@/agent/acts";
import { type Schemas, server, told } from "@/api/client";
import { refresh } from "@/api/queries";
import { attempt } from "@/state/documents";

export type Turn = Schemas["TurnShape"];
export type Hunk = Schemas["TurnHunkShape"];
export type Clash = Schemas["ClashShape"];

const PAGE = 40;

/** The turns page by page, the newest first; of one document where it is named. */
export const pagesQuery = (path: string | null) =>
  infiniteQueryOptions({
    queryKey: ["turns", "pages", path],
    queryFn: ({ pageParam }) => {
      const query = { limit: PAGE, ...(pageParam && { before: pageParam }), ...(path && { path }) };
      return told(server.GET("/api/turns", { params: { query } }));
    },
    initialPageParam: null as number | null,
    getNextPageParam: (page) => page.next_before,
  });

export const turnQuery = (number: number) =>
  queryOptions({
    queryKey: ["turns", number],
    queryFn: () => told(server.GET("/api/turns/{number}", { params: { path: { number } } })),
  });

export const compareQuery = (turn: number, path: string) =>
  queryOptions({
    queryKey: ["turns", turn, "compare", path],
    queryFn: () => {
      const params = { path: { checkpoint_id: turn }, query: { file_path: path } };
      return told(server.GET("/api/agent/checkpoints/{checkpoint_id}/diff3", { params }));
    },
  });

const again = () => refresh("turn", "review", "document", "tree");

/** Take a turn back, and keep all that came after; what stands in the way is named. */
export async function undo(turn: number): Promise<Clash[]> {
  let clashes: Clash[] = [];
  await attempt(async () => {
    const taken = await told(server.POST("/api/turns/undo", { body: { turn } }));
    reportClashes(taken, "The turn was taken back.");
    clashes = taken.conflicts;
  });
  again();
  return clashes;
}

export async function redo(): Promise<void> {
  await attempt(async () => reportClashes(await told(server.POST("/api/turns/redo")), "The turn is there again."));
  again();
}

/** Take back the ticked hunks alone, or, with none, set the turn's documents to what they were before it. */
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
    const taken = await told(asked);
    reportClashes(taken, hunks === "all" ? "The documents are as they were before." : "The hunks were taken back.");
    clashes = taken.conflicts;
  });
  again();
  return clashes;
}

/** What became of a turn, where there is more to say than its title does. */
export function kindOf(turn: Turn): string {
  if (turn.state === "undone") return "undone";
  if (turn.state === "discarded") return "rejected";
  if (turn.state === "proposed") return "waits for you";
  return turn.kind === "propose" ? "accepted" : "";
}

/** Whether a turn can still be taken back as a whole. */
export function canUndo(turn: Turn): boolean {
  return !turn.pruned && (turn.state === "proposed" || (turn.state === "applied" && turn.kind !== "propose"));
}
