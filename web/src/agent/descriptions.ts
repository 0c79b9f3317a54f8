/** The agent's actions and figures in plain words. */

import type { Schemas } from "@/api/client";
import { pluralize } from "@/ui/format";
import type { AgentUsage, Call, Change, Question, Spent } from "./jobView";

/** In progress, and done. */
const ACTS: Record<string, readonly [string, string]> = {
  list_tabs: ["Listing open documents", "Listed open documents"],
  list_documents: ["Listing documents", "Listed documents"],
  read_document: ["Reading", "Read"],
  get_outline: ["Reading the outline of", "Read the outline of"],
  search_documents: ["Searching", "Searched"],
  search_document: ["Searching", "Searched"],
  search_project: ["Searching", "Searched"],
  create_document: ["Creating", "Created"],
  create_folder: ["Creating", "Created"],
  edit_document: ["Editing", "Edited"],
  edit_text: ["Editing", "Edited"],
  insert_lines: ["Adding to", "Added to"],
  replace_lines: ["Editing", "Edited"],
  delete_lines: ["Deleting lines from", "Deleted lines from"],
  find_and_replace: ["Replacing in", "Replaced in"],
  propose_edits: ["Proposing edits", "Proposed edits"],
  move_document: ["Moving", "Moved"],
  rename_document: ["Renaming", "Renamed"],
  delete_document: ["Deleting", "Deleted"],
  analyze_document: ["Analysing", "Analysed"],
  transform_document: ["Rewriting", "Rewrote"],
  clarify_user: ["Asking you", "Asked you"],
  list_turns: ["Reading the history", "Read the history"],
  undo_turn: ["Undoing a turn", "Undid a turn"],
  get_changes_since: ["Checking what changed", "Checked what changed"],
};

const PLACE = /['"](?:path|file_path|from_path|name|title|query|find)['"]:\s*(?:'([^']*)'|"([^"]*)")/;

/** What a call is about, according to its arguments. */
function callTarget(call: Pick<Call, "arguments">): string {
  const found = PLACE.exec(call.arguments);
  return found?.[1] ?? found?.[2] ?? "";
}

export function describeCall(call: Pick<Call, "tool" | "arguments" | "ok">): string {
  const [doing, done] = ACTS[call.tool] ?? [call.tool.replaceAll("_", " "), call.tool.replaceAll("_", " ")];
  return `${call.ok === undefined ? doing : done} ${callTarget(call)}`.trim();
}

const FACT = /_count$/;

/** A call's result, in a few words. */
export function describeFindings(call: Call): string {
  return Object.entries(call.facts)
    .filter(([name]) => FACT.test(name))
    .map(([name, value]) => pluralize(Number(value), name.replace(FACT, "").replace(/^matche$/, "match")))
    .join(", ");
}

const CHANGES: Record<string, string> = { created: "Created", modified: "Edited", moved: "Moved", deleted: "Deleted" };

/** What happened to a document, or would happen if the person agrees. */
export function describeChange({ path, action, movedFrom }: Change, pending: boolean): string {
  if (pending && action === "deleted") return `Proposed to delete ${path}`;
  return `${CHANGES[action] ?? action} ${movedFrom ? `${movedFrom} → ` : ""}${path}`;
}

const folderOf = (path: string): string => path.replace(/\/?[^/]*$/, "");

/** The folders that documents were put into. */
export function listFolders(changes: readonly Change[]): string[] {
  const put = changes.filter(({ path, action, movedFrom }) => {
    return action === "moved" ? folderOf(path) !== folderOf(movedFrom ?? "") : action === "created";
  });
  return [...new Set(put.map(({ path }) => folderOf(path)).filter(Boolean))];
}

const WANTS: Record<string, string> = {
  destroy: "delete",
  create: "create",
  modify: "change",
  move: "move",
  change: "change",
  spend: "spend",
};

/** "delete 12 documents", "delete and move 3 documents". */
export function describeWish({ action, paths }: Pick<Question, "action" | "paths">): string {
  const acts = action.split(" and ").map((each) => WANTS[each] ?? each);
  return `${[...new Set(acts)].join(" and ")} ${pluralize(paths.length, "document")}`;
}

/** A rough token count: four characters per token. */
export const estimateTokens = (characters: number): number => Math.ceil(characters / 4);

export function formatTokens(number: number): string {
  return number < 1000 ? `${number}` : `${(number / 1000).toFixed(number < 10_000 ? 1 : 0)}k`;
}

export function formatMoney(usd: number): string {
  if (usd === 0) return "$0";
  return usd < 0.01 ? `$${usd.toPrecision(2)}` : `$${usd.toFixed(2)}`;
}

/** "1.2k tokens in, 300 out, $0.01"; empty if it cost nothing. */
export function formatSpent({ input, output, usd, unpriced }: Spent): string {
  if (!input && !output && !usd) return "";
  const price = unpriced && !usd ? "price unknown" : `${formatMoney(usd)}${unpriced ? " or more" : ""}`;
  return `${formatTokens(input)} tokens in, ${formatTokens(output)} out, ${price}`;
}

/** "context 12% full"; with the cost if that is not in dollars, which are shown with the tokens. */
export function describeUsage({ used, size, cost }: AgentUsage): string {
  const full = size ? `context ${Math.round((100 * used) / size)}% full` : "";
  return [full, cost.startsWith("USD") ? "" : cost].filter(Boolean).join(", ");
}

/** What a day cost, as the server counts it. */
export function toSpent(day: Schemas["SpentShape"]): Spent {
  return {
    input: day.input_tokens,
    output: day.output_tokens,
    usd: Number(day.price_usd),
    unpriced: day.unpriced_steps,
  };
}

export function sumSpent(spent: readonly Spent[]): Spent {
  return spent.reduce((sum, each) => ({
    input: sum.input + each.input,
    output: sum.output + each.output,
    usd: sum.usd + each.usd,
    unpriced: sum.unpriced + each.unpriced,
  }));
}
