import { useSyncExternalStore } from "react";
import { isNarrow, onNarrow } from "@/state/narrow";

/** Whether there is room for one thing only. */
export function useNarrow(): boolean {
  return useSyncExternalStore(onNarrow, isNarrow);
}
