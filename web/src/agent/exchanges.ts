/** A session's chat as people see it: what was asked, and all that came of it. */

import type { Call, Part } from "./jobView";
import type { Session } from "./queries";

export interface Exchange {
  key: string;
  jobId: string | null;
  asked: string;
  at: string;
  /** The agent's last words, where it has said them. */
  said: string | null;
  /** A line for each call; shown where the job itself is forgotten. */
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
  return { key: line.job_id ?? `${number}`, jobId: line.job_id, asked: line.text, at: line.ts, said: null, calls: [] };
}

function addAnswer(exchange: Exchange, line: Line): void {
  if (line.role === "tool") exchange.calls.push({ text: line.text, ok: line.data.ok !== false });
  else exchange.said = line.text;
}

/** What a session is called: its title, or how it began. */
export function sessionTitle(session: Session): string {
  const first = session.chat.find((line) => line.role === "user")?.text ?? "";
  return session.title || first.split("\n")[0]?.slice(0, 80) || "New chat";
}

export type Group = { kind: "calls"; calls: Call[] } | { kind: "words"; text: string } | { kind: "note"; text: string };

/** A job's parts for showing: calls that follow one another as one, and the last words whole, as the chat has them. */
export function groupParts(parts: readonly Part[], said: string | null): Group[] {
  const groups: Group[] = [];
  for (const part of parts) {
    const last = groups.at(-1);
    if (part.kind !== "call") groups.push(part);
    else if (last?.kind === "calls") last.calls.push(part);
    else groups.push({ kind: "calls", calls: [part] });
  }
  return said === null
    ? groups
    : [...groups.filter((group) => !isBeginningOf(group, said)), { kind: "words", text: said }];
}

const CUT = /… \(\d+ characters\)$/;

/** The same words, or as much of them as an event carries. */
function isBeginningOf(group: Group, said: string): boolean {
  return group.kind === "words" && said.startsWith(group.text.replace(CUT, ""));
}
