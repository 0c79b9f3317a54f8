import { Fragment, lazy, type ReactNode, Suspense } from "react";
import css from "./agent.module.css";
import { ChangeCard } from "./ChangeCard";
import { Clarification } from "./Clarification";
import { Consent } from "./Consent";
import { describeUsage, formatSpent } from "./descriptions";
import { type Exchange, groupParts } from "./exchanges";
import { FailureCard } from "./FailureCard";
import { JobProgress } from "./JobProgress";
import { isBusy, type PlanEntry } from "./jobView";
import type { Session } from "./queries";
import { ToolCalls } from "./ToolCalls";
import type { ShownJob } from "./useJobs";

interface AnswerProps {
  exchange: Exchange;
  job: ShownJob | undefined;
  session: Session | undefined;
  last: boolean;
}

/** The response to a request: words and calls in order, questions, changes, and the cost. */
export function Answer({ exchange, job, session, last }: AnswerProps): ReactNode {
  if (!job || job.forgotten) return <ForgottenJob exchange={exchange} />;
  const { view, speaking, partial } = job.log;
  const failed = view.phase === "failed" || view.phase === "cancelled";
  const answer = failed ? null : exchange.answer;
  const spent = formatSpent(view.spent);
  return (
    <div className={css.answer}>
      {groupParts(view.parts, answer).map((group, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts stay in place
        <Fragment key={at}>
          {group.kind === "calls" ? <ToolCalls calls={group.calls} /> : null}
          {group.kind === "words" ? <AgentText text={group.text} /> : null}
          {group.kind === "note" ? <p className={css.note}>{group.text}</p> : null}
          {group.kind === "thought" ? <Thought text={group.text} /> : null}
        </Fragment>
      ))}
      {speaking ? <AgentText text={partial ? `… ${speaking}` : speaking} live /> : null}
      {view.plan.length ? <Plan entries={view.plan} /> : null}
      {isBusy(view.phase) ? <JobProgress jobId={job.id} view={view} /> : null}
      {view.question?.kind === "clarification" ? <Clarification jobId={job.id} question={view.question} /> : null}
      {view.question && view.question.kind !== "clarification" ? (
        <Consent key={view.question.id} jobId={job.id} question={view.question} />
      ) : null}
      {failed ? <FailureCard jobId={job.id} view={view} asked={exchange.asked} last={last} /> : null}
      {view.turn !== null && session ? <ChangeCard jobId={job.id} view={view} session={session} /> : null}
      {spent ? (
        <p className={css.spent}>
          {spent} · {view.answeredBy}
          {view.agentUsage ? ` · ${describeUsage(view.agentUsage)}` : null}
        </p>
      ) : null}
    </div>
  );
}

/** What an agent program shows of its thinking. */
function Thought({ text }: { text: string }): ReactNode {
  return (
    <details className={css.thought}>
      <summary>Thinking</summary>
      <p className={css.raw}>{text}</p>
    </details>
  );
}

const SIGNS: Record<string, string> = { completed: "✓", in_progress: "▸", pending: "○" };
const STATES: Record<string, string> = { completed: "done", in_progress: "in progress", pending: "to do" };

/** What an agent program plans to do, and how far it is. */
function Plan({ entries }: { entries: readonly PlanEntry[] }): ReactNode {
  return (
    <ol className={css.plan} aria-label="Plan">
      {entries.map(({ content, status }) => (
        <li key={content} data-status={status}>
          <span role="img" aria-label={STATES[status] ?? status}>
            {SIGNS[status] ?? "○"}
          </span>{" "}
          {content}
        </li>
      ))}
    </ol>
  );
}

/** A job that the server has deleted: what the chat still has of it. */
function ForgottenJob({ exchange }: { exchange: Exchange }): ReactNode {
  return (
    <div className={css.answer}>
      {exchange.calls.length ? <p className={css.note}>{exchange.calls.map((call) => call.text).join(" · ")}</p> : null}
      {exchange.answer ? <AgentText text={exchange.answer} /> : null}
    </div>
  );
}

const Markdown = lazy(() => import("./Markdown").then((found) => ({ default: found.Markdown })));

/** The agent's words. Streamed words are announced politely to screen readers, and shown as text until complete. */
function AgentText({ text, live = false }: { text: string; live?: boolean }): ReactNode {
  return (
    <div className={css.words} data-live={live} {...(live ? { "aria-live": "polite", "aria-busy": true } : {})}>
      <Suspense fallback={<p className={css.raw}>{text}</p>}>
        <Markdown text={text} />
      </Suspense>
    </div>
  );
}
