import { useQueries } from "@tanstack/react-query";
import { useEffect } from "react";
import { EMPTY_LOG, type JobLog } from "./jobLog";
import { followJob } from "./jobStream";
import { isOver } from "./jobView";
import { logQuery } from "./queries";

export interface ShownJob {
  id: string;
  log: JobLog;
  /** The server has deleted it; its messages are still in the chat. */
  forgotten: boolean;
}

/** The jobs of a session. Only the last one is streamed while it runs: a browser has few connections per server. */
export function useJobs(ids: readonly string[]): ShownJob[] {
  const jobs = useQueries({
    queries: ids.map(logQuery),
    combine: (found) =>
      found.map(({ data, isError }, at) => ({
        id: ids[at] ?? "",
        log: data ?? EMPTY_LOG,
        forgotten: isError && !data,
      })),
  });
  const last = jobs.at(-1);
  const live = last && !last.forgotten && !isOver(last.log.view.phase) ? last.id : null;
  useEffect(() => (live ? followJob(live) : undefined), [live]);
  return jobs;
}
