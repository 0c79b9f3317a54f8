/** What the sidebar shows of a job, computed from its events: a pure fold, one event at a time, in order. */

import type { JobEvent } from "./jobLog";

export type Phase = "queued" | "running" | "waiting" | "review" | "completed" | "failed" | "cancelled";

export interface Call {
  kind: "call";
  id: string;
  tool: string;
  arguments: string;
  /** Undefined while it runs. */
  ok?: boolean;
  summary: string;
  /** What an agent program says that it changes. */
  diffs: readonly { path: string; patch: string }[];
  /** More about the result: the number of hits, or the error. */
  facts: Record<string, string | number>;
}

export type Part = Call | { kind: "words" | "note" | "thought"; text: string };

export interface PlanEntry {
  content: string;
  status: string;
}

/** How full an agent program's context is, and what it says that it has cost. */
export interface AgentUsage {
  used: number;
  size: number;
  cost: string;
}

export interface Question {
  id: string;
  kind: "clarification" | "confirmation" | "estimate";
  text: string;
  action: string;
  tool: string;
  paths: string[];
}

export interface Change {
  path: string;
  action: string;
  movedFrom?: string;
}

export interface Spent {
  input: number;
  output: number;
  usd: number;
  /** Steps with an unknown price. */
  unpriced: number;
}

export interface JobView {
  phase: Phase;
  mode: string;
  answeredBy: string;
  /** A model step is in progress, since this cursor. */
  thinking: boolean;
  stepCursor: number;
  step: number;
  steps: number;
  parts: readonly Part[];
  question: Question | null;
  subagents: { role: string; done: number; total: number; active: number } | null;
  plan: readonly PlanEntry[];
  agentUsage: AgentUsage | null;
  spent: Spent;
  changes: readonly Change[];
  /** The number of changed documents; `changes` lists at most fifty. */
  files: number;
  /** The folders that were created, including empty ones. */
  folders: readonly string[];
  turn: number | null;
  hunks: number;
  failure: { code: string; reason: string } | null;
  rerun: string | null;
}

export const NOTHING_SPENT: Spent = { input: 0, output: 0, usd: 0, unpriced: 0 };

export const NEW_JOB: JobView = {
  phase: "queued",
  mode: "",
  answeredBy: "",
  thinking: false,
  stepCursor: 0,
  step: 0,
  steps: 0,
  parts: [],
  question: null,
  subagents: null,
  plan: [],
  agentUsage: null,
  spent: NOTHING_SPENT,
  changes: [],
  files: 0,
  folders: [],
  turn: null,
  hunks: 0,
  failure: null,
  rerun: null,
};

export const isOver = (phase: Phase): boolean => ["completed", "failed", "cancelled"].includes(phase);
export const isBusy = (phase: string): boolean => ["queued", "running", "waiting"].includes(phase);

type Data = JobEvent["data"];
type Step = (view: JobView, data: Data, event: JobEvent) => Partial<JobView>;

const asText = (value: unknown): string => (typeof value === "string" ? value : "");
const asNumber = (value: unknown): number => (typeof value === "number" ? value : 0);
const asList = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const asRecord = (value: unknown): Data => (typeof value === "object" && value !== null ? (value as Data) : {});
const addNote = (view: JobView, text: string): Partial<JobView> => ({ parts: [...view.parts, { kind: "note", text }] });
const FINISHED = { thinking: false, question: null, subagents: null };

const BUDGETS: Record<string, string> = {
  tool_calls: "tool calls",
  actions: "actions in one turn",
  iterations: "steps",
  tokens: "tokens",
  cents: "money",
  seconds: "time",
};

const STEPS: Record<string, Step> = {
  "job.queued": (view, data) => ({
    phase: "queued",
    mode: asText(data.mode),
    ...(data.rerun_of ? addNote(view, "Running again on the documents as they are now.") : {}),
  }),
  "job.started": (_, data) => ({ phase: "running", mode: asText(data.mode) }),
  "job.resumed": () => ({ phase: "running" }),
  "provider.chosen": (_, data) => ({ answeredBy: modelName(data) }),
  "step.started": (_, data, event) => ({
    phase: "running",
    thinking: true,
    stepCursor: event.cursor,
    step: asNumber(data.step),
    steps: asNumber(data.of),
  }),
  "step.completed": (view, data) => ({
    thinking: false,
    answeredBy: modelName(data),
    spent: addSpent(view.spent, data),
  }),
  "step.invalid": (view, data) => ({ thinking: false, ...addNote(view, `Retried: ${asText(data.reason)}`) }),
  "assistant.message": (view, data) => ({ parts: [...view.parts, { kind: "words", text: asText(data.text) }] }),
  "tool.call.requested": (view, data) => ({ parts: [...view.parts, toCall(data)] }),
  "tool.call.completed": (view, data) => ({ subagents: null, parts: recordResult(view.parts, data) }),
  "clarification.requested": (_, data) => ({ phase: "waiting", question: toQuestion(data) }),
  "clarification.received": () => ({ phase: "running", question: null }),
  "confirmation.requested": (_, data) => ({ phase: "waiting", question: toQuestion(data) }),
  "confirmation.received": () => ({ phase: "running", question: null }),
  "agent.ready": (view, data) => ({
    answeredBy: asText(data.version) || asText(data.agent),
    ...(data.resumed
      ? addNote(view, "Redraft was restarted. The agent continues; what it was saying at that moment is lost.")
      : {}),
  }),
  "agent.thought": (view, data) => ({ parts: [...view.parts, { kind: "thought", text: asText(data.text) }] }),
  "agent.mode": (view, data) => addNote(view, `The agent changed its mode to “${asText(data.mode)}”.`),
  "agent.usage": (_, data) => ({ agentUsage: toAgentUsage(data) }),
  "plan.updated": (_, data) => ({ plan: asList(data.entries).map(toPlanEntry) }),
  "subagents.progress": (_, data) => ({ subagents: toSubagents(data) }),
  "budget.exhausted": (view, data) =>
    addNote(view, `Budget used up: ${BUDGETS[asText(data.what)] ?? asText(data.what)}.`),
  "documents.changed": (view, data) => addNote(view, `Changed in the meantime: ${asList(data.paths).join(", ")}.`),
  "conflict.found": (view, data) => addNote(view, describeConflict(data)),
  "edits.proposed": (_, data) => ({
    files: asNumber(data.files),
    changes: asList(data.changes).map(toChange),
    folders: asList(data.folders).map(String),
  }),
  "checkpoint.created": (_, data) => ({ turn: asNumber(data.checkpoint_id) }),
  // If nothing is left to decide, the job continues to its end.
  "diff.generated": (view, data) => ({
    hunks: asNumber(data.hunks),
    ...FINISHED,
    phase: asNumber(data.hunks) > 0 ? "review" : view.phase,
  }),
  "rerun.started": (view, data) => ({ rerun: asText(data.job_id), ...addNote(view, "Started again.") }),
  "job.completed": () => ({ phase: "completed", ...FINISHED }),
  "job.cancelled": (_, data) => ({ phase: "cancelled", failure: toFailure(data), ...FINISHED }),
  "job.failed": (_, data) => ({ phase: "failed", failure: toFailure(data), ...FINISHED }),
};

export const EVENT_TYPES: readonly string[] = [...Object.keys(STEPS), "assistant.delta"];

export function applyEvent(view: JobView, event: JobEvent): JobView {
  const step = STEPS[event.type];
  return step ? { ...view, ...step(view, event.data, event) } : view;
}

function toPlanEntry(value: unknown): PlanEntry {
  const data = asRecord(value);
  return { content: asText(data.content), status: asText(data.status) };
}

function toAgentUsage(data: Data): AgentUsage {
  const cost = asText(data.cost);
  const shown = cost ? `${asText(data.currency)} ${Number(cost).toFixed(2)}` : "";
  return { used: asNumber(data.used), size: asNumber(data.size), cost: shown };
}

function toDiff(value: unknown): Call["diffs"][number] {
  const data = asRecord(value);
  return { path: asText(data.path), patch: asText(data.patch) };
}

function modelName(data: Data): string {
  const [provider, model] = [asText(data.provider), asText(data.model)];
  return provider === "offline" ? "offline" : model || provider;
}

function toCall(data: Data): Call {
  const [id, tool, text] = [asText(data.tool_call_id), asText(data.tool), asText(data.arguments)];
  return { kind: "call", id, tool, arguments: text, summary: "", diffs: [], facts: {} };
}

function recordResult(parts: readonly Part[], data: Data): Part[] {
  const { ok, summary, diffs, tool: _tool, tool_call_id: id, ...rest } = data;
  const facts: Call["facts"] = {};
  for (const [name, value] of Object.entries(rest)) {
    if (typeof value === "string" || typeof value === "number") facts[name] = value;
  }
  return parts.map((part) =>
    part.kind === "call" && part.id === id && part.ok === undefined
      ? { ...part, ok: ok === true, summary: asText(summary), diffs: asList(diffs).map(toDiff), facts }
      : part,
  );
}

function toQuestion(data: Data): Question {
  const kind = asText(data.kind);
  return {
    id: asText(data.question_id),
    kind: kind === "confirmation" || kind === "estimate" ? kind : "clarification",
    text: asText(data.question),
    action: asText(data.action),
    tool: asText(data.tool),
    paths: asList(data.paths).map(String),
  };
}

function toSubagents(data: Data): JobView["subagents"] {
  const [done, total, active] = [data.done, data.total, data.active_subagents].map(asNumber);
  return { role: asText(data.role), done: done ?? 0, total: total ?? 0, active: active ?? 0 };
}

function toChange(value: unknown): Change {
  const data = asRecord(value);
  const from = asText(data.moved_from);
  return { path: asText(data.path), action: asText(data.action), ...(from && { movedFrom: from }) };
}

function addSpent(spent: Spent, data: Data): Spent {
  const usage = asRecord(data.usage);
  const price = data.price_usd;
  return {
    input: spent.input + asNumber(usage.input_tokens),
    output: spent.output + asNumber(usage.output_tokens),
    usd: spent.usd + (typeof price === "string" ? Number(price) : 0),
    unpriced: spent.unpriced + (typeof price === "string" ? 0 : 1),
  };
}

function describeConflict(data: Data): string {
  const paths = asList(data.paths).map(String);
  // One document that was shown has changed; several are places where two people wrote.
  if (data.path) return `Conflict: ${asText(data.path)} has changed since it was shown. Nothing was written.`;
  return `Conflict: you and the agent changed the same place${paths.length ? ` in ${paths.join(", ")}` : ""}.`;
}

function toFailure(data: Data): JobView["failure"] {
  return { code: asText(data.error), reason: asText(data.reason) };
}
