import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { server, unwrap } from "@/api/client";
import { client, reviewQuery, turnsQuery } from "@/api/queries";
import { openDocument } from "@/state/documents";
import { isNarrow } from "@/state/narrow";
import { show, showToast, useStore } from "@/state/store";
import { pluralize } from "@/ui/format";
import { openAtChange } from "./otherDocuments";
import { sortDrafts } from "./reviewText";

/** When a turn of an agent's arrives, shows its first change; never while the person types. */
export function useArrivals(front: string | undefined): void {
  const { data: drafts } = useQuery(reviewQuery);
  const { data: turns } = useQuery(turnsQuery);
  const known = useRef<Set<number> | null>(null);
  useEffect(() => {
    if (!drafts || !turns) return;
    const waiting = drafts
      .filter(({ pending }) => pending)
      .flatMap(({ hunks }) => hunks.flatMap(({ turn }) => turn ?? []));
    const before = known.current;
    // The list of turns may arrive after the review: until then nobody knows whose a turn is.
    const listed = waiting.filter((turn) => turn <= (turns[0]?.turn ?? 0));
    known.current = new Set([...(before ?? []), ...(before ? listed : waiting)]);
    if (!before) return;
    for (const turn of new Set(listed)) {
      if (!before.has(turn) && turns.some((each) => each.turn === turn && each.author.kind === "agent"))
        void receive(turn, front);
    }
  }, [drafts, turns, front]);
  useEffect(() => {
    if (turns) noteApplied(turns, front);
  }, [turns, front]);
}

/** A turn has arrived in the review. */
async function receive(turn: number, front: string | undefined): Promise<void> {
  const drafts = sortDrafts(
    (client.getQueryData(reviewQuery.queryKey) ?? []).filter(({ hunks }) => hunks.some((hunk) => hunk.turn === turn)),
  );
  const [first] = drafts;
  if (!first) return;
  if (drafts.some(({ path }) => path === front)) return show({ arrived: { path: front ?? "", turn } });
  if (await isOwn(turn)) {
    if (isTyping() || isNarrow()) return; // the line at the foot says what waits
    await openDocument(first.path, undefined, false);
    show({ arrived: { path: first.path, turn } });
    return;
  }
  const where = drafts.length === 1 ? first.path : pluralize(drafts.length, "document");
  showToast(`AI proposes changes in ${where}.`, {
    topic: "arrival",
    action: { label: "Review", run: () => void openAtChange(first) },
  });
}

/** Whether this window's chat asked for a turn. */
async function isOwn(turn: number): Promise<boolean> {
  const { jobs } = await unwrap(server.GET("/api/agent/jobs", { params: { query: { limit: 5 } } }));
  return jobs.some((job) => job.turn === turn && job.session_id === useStore.getState().session);
}

/** Whether keys go into a text right now, or something else has the person's attention. */
export function isTyping(): boolean {
  const { dialog, palette } = useStore.getState();
  return dialog !== null || palette !== "closed" || document.activeElement?.closest("[contenteditable=true]") != null;
}

type Turns = Awaited<ReturnType<NonNullable<typeof turnsQuery.queryFn>>>;

/** Turns that were written at once since the person last looked are shown in the text until they are kept. */
function noteApplied(turns: Turns, front: string | undefined): void {
  const newest = turns[0]?.turn ?? 0;
  const { seenTurn, applied } = useStore.getState();
  if (seenTurn === newest) return;
  // A window that was never open here, or that knows another folder, begins with what there is.
  if (seenTurn === null || newest < seenTurn) {
    show({ seenTurn: newest, applied: {} });
    return;
  }
  const fresh = turns.filter(
    ({ turn, kind, author }) => turn > seenTurn && author.kind === "agent" && (kind === "apply" || kind === "merge"),
  );
  const numbers = turns.filter(({ state }) => state === "applied").map(({ turn }) => turn);
  const left = Object.entries(applied).filter(([turn]) => numbers.includes(Number(turn)));
  show({ seenTurn: newest, applied: Object.fromEntries([...left, ...fresh.map(({ turn }) => [turn, []])]) });
  const here = fresh.find(({ paths }) => front !== undefined && paths.includes(front));
  if (here && front !== undefined) show({ arrived: { path: front, turn: here.turn } });
}
