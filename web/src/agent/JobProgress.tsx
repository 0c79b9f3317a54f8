import { Square } from "lucide-react";
import { Progress } from "radix-ui";
import { type ReactNode, useState } from "react";
import { Button } from "@/ui/Button";
import { pluralize } from "@/ui/format";
import { cancelJob } from "./actions";
import css from "./agent.module.css";
import { describeCall } from "./descriptions";
import type { Call, JobView } from "./jobView";

/** A running job: its progress, the current step, what is done, the number of subagents; and a button to stop it. */
export function JobProgress({ jobId, view }: { jobId: string; view: JobView }): ReactNode {
  const [stopping, setStopping] = useState(false);
  const calls = view.parts.filter((part): part is Call => part.kind === "call");
  const done = calls.filter((call) => call.ok !== undefined);
  const stop = async () => {
    setStopping(true);
    if (!(await cancelJob(jobId))) setStopping(false);
  };
  return (
    <div className={css.working} role="status" aria-label="The agent is working">
      <div className={css.workingHead}>
        <span className={css.pulse} aria-hidden />
        <b className={css.grow}>{stopping ? "Stopping…" : headline(view)}</b>
        <Button small disabled={stopping} onClick={() => void stop()}>
          <Square size={11} aria-hidden /> Cancel
        </Button>
      </div>
      {view.steps ? (
        <Progress.Root className={css.bar} value={view.step} max={view.steps} aria-label="Steps">
          <Progress.Indicator className={css.barDone} style={{ width: `${(100 * view.step) / view.steps}%` }} />
        </Progress.Root>
      ) : null}
      <p className={css.soft}>{describeCurrent(view, calls)}</p>
      {view.subagents ? <p className={css.soft}>{describeSubagents(view.subagents)}</p> : null}
      {done.length ? <p className={css.soft}>Done: {describeDone(done)}</p> : null}
    </div>
  );
}

/** What a running job is at, in a few words. */
export function headline(view: JobView): string {
  if (view.phase === "waiting") return "Waiting for you";
  return view.step ? `Working: step ${view.step} of at most ${view.steps}` : "Starting…";
}

/** What it does right now. */
export function describeProgress(view: JobView): string {
  return describeCurrent(
    view,
    view.parts.filter((part): part is Call => part.kind === "call"),
  );
}

function describeCurrent(view: JobView, calls: readonly Call[]): string {
  const running = calls.findLast((call) => call.ok === undefined);
  if (view.phase === "waiting") return "Nothing happens until you answer.";
  if (running) return `Now: ${describeCall(running)}`;
  return view.thinking ? "Now: thinking" : "Now: preparing";
}

export function describeSubagents({ role, done, total, active }: NonNullable<JobView["subagents"]>): string {
  return `${pluralize(active, "subagent")} working (${role}): ${done} of ${total} parts done`;
}

const LATEST = 3;

function describeDone(done: readonly Call[]): string {
  const latest = done.slice(-LATEST).map(describeCall).join(", ");
  return done.length > LATEST ? `${latest}, and ${done.length - LATEST} more` : latest;
}
