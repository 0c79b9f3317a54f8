import { useQueries, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { turnsQuery } from "@/api/queries";
import { turnQuery } from "@/history/turns";
import { show, useStore } from "@/state/store";
import { toAppliedHunks } from "./appliedHunks";
import { undoApplied } from "./decisions";
import type { Hunk } from "./hunkPlaces";

const NONE: Hunk[] = [];

/** What agents wrote into a document at once and the person has not kept yet. */
export function useApplied(path: string): Hunk[] {
  const applied = useStore((store) => store.applied);
  const { data: turns } = useQuery(turnsQuery);
  const standing = Object.keys(applied)
    .map(Number)
    .filter((number) =>
      turns?.some(({ turn, state, paths }) => turn === number && state === "applied" && paths.includes(path)),
    );
  const details = useQueries({
    queries: standing.map(turnQuery),
    combine: (found) => found.flatMap(({ data }) => (data ? [data] : [])),
  });
  const known = JSON.stringify([standing, details.length, applied]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a turn's hunks do not change, but their list is made anew
  return useMemo(() => {
    const hunks = details.flatMap((detail) => {
      const kept = applied[detail.turn.turn] ?? [];
      return toAppliedHunks(detail.turn.turn, path, detail.hunks).filter(({ hunk_id }) => !kept.includes(hunk_id));
    });
    return hunks.length > 0 ? hunks : NONE;
  }, [known, path]);
}

/** Keep what an agent wrote: it is not shown as a change any more. */
export function keep(hunks: readonly Hunk[]): void {
  const applied = { ...useStore.getState().applied };
  for (const { applied: turn, hunk_id } of hunks) {
    if (turn !== undefined) applied[turn] = [...(applied[turn] ?? []), hunk_id];
  }
  show({ applied });
}

/** Keep a change that was written at once, or take it back. */
export function decideApplied(act: "accept" | "reject", path: string, hunk: Hunk): void {
  if (act === "accept") keep([hunk]);
  else void undoApplied(path, hunk).then((done) => done && keep([hunk]));
}
