/** Macros: saved sequences of actions that run again as one turn. The server stores them. */

import { queryOptions } from "@tanstack/react-query";
import { Failure, type Schemas, server, unwrap } from "@/api/client";
import { client, refetch, refresh } from "@/api/queries";
import { attempt, openDocument, undoTurn } from "@/state/documents";
import { showToast, useStore } from "@/state/store";
import { describeCall } from "./descriptions";

export type Macro = Schemas["MacroShape"];
type Ran = Schemas["RunMacroResponse"];

export const macrosQuery = queryOptions({
  queryKey: ["macros"],
  queryFn: async () => (await unwrap(server.GET("/api/agent/macros"))).macros,
});

/** What a macro needs consent for before it runs. */
export interface Confirmation {
  action: string;
  paths: string[];
}

/** Run a macro. If it needs consent, nothing is done, and the consent request is returned. */
export async function runMacro(
  name: string,
  values: Record<string, string>,
  agree = false,
): Promise<Confirmation | null> {
  let wanted: Confirmation | null = null;
  await attempt(async () => {
    const { agentMode: mode } = useStore.getState();
    const params = { path: { name }, query: { ...(mode && { mode }), agree } };
    try {
      announceRun(await unwrap(server.POST("/api/agent/macros/{name}/run", { params, body: { values } })));
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== "confirmation_required" || agree) throw error;
      const { action, paths } = error.details as Partial<Confirmation>;
      wanted = { action: action?.split(" ")[0] ?? "change", paths: paths ?? [] }; // "destroy notes.md"
    }
  });
  return wanted;
}

function announceRun({ name, state, turn, paths }: Ran): void {
  refresh("turn", "document", "review", "tree", "tabs");
  const back = turn === null ? {} : { action: { label: "Undo", run: () => void undoTurn(turn) }, turn };
  if (state === "applied") showToast(`Ran ${name}.`, back);
  else showToast(state === "proposed" ? `Ran ${name}. It made changes to review.` : `${name} changed nothing.`);
  const [path] = paths;
  if (path && state !== "unchanged") void openDocument(path);
}

export function saveMacro(name: string, jobId: string): Promise<boolean> {
  return attempt(async () => {
    const params = { path: { name } };
    await unwrap(server.PUT("/api/agent/macros/{name}", { params, body: { job_id: jobId } }));
    await refetch({ queryKey: macrosQuery.queryKey });
    showToast(`Saved ${name} as a macro.`);
  });
}

export function deleteMacro(name: string): Promise<boolean> {
  return attempt(async () => {
    const params = { path: { name } };
    const { macros } = await unwrap(server.DELETE("/api/agent/macros/{name}", { params }));
    client.setQueryData(macrosQuery.queryKey, macros);
  });
}

/** What a macro does, in words. */
export function describeMacro({ calls }: Macro): string {
  return calls.map((call) => describeCall({ tool: call.tool, arguments: JSON.stringify(call.arguments) })).join("; ");
}
