/** What the server knows of the agent: sessions, and each job as its events tell it. */

import { queryOptions } from "@tanstack/react-query";
import { type Schemas, server, told } from "@/api/client";
import { askAnew, client } from "@/api/queries";
import { cursorOf, heardAll, type JobLog, SILENT } from "./log";
import { isOver } from "./view";

export type Session = Schemas["SessionShape"];
export type Row = Schemas["RowTold"];

export const sessionsQuery = queryOptions({
  queryKey: ["sessions", "list"],
  queryFn: async () => (await told(server.GET("/api/agent/sessions", { params: { query: { limit: 100 } } }))).sessions,
});

export const sessionQuery = (id: string) =>
  queryOptions({
    queryKey: ["sessions", id],
    queryFn: () => told(server.GET("/api/agent/sessions/{session_id}", { params: { path: { session_id: id } } })),
    retry: false,
  });

export const spentTodayQuery = queryOptions({
  queryKey: ["jobs", "usage"],
  queryFn: async () => (await told(server.GET("/api/usage", { params: { query: { by: "day" } } }))).usage,
});

export const jobQuery = (id: string) =>
  queryOptions({
    queryKey: ["jobs", id, "job"],
    queryFn: () => told(server.GET("/api/agent/jobs/{job_id}", { params: { path: { job_id: id } } })),
  });

/** Whether a job has the documents to itself, so that nobody types. */
export const lockQuery = queryOptions({
  queryKey: ["jobs", "lock"],
  queryFn: () => told(server.GET("/api/agent/lock")),
});

const logKey = (id: string) => ["jobs", id, "log"];

export const knownLog = (id: string): JobLog => client.getQueryData<JobLog>(logKey(id)) ?? SILENT;
export const keepLog = (id: string, log: JobLog): void => void client.setQueryData(logKey(id), log);
export const askAgain = (id: string): Promise<void> => askAnew({ queryKey: logKey(id) });

/** A job's events so far. Asked again, only what came since is fetched; a job that is over is never asked again. */
export const logQuery = (id: string) =>
  queryOptions({
    queryKey: logKey(id),
    queryFn: async (): Promise<JobLog> => {
      const known = knownLog(id);
      if (isOver(known.view.phase)) return known;
      const params = { path: { job_id: id }, query: { cursor: cursorOf(known) } };
      const page = await told(server.GET("/api/agent/jobs/{job_id}/events", { params }));
      return heardAll(knownLog(id), page.events); // the stream may have gone on meanwhile
    },
    staleTime: Number.POSITIVE_INFINITY,
    structuralSharing: false,
    retry: false,
  });
