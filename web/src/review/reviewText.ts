/** The review in words. */

import { pluralize } from "@/ui/format";
import type { Tone } from "@/ui/Small";
import { type Draft, type Hunk, isOpen, normalizeNewlines } from "./hunkPlaces";
import { isWithAgent } from "./sides";

/** What is to be decided about a document: the document itself, if it is one decision, or its hunks. */
export function listOpenHunks({ hunks }: Draft): Hunk[] {
  const open = hunks.filter(isOpen);
  const whole = open.filter(({ kind }) => kind === "created");
  return whole.length > 0 ? whole : open;
}

/** " (+8 lines)", " (+3 −1 lines)": how many lines the agent added and removed; empty if it only changed words. */
function formatLineCounts(hunks: readonly Hunk[]): string {
  const count = (side: "base" | "working") =>
    hunks.filter(isWithAgent).reduce((sum, hunk) => sum + normalizeNewlines(hunk[side]).split("\n").length - 1, 0);
  const [added, removed] = [count("working"), count("base")];
  if (added + removed === 0) return "";
  const parts = [...(added ? [`+${added}`] : []), ...(removed ? [`−${removed}`] : [])];
  return ` (${parts.join(" ")} ${added + removed === 1 ? "line" : "lines"})`;
}

export function formatBanner(draft: Draft): string {
  if (draft.kind === "created") return "AI created this document";
  const changes = listOpenHunks(draft).filter(({ kind }) => kind === "modified");
  const places = changes.filter(isWithAgent).length;
  const others = changes.length - places;
  const met = `${pluralize(others, "place was", "places were")} changed twice`;
  const changed = places > 0 ? `AI changed ${pluralize(places, "place")} here${formatLineCounts(changes)}` : "";
  if (others > 0 && draft.kind !== "moved") {
    return changed ? `${changed}, and ${met}` : `${met}: choose which to keep`;
  }
  if (draft.kind !== "moved") return changed;
  const from = `AI moved this document from ${draft.base_path ?? "elsewhere"}`;
  return changed ? `${from} and changed ${pluralize(places, "place")}` : from;
}

const ORDER: Draft["kind"][] = ["created", "modified", "moved", "deleted"];

/** Documents in the order in which they are listed and visited. */
export function sortDrafts<One extends Pick<Draft, "kind">>(drafts: readonly One[]): One[] {
  return ORDER.flatMap((kind) => drafts.filter((draft) => draft.kind === kind));
}

const KINDS = { created: "New", modified: "Changed", moved: "Moved", deleted: "Deleted" } as const;

/** How a kind of change looks in a list. */
export const KIND_TONES: Record<Draft["kind"], Tone> = {
  created: "added",
  modified: "agent",
  moved: "plain",
  deleted: "removed",
};

export function kindName(kind: Draft["kind"]): string {
  return KINDS[kind];
}

/** What is pending in the whole folder. */
export function formatSummary(drafts: readonly Draft[]): string {
  const hunks = drafts.flatMap(listOpenHunks);
  const by = hunks.every(isWithAgent) ? " by AI" : "";
  return `${pluralize(hunks.length, "change")}${by} in ${pluralize(drafts.length, "document")} to review`;
}
