/** What a person does with the agent. Each action reports its own errors. */

import { Failure, type Schemas, server, unwrap } from "@/api/client";
import { client, refetch, refresh, turnsQuery } from "@/api/queries";
import { waitForDelivery } from "@/live/delivery";
import { decideTurn } from "@/review/decisions";
import { attempt } from "@/state/documents";
import { bringToFront } from "@/state/front";
import { type AgentMode, type Composer, type LooseRow, show, showToast, useStore } from "@/state/store";
import type { Question } from "./jobView";
import { jobQuery, sessionQuery } from "./queries";

export const EMPTY_COMPOSER: Composer = { text: "", rows: [] };

export function getComposer(session: string | null): Composer {
  return useStore.getState().composers[session ?? ""] ?? EMPTY_COMPOSER;
}

export function updateComposer(session: string | null, part: Partial<Composer>): void {
  const { composers } = useStore.getState();
  const changed = { ...getComposer(session), ...part };
  const { [session ?? ""]: _, ...others } = composers;
  const empty = !changed.text && !changed.rows.length && !changed.waiting;
  show({ composers: empty ? others : { ...others, [session ?? ""]: changed } });
}

/** The session that is shown, or a new one. */
export async function ensureSession(): Promise<string> {
  const known = useStore.getState().session;
  if (known) return known;
  const made = await unwrap(server.POST("/api/agent/sessions", { body: { title: "" } }));
  const { "": unsent, ...composers } = useStore.getState().composers;
  show({ session: made.session_id, composers: unsent ? { ...composers, [made.session_id]: unsent } : composers });
  return made.session_id;
}

/** Take what was sent out of the composer; what was written while it was on its way stays, and waits if it is to. */
function removeSent(session: string, sent: Composer): void {
  const { text, rows, waiting } = getComposer(session);
  const left = text.startsWith(sent.text) ? text.slice(sent.text.length).trimStart() : text;
  updateComposer(session, {
    text: left,
    rows: rows.filter(({ id }) => !sent.rows.some((row) => row.id === id)),
    waiting: waiting === true && left !== "",
  });
}

/** Send what is in the composer; the caller shows an error, since the text stays there until the server has it. */
export async function sendComposer(sent: Composer): Promise<void> {
  await sendRequest(sent.text.trim(), sent.rows, (session) => removeSent(session, sent));
}

/** Send a request at once, as if it had been typed; while the agent works it waits. */
export function sendNow(text: string): void {
  updateComposer(useStore.getState().session, { text, waiting: true });
}

/** Send a request to the agent, and return its job; the caller shows an error. */
export async function sendRequest(
  text: string,
  rows: readonly LooseRow[] = [],
  onSent: (session: string) => void = () => undefined,
  mode: AgentMode | null = useStore.getState().agentMode,
): Promise<string> {
  const { agentModel, agentOptions } = useStore.getState();
  const agent = agentOf(agentModel);
  let job = "";
  const context_rows = rows.map((row) => ({ ...row, kind: "selection", pinned: false }));
  const model = agent ? "" : agentModel;
  const agent_options = agentOptions[agent] ?? {};
  const body = { instruction: text, context_rows, tool_config: {}, model, agent, agent_options, document: "" };
  const run = async () => {
    // "This document" means what this window shows, with what was just typed into it.
    await Promise.all([bringToFront(), waitForDelivery()]);
    const session_id = await ensureSession();
    const { job_id } = await unwrap(server.POST("/api/agent/run", { body: { ...body, session_id, mode } }));
    job = job_id;
    onSent(session_id);
    if (mode) void warnIfModeNarrowed(job_id, mode);
    await refetch({ queryKey: sessionQuery(session_id).queryKey });
  };
  try {
    await run();
  } catch (error) {
    if (!(error instanceof Failure && error.status === 404)) throw error;
    startNewChat(); // the server has deleted the session: send the text to a new one
    await run();
  }
  refresh("job");
  return job;
}

/** The agent program that was chosen in the place of a model; empty for a model. */
export const agentOf = (model: string): string => (model.startsWith(AGENT) ? model.slice(AGENT.length) : "");
export const AGENT = "agent:";

/** A folder's settings may allow less than was requested; tell the person. */
async function warnIfModeNarrowed(job: string, wished: string): Promise<void> {
  const { mode } = await client.fetchQuery(jobQuery(job));
  if (mode !== wished) showToast(`This folder's settings allow only “${mode}” mode, so the agent uses that.`);
}

export const startNewChat = (): void => show({ session: null });

export function cancelJob(job: string): Promise<boolean> {
  return attempt(() => unwrap(server.POST("/api/agent/jobs/{job_id}/cancel", { params: { path: { job_id: job } } })));
}

/** Answer a question; without an answer the agent decides. */
export function answerQuestion(job: string, question: Question, answer?: string): Promise<boolean> {
  const body = { question_id: question.id, answer: answer ?? "no_user_answer" };
  return attempt(() =>
    unwrap(server.POST("/api/agent/jobs/{job_id}/clarify", { params: { path: { job_id: job } }, body })),
  );
}

export type Consented = "once" | "job" | "always";

export function answerConfirmation(
  job: string,
  question: Question,
  allow: boolean,
  how: Consented = "once",
): Promise<boolean> {
  const rule = { tool: question.tool || question.action, path: "*", verdict: "allow" as const };
  const body = {
    question_id: question.id,
    allow,
    for_job: how === "job",
    remember: allow && how === "always" ? rule : null,
  };
  return attempt(() =>
    unwrap(server.POST("/api/agent/jobs/{job_id}/confirm", { params: { path: { job_id: job } }, body })),
  );
}

export async function archiveSession(id: string, archived: boolean): Promise<void> {
  const params = { path: { session_id: id } };
  await attempt(async () => {
    const put = await unwrap(server.POST("/api/agent/sessions/{session_id}/archive", { params, body: { archived } }));
    client.setQueryData(sessionQuery(id).queryKey, put);
  });
  if (archived && useStore.getState().session === id) startNewChat();
  refresh("job");
}

interface JobToDecide {
  id: string;
  session: string;
  turn: number;
  paths: readonly string[];
}

/** Accept all of a job's remaining hunks, or reject them. */
export async function decideJob(job: JobToDecide, accept: boolean): Promise<void> {
  await decideTurn(accept ? "accept" : "reject", job.paths, async () => {
    const { diff_bundle } = await unwrap(
      server.GET("/api/agent/jobs/{job_id}", { params: { path: { job_id: job.id } } }),
    );
    if (!diff_bundle) {
      // The job was decided before, and the decision was undone: what is pending belongs to the turn.
      const act = accept ? ("accept" as const) : ("reject" as const);
      const body = { turn: job.turn, all: false, rerun: false, base_file_hashes: {} };
      return unwrap(server.POST("/api/review/{act}", { params: { path: { act } }, body }));
    }
    const hunks = diff_bundle.files.flatMap((file) => file.hunks.map((hunk) => hunk.hunk_id ?? ""));
    const body = { session_id: job.session, job_id: job.id, accepted_hunk_ids: accept ? hunks : [] };
    await unwrap(server.POST("/api/agent/apply", { body }));
    const turns = await client.fetchQuery({ ...turnsQuery, staleTime: 0 });
    return { decided: {}, left: {}, turn: turns.find(({ source }) => source === job.turn) ?? null };
  });
  refresh("job");
}

/** Report what could not be undone, or that everything was. */
export function reportClashes(taken: Schemas["TakenBackShape"], done: string): void {
  const [clash] = taken.conflicts;
  const more = taken.conflicts.length > 1 ? ` (and ${taken.conflicts.length - 1} more)` : "";
  if (clash) showToast(`${clash.path}: ${clash.reason}${more}. It was left unchanged.`, { tone: "bad" });
  else showToast(done);
}
