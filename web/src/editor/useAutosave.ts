import { useEffect } from "react";
import type { LiveView } from "@/live/liveDocument";
import { useStore } from "@/state/store";

const AFTER_MS = 1500;

/** Saves after a pause in the typing, for those who chose that; not while something waits to be decided. */
export function useAutosave({ about, unsynced, status }: LiveView, save: () => Promise<void>): void {
  const wanted = useStore((store) => store.autosave);
  // Another text is another version, which begins the pause anew.
  const due = wanted && status === "live" && !unsynced && !about.saved && about.pending === 0 ? about.version : null;
  useEffect(() => {
    if (due === null) return;
    const soon = setTimeout(() => void save(), AFTER_MS);
    return () => clearTimeout(soon);
  }, [due, save]);
}
