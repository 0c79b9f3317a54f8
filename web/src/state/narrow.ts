/** Whether there is space for only one column: then a panel covers the documents. */

const QUERY = "(max-width: 760px)";

export function isNarrow(): boolean {
  return globalThis.matchMedia?.(QUERY).matches ?? false;
}

/** Subscribe to changes; returns the function that unsubscribes. */
export function onNarrow(changed: () => void): () => void {
  const query = matchMedia(QUERY);
  query.addEventListener("change", changed);
  return () => query.removeEventListener("change", changed);
}
