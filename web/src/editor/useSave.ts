import { useCallback } from "react";
import { save } from "@/state/documents";

/** Saves what is in front of the person. */
export function useSave(path: string, tabId: string): () => Promise<void> {
  return useCallback(async () => {
    await save(tabId, path);
  }, [path, tabId]);
}
