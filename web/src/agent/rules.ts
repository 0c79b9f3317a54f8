/** The person's standing rules for the agent in this folder. */

import { queryOptions } from "@tanstack/react-query";
import { type Schemas, server, unwrap } from "@/api/client";
import { client } from "@/api/queries";
import { attempt } from "@/state/documents";

export type Rule = Schemas["RuleShape"];

export const rulesQuery = queryOptions({
  queryKey: ["rules"],
  queryFn: async () => (await unwrap(server.GET("/api/agent/rules"))).rules,
});

/** Ask before any document is edited, in every mode. */
const ASK_TO_EDIT = { tool: "modify", path: "*", verdict: "ask" } as const;

export function asksToEdit(rules: readonly Rule[]): boolean {
  const { tool, path, verdict } = ASK_TO_EDIT;
  return rules.some((rule) => rule.tool === tool && rule.path === path && rule.verdict === verdict);
}

export function setAskToEdit(ask: boolean): Promise<boolean> {
  if (!ask) return deleteRule(ASK_TO_EDIT);
  return attempt(async () => updateRules(await unwrap(server.POST("/api/agent/rules", { body: ASK_TO_EDIT }))));
}

export function deleteRule({ tool, path }: Pick<Rule, "tool" | "path">): Promise<boolean> {
  return attempt(async () =>
    updateRules(await unwrap(server.DELETE("/api/agent/rules", { params: { query: { tool, path } } }))),
  );
}

const updateRules = ({ rules }: Schemas["RuleList"]): void => void client.setQueryData(rulesQuery.queryKey, rules);
