/** The agent's data on the server: sessions, and each job through its events. */

import { queryOptions } from "@tanstack/react-query";
import { type Schemas, server, unwrap } from "@/api/client";
import { client, refetch } from "@/api/queries";
import { addEvents, EMPTY_LOG, type JobLog, lastCursor } from "./jobLog";
import { isOver } from "./jobView";

export type Session = Schemas["SessionShape"];
export type Row = Schemas["ContextRowInfo"];

export const sessionsQuery = queryOptions({
  queryKey: ["sessions", "list"],
  queryFn: async () =>
    (await unwrap(server.GET("/api/agent/sessions", { params: { query: { limit: 100 } } }))).sessions,
});

export const sessionQuery = (id: string) =>
  queryOptions({
    queryKey: ["sessions", id],
    queryFn: () => unwrap(server.GET("/api/agent/sessions/{session_id}", { params: { path: { session_id: id } } })),
    retry: false,
  });

export const spentTodayQuery = queryOptions({
  queryKey: ["jobs", "usage"],
  queryFn: async () => (await unwrap(server.GET("/api/usage", { params: { query: { by: "day" } } }))).usage,
});

/** The jobs that are at work, of everybody, newest first. */
export const busyJobsQuery = queryOptions({
  queryKey: ["jobs", "busy"],
  queryFn: async () =>
    (await unwrap(server.GET("/api/agent/jobs", { params: { query: { busy: true } } }))).jobs.map(
      ({ job_id }) => job_id,
    ),
});

export const jobQuery = (id: string) =>
  queryOptions({
    queryKey: ["jobs", id, "job"],
    queryFn: () => unwrap(server.GET("/api/agent/jobs/{job_id}", { params: { path: { job_id: id } } })),
  });

/** Whether a job holds a lease, so that nobody can type. */
export const lockQuery = queryOptions({
  queryKey: ["jobs", "lock"],
  queryFn: () => unwrap(server.GET("/api/agent/lock")),
});

const logKey = (id: string) => ["jobs", id, "log"];

export const getLog = (id: string): JobLog => client.getQueryData<JobLog>(logKey(id)) ?? EMPTY_LOG;
export const setLog = (id: string, log: JobLog): void => void client.setQueryData(logKey(id), log);
export const refetchLog = (id: string): Promise<void> => refetch({ queryKey: logKey(id) });

/** A job's events so far. A refetch only gets new ones; a job that has ended is never fetched again. */
export const logQuery = (id: string) =>
  queryOptions({
    queryKey: logKey(id),
    queryFn: async (): Promise<JobLog> => {
      const known = getLog(id);
      if (isOver(known.view.phase)) return known;
      const params = { path: { job_id: id }, query: { cursor: lastCursor(known) } };
      const page = await unwrap(server.GET("/api/agent/jobs/{job_id}/events", { params }));
      return addEvents(getLog(id), page.events); // the stream may have added events meanwhile
    },
    staleTime: Number.POSITIVE_INFINITY,
    structuralSharing: false,
    retry: false,
  });
