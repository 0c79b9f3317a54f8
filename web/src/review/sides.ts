/** The sides of a conflict: the author of each text, and the label of the button that chooses it. Pure. */

import type { BlamedLines } from "@/history/blame";
import type { Hunk } from "./hunkPlaces";

export interface Side {
  title: string;
  text: string;
  /** The label of its button; a side without one is only shown. */
  use?: string;
}

/** Whether an agent is one of the two. If not, another program overwrote words that the person has typed. */
export function isWithAgent({ author }: Hunk): boolean {
  return author === "agent" || author === "mixed";
}

/** Whether the current text is the person's own typing; if not, it is what the file says. */
export function isTyped({ base, working }: Hunk): boolean {
  return base !== working;
}

/** Whether a text is another with something inserted, and nothing removed. */
function isInsertionInto(base: string, text: string): boolean {
  let start = 0;
  while (start < base.length && base[start] === text[start]) start += 1;
  return text.length >= base.length && text.endsWith(base.slice(start));
}

/** What else is known about a conflict. */
export interface ConflictAbout {
  /** The name of the agent that proposes. */
  agent?: string | undefined;
  /** The text before the agent's change. */
  before?: string | undefined;
  /** Who wrote the current words. */
  writer?: "you" | "outside" | undefined;
}

/** Who wrote the words of a hunk: any of its lines may be the changed one. A line of no turn is older than the history,
 * or typed and not saved: if no turn wrote any of them, somebody has typed there. */
export function findWriter(
  lines: BlamedLines[],
  { working, working_start_line: first }: Hunk,
): ConflictAbout["writer"] {
  const last = first + working.replace(/(\r\n|\n|\r)$/, "").split(/\r\n|\n|\r/).length - 1;
  const here = lines.filter(({ start, text }) => start <= last && first < start + text.length);
  const kinds = here.map(({ turn }) => turn?.author.kind);
  if (kinds.includes("outside")) return "outside";
  const typed = kinds.length > 0 && kinds.every((kind) => kind === undefined);
  return typed || kinds.includes("person") ? "you" : undefined;
}

const WRITERS = { you: "Yours", outside: "Another program's" };

export function listSides(hunk: Hunk, { agent, before, writer }: ConflictAbout): Side[] {
  const { base, working, proposed } = hunk;
  if (!isWithAgent(hunk) && base === "") {
    return [
      { title: "Without your words", text: base, use: "Remove mine" },
      { title: "With your words", text: working, use: "Keep mine" },
    ];
  }
  if (!isWithAgent(hunk)) {
    const mine = isInsertionInto(base, working)
      ? { title: "Yours and the other program's", use: "Keep both" }
      : { title: "Yours", use: "Use yours" };
    return [
      { title: "Another program's", text: base, use: "Use the other program's" },
      { ...mine, text: working },
    ];
  }
  const name = agent ? `${agent}'s` : "The agent's";
  const theirs = { title: name, text: proposed, use: `Use ${agent ? name : "the agent's"}` };
  const was = isTyped(hunk) ? base : before;
  const by = isTyped(hunk) ? "you" : writer;
  const now = { title: by ? WRITERS[by] : "In the document", text: working };
  return [
    ...(was === undefined ? [] : [{ title: "Before", text: was }]),
    { ...now, use: by === "you" ? "Use yours" : "Keep current text" },
    theirs,
  ];
}

/** A text for a hunk, with the document's line endings: a text field knows only one kind of line break. */
export function toDocumentText(chosen: string, { base, proposed, working }: Hunk): string {
  const [newline = "\n"] = /\r\n?|\n/.exec(working || base || proposed) ?? [];
  const ends = [working, base, proposed].some((text) => /[\r\n]$/.test(text));
  const text = chosen !== "" && ends && !/[\r\n]$/.test(chosen) ? `${chosen}\n` : chosen;
  return text.replace(/\r\n?|\n/g, newline);
}
