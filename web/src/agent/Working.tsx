import { Square } from "lucide-react";
import { Progress } from "radix-ui";
import { type ReactNode, useState } from "react";
import { Button } from "@/ui/Button";
import { cancel } from "./acts";
import css from "./agent.module.css";
import type { Call, JobView } from "./view";
import { actOf, counted } from "./words";

/** That the agent is at work: how far, at what, what is done, with how many helpers; and the way to stop it. */
export function Working({ jobId, view }: { jobId: string; view: JobView }): ReactNode {
  const [stopping, setStopping] = useState(false);
  const calls = view.parts.filter((part): part is Call => part.kind === "call");
  const done = calls.filter((call) => call.ok !== undefined);
  const stop = async () => {
    setStopping(true);
    if (!(await cancel(jobId))) setStopping(false);
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
      <p className={css.soft}>{current(view, calls)}</p>
      {view.subagents ? <p className={css.soft}>{crew(view.subagents)}</p> : null}
      {done.length ? <p className={css.soft}>Done: {doneInWords(done)}</p> : null}
    </div>
  );
}

function headline(view: JobView): string {
  if (view.phase === "waiting") return "Waiting for you";
  return view.step ? `Working: step ${view.step} of at most ${view.steps}` : "Beginning…";
}

function current(view: JobView, calls: readonly Call[]): string {
  const running = calls.findLast((call) => call.ok === undefined);
  if (view.phase === "waiting") return "Nothing happens until you answer.";
  if (running) return `Now: ${actOf(running)}`;
  return view.thinking ? "Now: thinking" : "Now: getting ready";
}

function crew({ role, done, total, active }: NonNullable<JobView["subagents"]>): string {
  return `${counted(active, "subagent")} at work (${role}): ${done} of ${total} parts`;
}

const LATEST = 3;

function doneInWords(done: readonly Call[]): string {
  const latest = done.slice(-LATEST).map(actOf).join(", ");
  return done.length > LATEST ? `${latest}, and ${done.length - LATEST} before` : latest;
}
