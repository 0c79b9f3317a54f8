/** A session's chat as people see it: what was asked, and all that came of it. */

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

export function exchanges(chat: readonly Line[]): Exchange[] {
  const found: Exchange[] = [];
  for (const line of chat) {
    const last = found.at(-1);
    if (line.role === "user") found.push(asked(line, found.length));
    else if (last) answered(found.findLast((each) => each.jobId === line.job_id) ?? last, line);
  }
  return found;
}

function asked(line: Line, number: number): Exchange {
  return { key: line.job_id ?? `${number}`, jobId: line.job_id, asked: line.text, at: line.ts, said: null, calls: [] };
}

function answered(exchange: Exchange, line: Line): void {
  if (line.role === "tool") exchange.calls.push({ text: line.text, ok: line.data.ok !== false });
  else exchange.said = line.text;
}

/** What a session is called: its title, or how it began. */
export function titleOf(session: Session): string {
  const first = session.chat.find((line) => line.role === "user")?.text ?? "";
  return session.title || first.split("\n")[0]?.slice(0, 80) || "New chat";
}
