/** Accept and reject. Each decision is a turn, which can be undone; requests are sent one after the other. */

import { errorMessage, Failure, type Schemas, server, unwrap } from "@/api/client";
import { client, refetch, refresh, reviewQuery } from "@/api/queries";
import { waitForDelivery } from "@/live/delivery";
import { closeTrashed } from "@/state/documents";
import { dismissToastsOf, showToast } from "@/state/store";
import { focusText } from "@/state/textFocus";
import { pluralize } from "@/ui/format";
import { describeChange } from "./changeText";
import {
  countTypings,
  type Decision,
  type Direction,
  findSession,
  noteDecision,
  noteReversed,
  settleDepths,
  takeDecision,
  takeStep,
} from "./decisionStack";
import type { Draft, Hunk } from "./hunkPlaces";
import { listOpenHunks } from "./reviewText";
import type { ReviewUnit } from "./reviewUnits";
import { isWithAgent } from "./sides";
import { draftQuery, hideHunk } from "./useReview";

export type Act = "accept" | "reject";
export type Decided = Schemas["DecidedShape"];
type Choice = { hunks: Record<string, string[]> } | { turn: number };

let last: Promise<unknown> = Promise.resolve();
/** By document, the decision that is being undone or redone. */
const reversing = new Map<string, Promise<unknown>>();

/** Run something that depends on the outcome of everything before it; it reports its own errors. */
function enqueue<Result>(act: () => Promise<Result>): Promise<Result> {
  const next = last.then(act);
  last = next;
  return next;
}

/**
 * Send a request when it is its turn, and what was typed has arrived; returns whether it succeeded. Errors are shown.
 * `rewords` returns the hunks whose words it changes.
 */
function sendDecision(
  paths: readonly string[],
  ask: () => Promise<Decided | null>,
  onDone: (decided: Decided) => void,
  { answered = () => {}, rewords }: { answered?: () => void; rewords?: (hunk: Hunk) => boolean } = {},
): Promise<boolean> {
  let tell: (turn: number | null) => void = () => {};
  const decision = noteDecision(new Promise((resolve) => (tell = resolve)), paths);
  const leaving = paths.filter(isToBeDeleted);
  return enqueue(async () => {
    let left: Record<string, number> = {};
    try {
      if (!(await waitForDelivery(paths))) {
        showToast("The server cannot be reached. Try again when it is back.", { tone: "bad" });
        return false;
      }
      settleDepths(decision);
      if (rewords) await closePast(decision, rewords);
      const decided = await ask();
      tell(decided?.turn?.turn ?? null);
      left = decided?.left ?? {};
      if (decided?.turn?.kind === "accept") for (const path of leaving) if (!left[path]) await closeTrashed(path);
      if (decided) onDone(decided);
      return true;
    } catch (error) {
      const isGone = error instanceof Failure && error.code === "hunk_not_found";
      showToast(isGone ? "This change is no longer what you saw. Look again." : errorMessage(error), { tone: "bad" });
      return false;
    } finally {
      tell(null); // unless it succeeded
      answered();
      await Promise.all(paths.map((path) => refetchDraft(path, left[path])));
      refresh("review", "turn", "document");
    }
  });
}

/** What was typed over in hunks whose words are about to change can no longer be undone. */
async function closePast(decision: Decision, rewords: (hunk: Hunk) => boolean): Promise<void> {
  for (const path of decision.paths) {
    const session = findSession(path);
    if (!session) continue;
    // Not as displayed, which is without the hunk that is being decided.
    const { documents } = await unwrap(server.GET("/api/review", { params: { query: { path } } }));
    const text = session.text.toString();
    for (const { working, working_at } of documents.flatMap(({ hunks }) => hunks.filter(rewords))) {
      const from = toUnits(text, working_at);
      const found = text.startsWith(working, from);
      // If it is not found, it may be anywhere.
      const stretch = found ? session.stretch(from, from + working.length) : session.stretch(0, text.length);
      decision.stretches.push({ session, stretch });
    }
  }
  forgetTypedOver(decision);
}

function forgetTypedOver({ stretches }: Decision): void {
  for (const { session, stretch } of stretches) session.forgetTypedOver(stretch);
}

/** An offset in code points, converted to UTF-16 units. */
function toUnits(text: string, codePoints: number): number {
  let at = 0;
  for (let left = codePoints; left > 0 && at < text.length; left -= 1)
    at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return at;
}

/** Whether an agent proposes to delete a document, as far as this page knows. */
function isToBeDeleted(path: string): boolean {
  const drafts = [client.getQueryData(draftQuery(path).queryKey), ...(client.getQueryData(reviewQuery.queryKey) ?? [])];
  return drafts.some((draft) => draft?.path === path && draft.kind === "deleted");
}

/** A document in its current state: what the page has may be from before the last decision, whose refetch was canceled. */
async function fetchDraft(draft: Draft): Promise<Draft> {
  const { documents } = await unwrap(server.GET("/api/review", { params: { query: { path: draft.path } } }));
  return documents[0] ?? draft;
}

/** The next decision must know what this one did to the files. */
async function refetchDraft(path: string, left: number | undefined): Promise<void> {
  const { queryKey } = draftQuery(path);
  if (left !== 0) return refetch({ queryKey });
  await client.cancelQueries({ queryKey }); // requested before the decision, and answered after it
  client.setQueryData(queryKey, null);
}

function postDecision(act: Act, choice: Choice, drafts: readonly Draft[]): Promise<Decided> {
  const hashes = drafts.flatMap(({ path, base_file_hash: hash }) => (hash ? [[path, hash]] : []));
  const shown = Object.fromEntries(hashes) as Record<string, string>;
  // Whoever looks at the review sees it merged with the file's current text, and decides again: nothing is retried.
  const body = { all: false, rerun: false, ...choice, base_file_hashes: shown };
  return unwrap(server.POST("/api/review/{act}", { params: { path: { act } }, body }));
}

function offerUndo(text: string, turn: number, paths: readonly string[]): void {
  const run = () => {
    const decision = takeDecision(turn);
    if (decision) reverse("undo", decision);
    else void enqueue(() => undoDecision(turn, paths));
  };
  showToast(text, { action: { label: "Undo", run }, turn, topic: "decision" });
}

/** Say what was decided; of a single change, which one. */
function announce(act: Act, paths: readonly string[], single?: Hunk): (decided: Decided) => void {
  return ({ turn, decided }) => {
    const count = Object.values(decided).reduce((sum, each) => sum + each, 0);
    if (!turn) return;
    const title = act === "accept" ? "Accepted" : "Rejected";
    const words = single && count === 1 ? describeChange(single.base, single.working) : "";
    offerUndo(words ? `${title}: ${words}` : `${title} ${pluralize(count, "change")}.`, turn.turn, paths);
  };
}

function announceTrashed(path: string): (decided: Decided) => void {
  return ({ turn }) => turn && offerUndo(`Moved ${path} to the trash.`, turn.turn, [path]);
}

/** Decide one hunk of a document, or all that is left of its turn. */
export function decideHunk(act: Act, draft: Draft, hunk: Hunk, byTurn: boolean): Promise<boolean> {
  const { path } = draft;
  focusText([path]);
  // There is nothing of an agent's to reject: rejecting the hunk would remove the person's own words.
  if (act === "reject" && hunk.conflict && !isWithAgent(hunk)) return resolveConflict(path, hunk.hunk_id, hunk.working);
  const choice = byTurn && hunk.turn !== null ? { turn: hunk.turn } : { hunks: { [path]: [hunk.hunk_id] } };
  const ask = async () => postDecision(act, choice, [await fetchDraft(draft)]);
  const trashed = act === "accept" && hunk.kind === "deleted";
  const onDone = trashed ? announceTrashed(path) : announce(act, [path], byTurn ? undefined : hunk);
  const single = "hunks" in choice;
  const rewords = ({ hunk_id, turn }: Hunk) => (single ? hunk_id === hunk.hunk_id : turn === hunk.turn);
  return sendDecision([path], ask, onDone, {
    ...(single && { answered: hideHunk(path, hunk.hunk_id) }),
    ...(act === "reject" && { rewords }),
  });
}

/** Take back a hunk of a turn that was written at once. */
export function undoApplied(path: string, { applied, hunk_id, base, working }: Hunk): Promise<boolean> {
  if (applied === undefined) return Promise.resolve(false);
  focusText([path]);
  const params = { path: { checkpoint_id: applied } };
  const body = { mode: "scoped_selected" as const, hunk_ids: [hunk_id] };
  const ask = async (): Promise<Decided | null> => {
    const done = await unwrap(server.POST("/api/agent/checkpoints/{checkpoint_id}/rollback", { params, body }));
    const [clash] = done.conflicts;
    if (clash) showToast(`${clash.path}: ${clash.reason}`, { tone: "bad" });
    return { turn: done.turn, decided: {}, left: {} };
  };
  const done = ({ turn }: Decided) => turn && offerUndo(`Undone: ${describeChange(base, working)}`, turn.turn, [path]);
  return sendDecision([path], ask, done);
}

/** Decide a larger unit around a change: the same act for more hunks at once. */
export function decideUnit(act: Act, draft: Draft, { kind, hunks }: ReviewUnit): Promise<boolean> {
  const { path } = draft;
  const [first] = hunks;
  if (kind === "document") return decideAll(act, [draft], false);
  if (kind === "turn" && first && first.turn !== null) return decideWholeTurn(act, first.turn);
  focusText([path]);
  const ids = new Set(hunks.map(({ hunk_id }) => hunk_id));
  const answers = [...ids].map((id) => hideHunk(path, id));
  return sendDecision(
    [path],
    async () => postDecision(act, { hunks: { [path]: [...ids] } }, [await fetchDraft(draft)]),
    announce(act, [path]),
    {
      answered: () => answers.forEach((answered) => void answered()),
      ...(act === "reject" && { rewords: ({ hunk_id }: Hunk) => ids.has(hunk_id) }),
    },
  );
}

/** Decide all that is left of a turn, in every document. */
function decideWholeTurn(act: Act, turn: number): Promise<boolean> {
  const isOf = ({ hunks }: Draft) => hunks.some((hunk) => hunk.turn === turn);
  const paths = (client.getQueryData(reviewQuery.queryKey) ?? []).filter(isOf).map(({ path }) => path);
  focusText(paths);
  const ask = async () => {
    const { documents } = await unwrap(server.GET("/api/review"));
    return postDecision(act, { turn }, documents.filter(isOf));
  };
  return sendDecision(paths, ask, announce(act, paths), act === "reject" ? { rewords: isWithAgent } : {});
}

/**
 * Decide everything shown of these documents; including the rest of their turns, if turns are decided as a whole.
 * Typing since then may have changed the hunks; newer turns are left alone.
 */
export function decideAll(act: Act, shown: readonly Draft[], byTurn: boolean): Promise<boolean> {
  const paths = shown.map(({ path }) => path);
  focusText(paths);
  const turns = new Set(shown.flatMap((draft) => listOpenHunks(draft).map(({ turn }) => turn)));
  const ask = async () => {
    const { documents } = await unwrap(server.GET("/api/review"));
    const drafts = documents.filter(({ path, pending }) => pending && (byTurn || paths.includes(path)));
    const hunks = drafts.map((draft) => [
      draft.path,
      // A conflict is settled separately: nobody has chosen a side yet.
      listOpenHunks(draft).flatMap((hunk) =>
        turns.has(hunk.turn) && !(hunk.conflict && (act === "accept" || !isWithAgent(hunk))) ? [hunk.hunk_id] : [],
      ),
    ]);
    if (drafts.length > 0 && hunks.every(([, ids]) => ids?.length === 0)) {
      showToast("The rest is in conflict: resolve it in the text.");
      return null;
    }
    return drafts.length > 0 ? postDecision(act, { hunks: Object.fromEntries(hunks) }, drafts) : null;
  };
  return sendDecision(paths, ask, announce(act, paths), act === "reject" ? { rewords: isWithAgent } : {});
}

/** Decide all that is left of an agent's turn in these documents, with `ask`. */
export function decideTurn(act: Act, paths: readonly string[], ask: () => Promise<Decided>): Promise<boolean> {
  focusText(paths);
  return sendDecision(paths, ask, () => {}, act === "reject" ? { rewords: isWithAgent } : {});
}

/** Settle a hunk with a text, which is accepted at once. */
export function resolveConflict(path: string, hunkId: string, text: string): Promise<boolean> {
  const body = { path, hunk_id: hunkId, text };
  const ask = () => unwrap(server.POST("/api/review/hunk/settle", { body }));
  const onDone = ({ turn }: Decided) => turn && offerUndo("Conflict resolved.", turn.turn, [path]);
  return sendDecision([path], ask, onDone, { rewords: ({ hunk_id }) => hunk_id === hunkId });
}

/** Split a hunk in two, to be decided separately; `at` is an offset in its new text, in code points. */
export function splitHunk(path: string, { hunk_id }: Hunk, at: number): Promise<boolean> {
  const body = { path, hunk_id, at };
  const ask = () => unwrap(server.POST("/api/review/hunk/split", { body }));
  return sendDecision([path], ask, ({ turn }) => {
    if (turn) offerUndo("Change split in two.", turn.turn, [path]);
  });
}

/** Undo the last action in a document, typing or a decision. */
export const stepBack = (path: string): void => step("undo", path);

/** Redo what was undone last. */
export const stepForward = (path: string): void => step("redo", path);

/**
 * One step, after the decision that is being undone or redone: typing that came in between would make a text that
 * nobody wrote. Who types meanwhile no longer means what they typed before.
 */
function step(direction: Direction, path: string): void {
  const underWay = reversing.get(path);
  if (underWay) {
    const typed = countTypings(path);
    void underWay.then(() => countTypings(path) === typed && step(direction, path));
    return;
  }
  const decision = takeStep(direction, path);
  if (decision) reverse(direction, decision);
}

/** Undo the last decision of all; returns whether there was one. */
export function undoLastDecision(): boolean {
  const decision = takeDecision();
  if (decision) reverse("undo", decision);
  return decision !== null;
}

/** A decision is undone by a turn, and redone by undoing that turn. */
function reverse(direction: Direction, decision: Decision): void {
  const reversed = enqueue(async () => {
    const turn = await decision.turn;
    if (turn === null) return null;
    await waitForDelivery(decision.paths);
    forgetTypedOver(decision);
    return undoDecision(turn, decision.paths);
  });
  noteReversed(direction, decision, reversed);
  for (const path of decision.paths) {
    reversing.set(path, reversed);
    void reversed.then(() => reversing.get(path) === reversed && reversing.delete(path));
  }
}

/** Undo a turn; returns the turn that did it, or null if that was impossible. */
async function undoDecision(turn: number, paths: readonly string[]): Promise<number | null> {
  dismissToastsOf(turn);
  let undone: number | null = null;
  try {
    await waitForDelivery(paths);
    const { conflicts, turn: done } = await unwrap(server.POST("/api/turns/undo", { body: { turn } }));
    const [clash] = conflicts;
    if (clash) showToast(`${clash.path}: ${clash.reason}`, { tone: "bad" });
    undone = done?.turn ?? null;
  } catch (error) {
    showToast(errorMessage(error), { tone: "bad" });
  }
  // A document that is back before the page heard about the decision reports neither.
  await Promise.all(paths.map((path) => refetch({ queryKey: draftQuery(path).queryKey })));
  refresh("review", "turn", "document");
  return undone;
}
