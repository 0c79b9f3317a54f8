/** Macros: sequences of acts that were saved, and run again as one turn. The server keeps them. */

import { queryOptions } from "@tanstack/react-query";
import { Failure, type Schemas, server, told } from "@/api/client";
import { askAnew, client, refresh } from "@/api/queries";
import { undo } from "@/state/changing";
import { attempt, open } from "@/state/documents";
import { say, useStore } from "@/state/store";
import { actOf } from "./words";

export type Macro = Schemas["MacroShape"];
type Ran = Schemas["MacroRan"];

export const macrosQuery = queryOptions({
  queryKey: ["macros"],
  queryFn: async () => (await told(server.GET("/api/agent/macros"))).macros,
});

/** What a macro wants a yes for before it runs. */
export interface Wanted {
  action: string;
  paths: string[];
}

/** Run a macro. Where it needs a yes, nothing is done, and what it wants is given back. */
export async function runMacro(name: string, values: Record<string, string>, agree = false): Promise<Wanted | null> {
  let wanted: Wanted | null = null;
  await attempt(async () => {
    const { agentMode: mode } = useStore.getState();
    const params = { path: { name }, query: { ...(mode && { mode }), agree } };
    try {
      tell(await told(server.POST("/api/agent/macros/{name}/run", { params, body: { values } })));
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== "confirmation_required" || agree) throw error;
      const { action, paths } = error.details as Partial<Wanted>;
      wanted = { action: action ?? "change documents", paths: paths ?? [] };
    }
  });
  return wanted;
}

function tell({ name, state, turn, results }: Ran): void {
  refresh("turn", "document", "review", "tree", "tabs");
  const back = turn === null ? {} : { action: { label: "Undo", run: () => void undo(turn) } };
  if (state === "applied") say(`${name} has run.`, back);
  else say(state === "proposed" ? `${name} has run; its changes wait for you.` : `${name} changed nothing.`);
  const path = results.map((result) => result.path).find((found) => typeof found === "string");
  if (path && state !== "unchanged") void open(path);
}

export function saveMacro(name: string, jobId: string): Promise<boolean> {
  return attempt(async () => {
    const params = { path: { name } };
    await told(server.PUT("/api/agent/macros/{name}", { params, body: { job_id: jobId } }));
    await askAnew({ queryKey: macrosQuery.queryKey });
    say(`${name} is among the macros now.`);
  });
}

export function forgetMacro(name: string): Promise<boolean> {
  return attempt(async () => {
    const params = { path: { name } };
    const { macros } = await told(server.DELETE("/api/agent/macros/{name}", { params }));
    client.setQueryData(macrosQuery.queryKey, macros);
  });
}

/** What a macro does, in words. */
export function summaryOf({ calls }: Macro): string {
  return calls.map((call) => actOf({ tool: call.tool, arguments: JSON.stringify(call.arguments) })).join("; ");
}
