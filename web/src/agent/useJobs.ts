import { useQueries } from "@tanstack/react-query";
import { useEffect } from "react";
import { follow } from "./follow";
import { type JobLog, SILENT } from "./log";
import { logQuery } from "./queries";
import { isOver } from "./view";

export interface JobShown {
  id: string;
  log: JobLog;
  /** The server has forgotten it; what was said is still in the chat. */
  forgotten: boolean;
}

/** The jobs of a session. The last is listened to as long as it goes on; a browser has few connections to give. */
export function useJobs(ids: readonly string[]): JobShown[] {
  const jobs = useQueries({
    queries: ids.map(logQuery),
    combine: (found) =>
      found.map(({ data, isError }, at) => ({ id: ids[at] ?? "", log: data ?? SILENT, forgotten: isError && !data })),
  });
  const last = jobs.at(-1);
  const live = last && !last.forgotten && !isOver(last.log.view.phase) ? last.id : null;
  useEffect(() => (live ? follow(live) : undefined), [live]);
  return jobs;
}
