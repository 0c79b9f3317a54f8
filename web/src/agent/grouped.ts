/** A job's parts for showing: calls that follow one another as one, and the last words whole, as the chat has them. */

import type { Call, Part } from "./view";

export type Group = { kind: "calls"; calls: Call[] } | { kind: "words"; text: string } | { kind: "note"; text: string };

export function grouped(parts: readonly Part[], said: string | null): Group[] {
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
