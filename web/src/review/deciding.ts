/** Accepting and rejecting. Each decision is a turn, which can be taken back; they are sent one after the other. */

import { Failure, type Schemas, sentenceOf, server, told } from "@/api/client";
import { client, refresh } from "@/api/queries";
import { allArrived } from "@/live/arriving";
import { say } from "@/state/store";
import type { Draft, Hunk } from "./placing";
import { openHunks } from "./telling";
import { draftQuery } from "./useReview";

export type Act = "accept" | "reject";
type Decided = Schemas["DecidedShape"];
type Choice = { hunks: Record<string, string[]> } | { turn: number };

let last: Promise<unknown> = Promise.resolve();

/** Ask when it is its turn, and when what was typed has arrived; whether it went well. What went wrong is said. */
function inTurn(
  paths: readonly string[],
  ask: () => Promise<Decided | null>,
  done: (decided: Decided) => void,
): Promise<boolean> {
  const next = last.then(async () => {
    let left: Record<string, number> = {};
    try {
      if (!(await allArrived(paths))) {
        say("The server cannot be reached; decide when it is back.", { tone: "bad" });
        return false;
      }
      const decided = await ask();
      if (decided) done(decided);
      left = decided?.left ?? {};
      return true;
    } catch (error) {
      const gone = error instanceof Failure && error.code === "hunk_not_found";
      say(gone ? "This change is not as it was shown any more; look again." : sentenceOf(error), { tone: "bad" });
      return false;
    } finally {
      await Promise.all(paths.map((path) => shownAnew(path, left[path])));
      refresh("review", "turn", "document");
    }
  });
  last = next;
  return next;
}

/** The next decision must know what this one did to the files. */
async function shownAnew(path: string, left: number | undefined): Promise<void> {
  const { queryKey } = draftQuery(path);
  if (left === 0) client.setQueryData(queryKey, null);
  else await client.refetchQueries({ queryKey, type: "active" });
}

function post(act: Act, choice: Choice, drafts: readonly Draft[]): Promise<Decided> {
  const hashes = drafts.flatMap(({ path, base_file_hash: hash }) => (hash ? [[path, hash]] : []));
  const body = { all: false, ...choice, base_file_hashes: Object.fromEntries(hashes) as Record<string, string> };
  return told(server.POST("/api/review/{act}", { params: { path: { act } }, body }));
}

function said(act: Act, paths: readonly string[]): (decided: Decided) => void {
  return ({ turn, decided }) => {
    const count = Object.values(decided).reduce((sum, each) => sum + each, 0);
    if (!turn || (act === "accept" && count === 1)) return;
    const what = `${act === "accept" ? "Accepted" : "Rejected"} ${count} ${count === 1 ? "change" : "changes"}.`;
    say(what, { action: { label: "Undo", run: () => void takeBack(turn.turn, paths) } });
  };
}

/** Decide one hunk of a document, or with it all that is left of its turn. */
export function decideHunk(act: Act, draft: Draft, hunk: Hunk, byTurn: boolean): Promise<boolean> {
  const { path } = draft;
  const choice = byTurn && hunk.turn !== null ? { turn: hunk.turn } : { hunks: { [path]: [hunk.hunk_id] } };
  const ask = () => post(act, choice, [client.getQueryData(draftQuery(path).queryKey) ?? draft]);
  return inTurn([path], ask, said(act, [path]));
}

/**
 * Decide all that is shown of these documents; with their turns, wherever else those are, where turns are decided whole.
 * What was typed since may have cut it anew; turns that came since are left alone.
 */
export function decideAll(act: Act, shown: readonly Draft[], byTurn: boolean): Promise<boolean> {
  const paths = shown.map(({ path }) => path);
  const turns = new Set(shown.flatMap((draft) => openHunks(draft).map(({ turn }) => turn)));
  const ask = async () => {
    const { documents } = await told(server.GET("/api/review"));
    const drafts = documents.filter(({ path, pending }) => pending && (byTurn || paths.includes(path)));
    const hunks = drafts.map((draft) => [
      draft.path,
      openHunks(draft).flatMap(({ turn, hunk_id }) => (turns.has(turn) ? [hunk_id] : [])),
    ]);
    return drafts.length > 0 ? post(act, { hunks: Object.fromEntries(hunks) }, drafts) : null;
  };
  return inTurn(paths, ask, said(act, paths));
}

/** Settle a hunk with a text, which is accepted at once. */
export function settle(path: string, hunkId: string, text: string): Promise<boolean> {
  const body = { path, hunk_id: hunkId, text };
  const ask = () => told(server.POST("/api/review/hunk/settle", { body }));
  return inTurn([path], ask, ({ turn }) => {
    if (turn) say("Settled.", { action: { label: "Undo", run: () => void takeBack(turn.turn, [path]) } });
  });
}

/** Cut a hunk in two, each to be decided by itself; `at` is a place in what it puts in, in code points. */
export function splitHunk(path: string, { hunk_id }: Hunk, at: number): Promise<boolean> {
  const body = { path, hunk_id, at };
  const ask = () => told(server.POST("/api/review/hunk/split", { body }));
  return inTurn([path], ask, ({ turn }) => {
    if (turn) say("Split in two.", { action: { label: "Undo", run: () => void takeBack(turn.turn, [path]) } });
  });
}

async function takeBack(turn: number, paths: readonly string[]): Promise<void> {
  try {
    await allArrived(paths);
    const { conflicts } = await told(server.POST("/api/turns/undo", { body: { turn } }));
    const [clash] = conflicts;
    if (clash) say(`${clash.path}: ${clash.reason}`, { tone: "bad" });
  } catch (error) {
    say(sentenceOf(error), { tone: "bad" });
  }
  refresh("review", "turn", "document");
}
