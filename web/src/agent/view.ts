/** What the sidebar shows of a job, from its events: a pure fold, one event at a time, in their order. */

import type { Told } from "./log";

export type Phase = "queued" | "running" | "waiting" | "review" | "completed" | "failed" | "cancelled";

export interface Call {
  kind: "call";
  id: string;
  tool: string;
  arguments: string;
  /** Undefined while it runs. */
  ok?: boolean;
  summary: string;
  /** What else the answer tells: how many were found, or which error it was. */
  facts: Record<string, string | number>;
}

export type Part = Call | { kind: "words"; text: string } | { kind: "note"; text: string };

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
  /** Steps whose price nobody knows. */
  unpriced: number;
}

export interface JobView {
  phase: Phase;
  mode: string;
  answeredBy: string;
  /** A step of the model is under way, since this cursor. */
  thinking: boolean;
  stepCursor: number;
  step: number;
  steps: number;
  parts: readonly Part[];
  question: Question | null;
  subagents: { role: string; done: number; total: number; active: number } | null;
  spent: Spent;
  changes: readonly Change[];
  /** How many documents were changed; `changes` names fifty at most. */
  files: number;
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
  spent: NOTHING_SPENT,
  changes: [],
  files: 0,
  turn: null,
  hunks: 0,
  failure: null,
  rerun: null,
};

export const isOver = (phase: Phase): boolean => ["completed", "failed", "cancelled"].includes(phase);
export const isBusy = (phase: string): boolean => ["queued", "running", "waiting"].includes(phase);

type Data = Told["data"];
type Step = (view: JobView, data: Data, event: Told) => Partial<JobView>;

const words = (value: unknown): string => (typeof value === "string" ? value : "");
const count = (value: unknown): number => (typeof value === "number" ? value : 0);
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const table = (value: unknown): Data => (typeof value === "object" && value !== null ? (value as Data) : {});
const noted = (view: JobView, text: string): Partial<JobView> => ({ parts: [...view.parts, { kind: "note", text }] });
const over = { thinking: false, question: null, subagents: null };

const BUDGETS: Record<string, string> = {
  tool_calls: "tool calls",
  actions: "actions of one turn",
  iterations: "steps",
  tokens: "tokens",
  cents: "money",
  seconds: "time",
};

const STEPS: Record<string, Step> = {
  "job.queued": (view, data) => ({
    phase: "queued",
    mode: words(data.mode),
    ...(data.rerun_of ? noted(view, "This is run again, on the documents as they are now.") : {}),
  }),
  "job.started": (_, data) => ({ phase: "running", mode: words(data.mode) }),
  "job.resumed": () => ({ phase: "running" }),
  "provider.chosen": (_, data) => ({ answeredBy: named(data) }),
  "step.started": (_, data, event) => ({
    phase: "running",
    thinking: true,
    stepCursor: event.cursor,
    step: count(data.step),
    steps: count(data.of),
  }),
  "step.completed": (view, data) => ({ thinking: false, answeredBy: named(data), spent: plus(view.spent, data) }),
  "step.invalid": (view, data) => ({ thinking: false, ...noted(view, `Tried again: ${words(data.reason)}`) }),
  "assistant.message": (view, data) => ({ parts: [...view.parts, { kind: "words", text: words(data.text) }] }),
  "tool.call.requested": (view, data) => ({ parts: [...view.parts, called(data)] }),
  "tool.call.completed": (view, data) => ({ subagents: null, parts: answered(view.parts, data) }),
  "clarification.requested": (_, data) => ({ phase: "waiting", question: asked(data) }),
  "clarification.received": () => ({ phase: "running", question: null }),
  "confirmation.requested": (_, data) => ({ phase: "waiting", question: asked(data) }),
  "confirmation.received": () => ({ phase: "running", question: null }),
  "subagents.progress": (_, data) => ({ subagents: crew(data) }),
  "budget.exhausted": (view, data) =>
    noted(view, `The budget is spent: ${BUDGETS[words(data.what)] ?? words(data.what)}.`),
  "documents.changed": (view, data) => noted(view, `Changed meanwhile: ${list(data.paths).join(", ")}.`),
  "conflict.found": (view, data) => noted(view, conflict(data)),
  "edits.proposed": (_, data) => ({ files: count(data.files), changes: list(data.changes).map(change) }),
  "checkpoint.created": (_, data) => ({ turn: count(data.checkpoint_id) }),
  // Where nothing is left to decide, the job goes on to its end.
  "diff.generated": (view, data) => ({
    hunks: count(data.hunks),
    ...over,
    phase: count(data.hunks) > 0 ? "review" : view.phase,
  }),
  "rerun.started": (view, data) => ({ rerun: words(data.job_id), ...noted(view, "It was begun again.") }),
  "job.completed": () => ({ phase: "completed", ...over }),
  "job.cancelled": (_, data) => ({ phase: "cancelled", failure: failed(data), ...over }),
  "job.failed": (_, data) => ({ phase: "failed", failure: failed(data), ...over }),
};

export const EVENT_TYPES: readonly string[] = [...Object.keys(STEPS), "assistant.delta"];

export function seen(view: JobView, event: Told): JobView {
  const step = STEPS[event.type];
  return step ? { ...view, ...step(view, event.data, event) } : view;
}

function named(data: Data): string {
  const [provider, model] = [words(data.provider), words(data.model)];
  return provider === "offline" ? "offline" : model || provider;
}

function called(data: Data): Call {
  const [id, tool, text] = [words(data.tool_call_id), words(data.tool), words(data.arguments)];
  return { kind: "call", id, tool, arguments: text, summary: "", facts: {} };
}

function answered(parts: readonly Part[], data: Data): Part[] {
  const { ok, summary, tool: _tool, tool_call_id: id, ...rest } = data;
  const facts: Call["facts"] = {};
  for (const [name, value] of Object.entries(rest)) {
    if (typeof value === "string" || typeof value === "number") facts[name] = value;
  }
  return parts.map((part) =>
    part.kind === "call" && part.id === id && part.ok === undefined
      ? { ...part, ok: ok === true, summary: words(summary), facts }
      : part,
  );
}

function asked(data: Data): Question {
  const kind = words(data.kind);
  return {
    id: words(data.question_id),
    kind: kind === "confirmation" || kind === "estimate" ? kind : "clarification",
    text: words(data.question),
    action: words(data.action),
    tool: words(data.tool),
    paths: list(data.paths).map(String),
  };
}

function crew(data: Data): JobView["subagents"] {
  const [done, total, active] = [data.done, data.total, data.active_subagents].map(count);
  return { role: words(data.role), done: done ?? 0, total: total ?? 0, active: active ?? 0 };
}

function change(value: unknown): Change {
  const data = table(value);
  const from = words(data.moved_from);
  return { path: words(data.path), action: words(data.action), ...(from && { movedFrom: from }) };
}

function plus(spent: Spent, data: Data): Spent {
  const usage = table(data.usage);
  const price = data.price_usd;
  return {
    input: spent.input + count(usage.input_tokens),
    output: spent.output + count(usage.output_tokens),
    usd: spent.usd + (typeof price === "string" ? Number(price) : 0),
    unpriced: spent.unpriced + (typeof price === "string" ? 0 : 1),
  };
}

function conflict(data: Data): string {
  const paths = list(data.paths).map(String);
  // One document that was shown, and is another by now; several are places in which two wrote.
  if (data.path) return `Conflict: ${words(data.path)} was changed since it was shown. Nothing was written.`;
  return `Conflict: you and the agent changed the same place${paths.length ? ` in ${paths.join(", ")}` : ""}.`;
}

function failed(data: Data): JobView["failure"] {
  return { code: words(data.error), reason: words(data.reason) };
}
