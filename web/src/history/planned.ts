/** What an act on the history would do, and what changed since a time: from the server, and in words. */

import { queryOptions } from "@tanstack/react-query";
import { type Schemas, server, unwrap } from "@/api/client";
import { sizeOf } from "./patch";

export type Step = Schemas["StepShape"];

/** What undoing a turn would do now, or restoring the state before it. */
export const planQuery = (number: number, act: "undo" | "restore") =>
  queryOptions({
    queryKey: ["turns", number, "plan", act],
    queryFn: () => unwrap(server.GET("/api/turns/{number}/plan", { params: { path: { number }, query: { act } } })),
    retry: false,
  });

/** How the documents differ from what they were then. */
export const changesQuery = (since: number) =>
  queryOptions({
    queryKey: ["turns", "changes", since],
    queryFn: async () => (await unwrap(server.GET("/api/changes", { params: { query: { since } } }))).files,
  });

/** Midnight of a day before today, in seconds as the server counts. */
export function dayStart(daysAgo: number): number {
  const day = new Date();
  day.setHours(0, 0, 0, 0);
  day.setDate(day.getDate() - daysAgo);
  return day.getTime() / 1000;
}

/** What happened to a document, without its lines. */
export function describeFile({ action, path, moved_from }: Schemas["FileShape"]): string {
  if (action === "moved" && moved_from) return `${moved_from} moved to ${path}`;
  return `${path} ${action === "modified" ? "changed" : action}`;
}

/** What an act would do to a document, exactly. */
export function describeStep(step: Step): string {
  const { added, removed } = sizeOf([step.patch]);
  const lines = [added ? `${added} ${added === 1 ? "line" : "lines"} in` : "", removed ? `${removed} out` : ""];
  const size = lines.filter(Boolean).join(", ");
  if (step.action === "created") return `${step.path} comes back`;
  if (step.action === "deleted") return `${step.path} goes to the trash`;
  const moved = step.action === "moved" && step.moved_from ? `${step.moved_from} moves to ${step.path}` : step.path;
  return size ? `${moved}: ${size}` : moved;
}
