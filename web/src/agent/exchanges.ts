/** A session's chat as people see it: each request with its response. */

import type { Call, Part } from "./jobView";
import type { Session } from "./queries";

export interface Exchange {
  key: string;
  jobId: string | null;
  asked: string;
  at: string;
  /** The agent's final message, if there is one. */
  answer: string | null;
  /** A line for each call; shown if the job itself was deleted. */
  calls: { text: string; ok: boolean }[];
}

type Line = Session["chat"][number];

export function groupExchanges(chat: readonly Line[]): Exchange[] {
  const found: Exchange[] = [];
  for (const line of chat) {
    const last = found.at(-1);
    if (line.role === "user") found.push(startExchange(line, found.length));
    else if (last) addAnswer(found.findLast((each) => each.jobId === line.job_id) ?? last, line);
  }
  return found;
}

function startExchange(line: Line, number: number): Exchange {
  return {
    key: line.job_id ?? `${number}`,
    jobId: line.job_id,
    asked: line.text,
    at: line.ts,
    answer: null,
    calls: [],
  };
}

function addAnswer(exchange: Exchange, line: Line): void {
  if (line.role === "tool") exchange.calls.push({ text: line.text, ok: line.data.ok !== false });
  else exchange.answer = line.text;
}

/** A session's name: its title, or its first words. */
export function sessionTitle(session: Session): string {
  const first = session.chat.find((line) => line.role === "user")?.text ?? "";
  return session.title || first.split("\n")[0]?.slice(0, 80) || "New chat";
}

export type Group = { kind: "calls"; calls: Call[] } | { kind: "words" | "note" | "thought"; text: string };

/** A job's parts for display: consecutive calls grouped, and the final message in full, as in the chat. */
export function groupParts(parts: readonly Part[], answer: string | null): Group[] {
  const groups: Group[] = [];
  for (const part of parts) {
    const last = groups.at(-1);
    if (part.kind !== "call") groups.push(part);
    else if (last?.kind === "calls") last.calls.push(part);
    else groups.push({ kind: "calls", calls: [part] });
  }
  if (answer === null) return groups;
  const rest = findRest(groups, answer);
  if (rest !== null) return rest ? [...groups, { kind: "words", text: rest }] : groups;
  return [...groups.filter((group) => !isBeginningOf(group, answer)), { kind: "words", text: answer }];
}

/** What the answer has after all the words that were said between calls; null if it does not begin with them. */
function findRest(groups: readonly Group[], answer: string): string | null {
  const said = groups.flatMap((group) => (group.kind === "words" ? [group.text] : []));
  if (said.length < 2) return null;
  let at = 0;
  for (const text of said) {
    at += answer.slice(at).search(/\S|$/);
    if (!answer.startsWith(text, at)) return null;
    at += text.length;
  }
  return answer.slice(at).trim();
}

const CUT = /… \(\d+ characters\)$/;

/** Whether a group has the same words as the answer, or their shortened form in an event. */
function isBeginningOf(group: Group, answer: string): boolean {
  return group.kind === "words" && answer.startsWith(group.text.replace(CUT, ""));
}
