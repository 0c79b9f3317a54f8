/** What a person asks of the agent at the cursor, in words that stand alone in the chat. Pure. */

import type { CursorPrompt } from "@/state/store";

export interface QuickRequest {
  label: string;
  ask: string;
}

const ON_SELECTION: readonly QuickRequest[] = [
  { label: "Tighten", ask: "Tighten it: same meaning, fewer words" },
  { label: "Fix spelling", ask: "Fix its spelling and grammar, nothing else" },
  { label: "Rephrase", ask: "Say it in other words" },
  { label: "Simplify", ask: "Say it in plainer words" },
];
const ON_EMPTY_LINE: readonly QuickRequest[] = [
  { label: "Continue", ask: "Continue the text here, in its voice" },
  { label: "Outline", ask: "Write an outline of what could follow here" },
];
const ON_LINE: readonly QuickRequest[] = [
  { label: "Continue", ask: "Continue the text after this line, in its voice" },
  { label: "Tighten", ask: "Tighten this paragraph: same meaning, fewer words" },
];

/** Requests that fit where the person is. */
export function listQuickRequests({ text, empty, refine }: CursorPrompt): readonly QuickRequest[] {
  if (refine !== undefined) return [];
  return text ? ON_SELECTION : empty ? ON_EMPTY_LINE : ON_LINE;
}

/** The request as it goes to the agent: the document, the place, and what to do there. */
export function writeRequest({ path, startLine, endLine, text, empty, refine }: CursorPrompt, ask: string): string {
  const lines = startLine === endLine ? `line ${startLine}` : `lines ${startLine} to ${endLine}`;
  if (refine !== undefined) return `Change what you proposed in ${lines} of ${path}, ${quote(refine)}: ${ask}`;
  if (text) return `Change only the selected passage in ${lines} of ${path}, ${quote(text)}: ${ask}`;
  return empty ? `At the empty ${lines} of ${path}: ${ask}` : `At ${lines} of ${path}: ${ask}`;
}

const MOST = 200;

/** The passage in the request; a longer one is in the prompt as a whole, as the selection. */
function quote(text: string): string {
  const plain = text.replace(/\s+/g, " ").trim();
  return `"${plain.length > MOST ? `${plain.slice(0, MOST)}…` : plain}"`;
}
