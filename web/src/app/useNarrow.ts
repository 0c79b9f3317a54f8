import { useSyncExternalStore } from "react";

const QUERY = "(max-width: 760px)";

function follow(changed: () => void): () => void {
  const query = matchMedia(QUERY);
  query.addEventListener("change", changed);
  return () => query.removeEventListener("change", changed);
}

/** Whether there is room for one thing only. */
export function useNarrow(): boolean {
  return useSyncExternalStore(follow, () => matchMedia(QUERY).matches);
}
