import { useEffect } from "react";
import { undoLastDecision } from "@/review/decisions";
import { COMMANDS, ON_MAC } from "./commands";

/** The shortcuts of the commands, wherever the focus is. */
export function useKeys(): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      // A button that made a decision may be gone, and the focus with it.
      if (event.target === document.body && matchesKeys("Mod+Z", event) && undoLastDecision()) event.preventDefault();
      const command = COMMANDS.find(({ keys }) => keys !== undefined && matchesKeys(keys, event));
      if (!command || event.defaultPrevented) return; // the editor has already handled it
      event.preventDefault();
      command.run();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
}

export function matchesKeys(keys: string, event: KeyboardEvent): boolean {
  const parts = keys.split("+");
  const key = parts.pop() ?? "";
  const mod = ON_MAC ? event.metaKey : event.ctrlKey;
  return (
    mod === parts.includes("Mod") &&
    event.shiftKey === parts.includes("Shift") &&
    event.altKey === parts.includes("Alt") &&
    // Letters by key position: Alt and Shift change what a key types.
    (event.key.toLowerCase() === key.toLowerCase() || event.code === `Key${key}`)
  );
}
