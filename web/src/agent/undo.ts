/** Undo what the agent did: which turn that is, and its state. */

import type { Schemas } from "@/api/client";
import { client, turnsQuery } from "@/api/queries";
import { undoTurn } from "@/state/documents";
import { showToast } from "@/state/store";
import type { ShownJob } from "./useJobs";

type Turn = Schemas["TurnResponse"];

/** The turn that put a job's work on the disk: its own, or the one that accepted it; none if nothing of it remains. */
export function findStandingTurn(turns: readonly Turn[], made: number): Turn | undefined {
  // Undoing the turn itself also undid what was accepted of it.
  if (turns.some(({ turn, state }) => turn === made && state === "undone")) return undefined;
  const accepted = turns.find((turn) => turn.source === made && turn.kind === "accept" && turn.state === "applied");
  return accepted ?? turns.find((turn) => turn.turn === made && turn.state === "applied" && turn.kind !== "propose");
}

/**
 * The turn to undo, so that nothing of a job's work remains. A single decision is undone alone, and its hunks are
 * pending again; if hunks were decided one by one, the job's own turn is undone as a whole.
 */
export function findTurnToUndo(turns: readonly Turn[], made: number): number | undefined {
  const decisions = turns.filter(
    ({ source, kind, state }) => source === made && state === "applied" && (kind === "accept" || kind === "reject"),
  );
  const stands = findStandingTurn(turns, made);
  return stands && decisions.length > 1 ? made : stands?.turn;
}

/** What happened to a job's turn, in a word. */
export function describeFate(turns: readonly Turn[], made: number): string {
  const own = turns.find((turn) => turn.turn === made);
  const decided = turns.filter((turn) => turn.source === made && turn.state === "applied").map((turn) => turn.kind);
  if (findStandingTurn(turns, made)) {
    if (!decided.includes("accept")) return "applied";
    return decided.includes("reject") ? "partly accepted" : "accepted";
  }
  if (own?.state === "undone") return "undone";
  return own?.state === "discarded" || decided.includes("reject") ? "rejected" : "";
}

/** Undo the agent's last action in this session. */
export async function undoLastTurn(jobs: readonly ShownJob[]): Promise<void> {
  const turns = await client.fetchQuery({ ...turnsQuery, staleTime: 0 });
  const made = jobs.map((job) => job.log.view.turn).findLast((turn) => turn !== null && findStandingTurn(turns, turn));
  const turn = made ? findTurnToUndo(turns, made) : undefined;
  if (turn !== undefined) await undoTurn(turn);
  else showToast("Nothing to undo in this chat.");
}
