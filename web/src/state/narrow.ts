/** Whether there is room for one thing only: then a panel lies over the documents. */

const QUERY = "(max-width: 760px)";

export function isNarrow(): boolean {
  return globalThis.matchMedia?.(QUERY).matches ?? false;
}

/** Call when it changes; the answer ends it. */
export function onNarrow(changed: () => void): () => void {
  const query = matchMedia(QUERY);
  query.addEventListener("change", changed);
  return () => query.removeEventListener("change", changed);
}
