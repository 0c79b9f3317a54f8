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
      if (!command || event.defaultPrevented || (command.keys === "?" && isTyping(event.target))) return; // the editor has already handled it
      event.preventDefault();
      command.run();
    };
    // An editor has keys of its own for some of the same letters, such as the rich view's Ctrl+E for code. Saving and the
    // keys without Ctrl are left to it first.
    const onKeyFirst = (event: KeyboardEvent) => {
      const command = COMMANDS.find(
        ({ keys }) => keys?.startsWith("Mod+") && keys !== "Mod+S" && matchesKeys(keys, event),
      );
      if (!command) return;
      event.preventDefault();
      event.stopPropagation();
      command.run();
    };
    addEventListener("keydown", onKey);
    addEventListener("keydown", onKeyFirst, { capture: true });
    return () => {
      removeEventListener("keydown", onKey);
      removeEventListener("keydown", onKeyFirst, { capture: true });
    };
  }, []);
}

/** Whether a key would be typed where the focus is. */
function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches("input, textarea, select"));
}

export function matchesKeys(keys: string, event: KeyboardEvent): boolean {
  if (keys === "?") return event.key === "?" && !event.ctrlKey && !event.metaKey && !event.altKey;
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
