import { useQuery } from "@tanstack/react-query";
import { Sparkles } from "lucide-react";
import { type ReactNode, useState } from "react";
import { show, useStore } from "@/state/store";
import { Button } from "@/ui/Button";
import css from "./AgentStatus.module.css";
import { cancelJob } from "./actions";
import { formatSpent, toSpent } from "./descriptions";
import { describeProgress, describeSubagents, headline } from "./JobProgress";
import { isBusy, type JobView } from "./jobView";
import { busyJobsQuery, spentTodayQuery } from "./queries";
import { useJobs } from "./useJobs";

/**
 * What the agent does, at the foot of the window whatever else is open: its step, its subagents, what it has cost so
 * far, and Cancel.
 */
export function AgentStatus(): ReactNode {
  const { data: busy = [] } = useQuery(busyJobsQuery);
  const [running] = busy;
  const [job] = useJobs(running ? [running] : []);
  return (
    <section className={css.line} aria-label="Agent status">
      <Sparkles size={13} aria-hidden className={css.icon} />
      {running ? <Working key={running} jobId={running} view={job?.log.view} others={busy.length - 1} /> : <Resting />}
    </section>
  );
}

function Working({ jobId, view, others }: { jobId: string; view: JobView | undefined; others: number }): ReactNode {
  const [stopping, setStopping] = useState(false);
  const agentOpen = useStore((store) => store.agentOpen);
  const stop = async () => {
    setStopping(true);
    if (!(await cancelJob(jobId))) setStopping(false);
  };
  const known = view && isBusy(view.phase) ? view : undefined;
  const parts = known
    ? [headline(known), describeProgress(known), known.subagents ? describeSubagents(known.subagents) : ""]
    : ["Starting…"];
  const spent = known ? formatSpent(known.spent) : "";
  return (
    <>
      <p className={css.text} role="status">
        {stopping ? "Stopping…" : parts.filter(Boolean).join(" · ")}
        {others > 0 ? ` · and ${others} more` : ""}
      </p>
      {spent ? <span className={css.spent}>{spent}</span> : null}
      {known?.phase === "waiting" && !agentOpen ? (
        <Button small look="primary" onClick={() => show({ agentOpen: true, side: null })}>
          Answer
        </Button>
      ) : null}
      <Button small disabled={stopping} onClick={() => void stop()}>
        Cancel
      </Button>
    </>
  );
}

/** Nothing is running. */
function Resting(): ReactNode {
  const { data: days } = useQuery(spentTodayQuery);
  const day = days?.[0];
  const spent = day ? formatSpent(toSpent(day)) : "";
  return (
    <>
      <p className={css.text}>The agent is ready.</p>
      {day && spent ? (
        <span className={css.spent}>
          {spent} on {day.name}
        </span>
      ) : null}
    </>
  );
}
