import { Fragment, type ReactNode } from "react";
import css from "./agent.module.css";
import { ChangeCard } from "./ChangeCard";
import { Clarification } from "./Clarification";
import { Consent } from "./Consent";
import type { Exchange } from "./exchanges";
import { FailureCard } from "./FailureCard";
import { grouped } from "./grouped";
import type { Session } from "./queries";
import { ToolCalls } from "./ToolCalls";
import type { JobShown } from "./useJobs";
import { isBusy } from "./view";
import { Words } from "./Words";
import { Working } from "./Working";
import { spentInWords } from "./words";

interface AnswerProps {
  exchange: Exchange;
  job: JobShown | undefined;
  session: Session | undefined;
  last: boolean;
}

/** All that came of a request: words and calls in their order, what is asked, what was changed, and what it cost. */
export function Answer({ exchange, job, session, last }: AnswerProps): ReactNode {
  if (!job || job.forgotten) return <Remembered exchange={exchange} />;
  const { view, speaking, partial } = job.log;
  const failed = view.phase === "failed" || view.phase === "cancelled";
  const said = failed ? null : exchange.said;
  const spent = spentInWords(view.spent);
  return (
    <div className={css.answer}>
      {grouped(view.parts, said).map((group, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: what was said stays where it is
        <Fragment key={at}>
          {group.kind === "calls" ? <ToolCalls calls={group.calls} /> : null}
          {group.kind === "words" ? <Words text={group.text} /> : null}
          {group.kind === "note" ? <p className={css.note}>{group.text}</p> : null}
        </Fragment>
      ))}
      {speaking ? <Words text={partial ? `… ${speaking}` : speaking} live /> : null}
      {isBusy(view.phase) ? <Working jobId={job.id} view={view} /> : null}
      {view.question?.kind === "clarification" ? <Clarification jobId={job.id} question={view.question} /> : null}
      {view.question && view.question.kind !== "clarification" ? (
        <Consent key={view.question.id} jobId={job.id} question={view.question} />
      ) : null}
      {failed ? <FailureCard jobId={job.id} view={view} asked={exchange.asked} last={last} /> : null}
      {view.turn !== null && session ? <ChangeCard jobId={job.id} view={view} session={session} /> : null}
      {spent ? (
        <p className={css.spent}>
          {spent} · {view.answeredBy}
        </p>
      ) : null}
    </div>
  );
}

/** A job that the server has forgotten: what the chat kept of it. */
function Remembered({ exchange }: { exchange: Exchange }): ReactNode {
  return (
    <div className={css.answer}>
      {exchange.calls.length ? <p className={css.note}>{exchange.calls.map((call) => call.text).join(" · ")}</p> : null}
      {exchange.said ? <Words text={exchange.said} /> : null}
    </div>
  );
}
