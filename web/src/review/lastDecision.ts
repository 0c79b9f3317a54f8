/**
 * The decision that Ctrl+Z takes back: the last one, as long as nothing was typed into its document since. It is known
 * from the moment in which it is made, though the server has still to say which turn it became.
 */

import type { Session } from "@/live/session";

interface Decision {
  /** Null where nothing came of it. */
  turn: Promise<number | null>;
  paths: readonly string[];
}

let last: Decision | null = null;

export function noteDecision(turn: Promise<number | null>, paths: readonly string[]): void {
  last = { turn, paths };
}

/** What the person types comes after their decision: then Ctrl+Z takes back the typing first. */
export function forgetDecision(path: string): void {
  if (last?.paths.includes(path)) last = null;
}

/**
 * Forget it with what is typed into the source, or brought back. What was typed into the rich view comes here late, and
 * often after the decision that it was typed before: that view forgets at the key itself.
 */
export function forgetDecisionOnTyping(session: Session, path: string): void {
  const typed = ({ type, origin }: { type: string; origin: unknown }) => {
    if (type === "undo" && (origin === session.own || origin === session.undo)) forgetDecision(path);
  };
  session.undo.on("stack-item-added", typed);
  session.undo.on("stack-item-updated", typed);
}

/** The decision to take back, if one is due, about one document where it is named; it is handed out once. */
export function takeDecision(path?: string): Decision | null {
  if (!last || (path !== undefined && !last.paths.includes(path))) return null;
  const found = last;
  last = null;
  return found;
}
