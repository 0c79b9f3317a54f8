/** What the person told the agent once and for all in this folder. */

import { queryOptions } from "@tanstack/react-query";
import { type Schemas, server, told } from "@/api/client";
import { client } from "@/api/queries";
import { attempt } from "@/state/documents";

export type Rule = Schemas["RuleShape"];

export const rulesQuery = queryOptions({
  queryKey: ["rules"],
  queryFn: async () => (await told(server.GET("/api/agent/rules"))).rules,
});

/** To be asked before any document is edited, in whatever mode. */
const ASK_TO_EDIT = { tool: "modify", path: "*", verdict: "ask" } as const;

export function asksToEdit(rules: readonly Rule[]): boolean {
  const { tool, path, verdict } = ASK_TO_EDIT;
  return rules.some((rule) => rule.tool === tool && rule.path === path && rule.verdict === verdict);
}

export function askToEdit(ask: boolean): Promise<boolean> {
  if (!ask) return forget(ASK_TO_EDIT);
  return attempt(async () => keep(await told(server.POST("/api/agent/rules", { body: ASK_TO_EDIT }))));
}

export function forget({ tool, path }: Pick<Rule, "tool" | "path">): Promise<boolean> {
  return attempt(async () =>
    keep(await told(server.DELETE("/api/agent/rules", { params: { query: { tool, path } } }))),
  );
}

const keep = ({ rules }: Schemas["RuleList"]): void => void client.setQueryData(rulesQuery.queryKey, rules);
