import { useSyncExternalStore } from "react";
import type { LiveDocument, LiveView } from "./liveDocument";

/** What is known of a live document, as it is now. */
export function useLive(document: LiveDocument): LiveView {
  return useSyncExternalStore(document.subscribe, document.view);
}
