/** Taking back what the agent did: which turn that is, and how it stands. */

import type { Schemas } from "@/api/client";
import { client, turnsQuery } from "@/api/queries";
import { undo } from "@/state/changing";
import { say } from "@/state/store";
import type { JobShown } from "./useJobs";

type Turn = Schemas["TurnShape"];

/** The turn that put a job's work on the disk: its own, or the one that accepted it; none where nothing of it stands. */
export function standing(turns: readonly Turn[], made: number): Turn | undefined {
  const accepted = turns.find((turn) => turn.source === made && turn.kind === "accept" && turn.state === "applied");
  return accepted ?? turns.find((turn) => turn.turn === made && turn.state === "applied" && turn.kind !== "propose");
}

/** What became of a job's turn, in a word. */
export function fateOf(turns: readonly Turn[], made: number): string {
  const own = turns.find((turn) => turn.turn === made);
  const decided = turns.filter((turn) => turn.source === made && turn.state === "applied").map((turn) => turn.kind);
  if (standing(turns, made)) {
    if (!decided.includes("accept")) return "on disk";
    return decided.includes("reject") ? "partly accepted" : "accepted";
  }
  if (own?.state === "discarded" || decided.includes("reject")) return "rejected";
  return own?.state === "undone" ? "undone" : "";
}

/** Undo what the agent did last in this session. */
export async function undoLast(jobs: readonly JobShown[]): Promise<void> {
  const turns = await client.fetchQuery({ ...turnsQuery, staleTime: 0 });
  const made = jobs.map((job) => job.log.view.turn).findLast((turn) => turn !== null && standing(turns, turn));
  const turn = made ? standing(turns, made) : undefined;
  if (turn) await undo(turn.turn);
  else say("The agent has done nothing here that could be taken back.");
}
