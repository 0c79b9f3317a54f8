/** What a person does with the agent. Each says what went wrong, where something does. */

import { Failure, type Schemas, server, told } from "@/api/client";
import { askAnew, client, refresh } from "@/api/queries";
import { attempt } from "@/state/documents";
import { type Composer, type LooseRow, say, show, useStore } from "@/state/store";
import { jobQuery, sessionQuery } from "./queries";
import type { Question } from "./view";

export const EMPTY_COMPOSER: Composer = { text: "", rows: [] };

export function composerOf(session: string | null): Composer {
  return useStore.getState().composers[session ?? ""] ?? EMPTY_COMPOSER;
}

export function compose(session: string | null, part: Partial<Composer>): void {
  const { composers } = useStore.getState();
  const changed = { ...composerOf(session), ...part };
  const { [session ?? ""]: _, ...others } = composers;
  const empty = !changed.text && !changed.rows.length && !changed.waiting;
  show({ composers: empty ? others : { ...others, [session ?? ""]: changed } });
}

/** Put words into the composer, and the cursor behind them. */
export function suggest(text: string): void {
  compose(useStore.getState().session, { text });
  requestAnimationFrame(() => {
    const field = document.getElementById(COMPOSER);
    if (field instanceof HTMLTextAreaElement) {
      field.focus();
      field.setSelectionRange(text.length, text.length);
    }
  });
}
export const COMPOSER = "agent-composer";

/** The session that is shown; a new one where none is. */
export async function session(): Promise<string> {
  const known = useStore.getState().session;
  if (known) return known;
  const made = await told(server.POST("/api/agent/sessions", { body: { title: "" } }));
  const { "": unsent, ...composers } = useStore.getState().composers;
  show({ session: made.session_id, composers: unsent ? { ...composers, [made.session_id]: unsent } : composers });
  return made.session_id;
}

/** Ask the agent for something; an error is the caller's to show, since the words stay in the composer. */
export async function send(text: string, rows: readonly LooseRow[]): Promise<void> {
  const { agentMode, agentModel, active } = useStore.getState();
  const context_rows = rows.map((row) => ({ ...row, kind: "selection", pinned: false }));
  const body = { instruction: text, context_rows, tool_config: {}, model: agentModel, document: active ?? "" };
  const run = async () => {
    const session_id = await session();
    const { job_id } = await told(server.POST("/api/agent/run", { body: { ...body, session_id, mode: agentMode } }));
    compose(session_id, EMPTY_COMPOSER);
    if (agentMode) void tellOfNarrowing(job_id, agentMode);
    await askAnew({ queryKey: sessionQuery(session_id).queryKey });
  };
  try {
    await run();
  } catch (error) {
    if (!(error instanceof Failure && error.status === 404)) throw error;
    begin(); // the session was forgotten by the server: what was written goes into a new one
    await run();
  }
  refresh("job");
}

/** A folder's settings may allow less than was asked for; who asked is told. */
async function tellOfNarrowing(job: string, wished: string): Promise<void> {
  const { mode } = await client.fetchQuery(jobQuery(job));
  if (mode !== wished) say(`The settings of this folder allow “${mode}” and no more; so the agent works like that.`);
}

export const begin = (): void => show({ session: null });

export function cancel(job: string): Promise<boolean> {
  return attempt(() => told(server.POST("/api/agent/jobs/{job_id}/cancel", { params: { path: { job_id: job } } })));
}

/** Answer a question; without an answer the agent decides. */
export function clarify(job: string, question: Question, answer?: string): Promise<boolean> {
  const body = { question_id: question.id, answer: answer ?? "no_user_answer" };
  return attempt(() =>
    told(server.POST("/api/agent/jobs/{job_id}/clarify", { params: { path: { job_id: job } }, body })),
  );
}

export function confirm(job: string, question: Question, allow: boolean, always = false): Promise<boolean> {
  const rule = { tool: question.tool || question.action, path: "*", verdict: "allow" as const };
  const body = { question_id: question.id, allow, remember: allow && always ? rule : null };
  return attempt(() =>
    told(server.POST("/api/agent/jobs/{job_id}/confirm", { params: { path: { job_id: job } }, body })),
  );
}

export async function archive(id: string, archived: boolean): Promise<void> {
  const params = { path: { session_id: id } };
  await attempt(async () => {
    const put = await told(server.POST("/api/agent/sessions/{session_id}/archive", { params, body: { archived } }));
    client.setQueryData(sessionQuery(id).queryKey, put);
  });
  if (archived && useStore.getState().session === id) begin();
  refresh("job");
}

/** Take all that is left of a job's hunks, or none. */
export async function decide(job: { id: string; session: string; turn: number }, accept: boolean): Promise<void> {
  await attempt(async () => {
    const { diff_bundle } = await told(
      server.GET("/api/agent/jobs/{job_id}", { params: { path: { job_id: job.id } } }),
    );
    if (!diff_bundle) {
      // The job was decided before, and the decision was taken back: what waits is the turn's.
      const act = accept ? ("accept" as const) : ("reject" as const);
      const body = { turn: job.turn, all: false, base_file_hashes: {} };
      return told(server.POST("/api/review/{act}", { params: { path: { act } }, body }));
    }
    const hunks = diff_bundle.files.flatMap((file) => file.hunks.map((hunk) => hunk.hunk_id ?? ""));
    const body = { session_id: job.session, job_id: job.id, accepted_hunk_ids: accept ? hunks : [] };
    return told(server.POST("/api/agent/apply", { body }));
  });
  refresh("job", "turn", "review", "document");
}

/** Say what could not be taken back, or that all was. */
export function reportClashes(taken: Schemas["TakenBackShape"], done: string): void {
  const [clash] = taken.conflicts;
  const more = taken.conflicts.length > 1 ? ` (and ${taken.conflicts.length - 1} more)` : "";
  if (clash) say(`${clash.path}: ${clash.reason}${more}. It stays as it is.`, { tone: "bad" });
  else say(done);
}
