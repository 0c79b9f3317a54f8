/** Every command of the app: the palette lists them, and keys call them. */

import { errorMessage, server, unwrap } from "@/api/client";
import { client, refresh, tabsQuery } from "@/api/queries";
import { toggleView } from "@/rich/documentViews";
import { closeDocument, saveDocument } from "@/state/documents";
import { type SidePanel, show, showToast, useStore } from "@/state/store";
import { askAtCursor, stepToChange } from "@/state/textFocus";

export interface Command {
  name: string;
  /** As people write keys; `Mod` is Ctrl, or Cmd on a Mac. */
  keys?: string;
  run: () => void;
}

export const ON_MAC = /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? "");

export function formatKeys(keys: string): string {
  return keys.replace("Mod", ON_MAC ? "⌘" : "Ctrl").replaceAll("+", ON_MAC ? "" : "+");
}

function activeTab() {
  const { active } = useStore.getState();
  return client.getQueryData(tabsQuery.queryKey)?.find((tab) => tab.path === active);
}

function togglePanel(side: SidePanel): () => void {
  return () => show({ side: useStore.getState().side === side ? null : side });
}

async function stepHistory(direction: "undo" | "redo"): Promise<void> {
  try {
    const asked = direction === "undo" ? server.POST("/api/turns/undo", { body: {} }) : server.POST("/api/turns/redo");
    const done = await unwrap(asked);
    const clash = done.conflicts[0];
    if (clash) showToast(`${clash.path}: ${clash.reason}`, { tone: "bad" });
    else showToast(direction === "undo" ? "Turn undone." : "Turn redone.");
    refresh("turn", "document");
  } catch (error) {
    showToast(errorMessage(error), { tone: "bad" });
  }
}

export const COMMANDS: readonly Command[] = [
  { name: "Go to document", keys: "Mod+P", run: () => show({ palette: "files" }) },
  { name: "Show all commands", keys: "Mod+Shift+P", run: () => show({ palette: "commands" }) },
  {
    name: "Save",
    keys: "Mod+S",
    run: () => {
      const tab = activeTab();
      if (tab) void saveDocument(tab.tab_id, tab.path);
    },
  },
  {
    name: "Close document",
    keys: "Alt+W",
    run: () => {
      const tab = activeTab();
      if (tab) void closeDocument(tab.tab_id, tab.path);
    },
  },
  { name: "Ask the agent at the cursor", keys: "Mod+J", run: askAtCursor },
  { name: "Next change", keys: "Alt+J", run: () => stepToChange(1) },
  { name: "Previous change", keys: "Alt+K", run: () => stepToChange(-1) },
  { name: "New document", keys: "Alt+N", run: () => show({ dialog: { kind: "new", folder: "" } }) },
  { name: "Switch between rich text and source", keys: "Alt+R", run: () => toggleView(useStore.getState().active) },
  { name: "Files", keys: "Mod+Shift+E", run: togglePanel("files") },
  { name: "Search all documents", keys: "Mod+Shift+F", run: () => show({ side: "search" }) },
  { name: "Outline", keys: "Mod+Shift+O", run: togglePanel("outline") },
  { name: "History", keys: "Mod+Shift+H", run: togglePanel("history") },
  { name: "Trash", run: togglePanel("trash") },
  { name: "Agent", keys: "Mod+Shift+A", run: () => show({ agentOpen: !useStore.getState().agentOpen }) },
  {
    name: "Focus mode",
    keys: "Alt+Z",
    run: () => show({ focusMode: !useStore.getState().focusMode }),
  },
  { name: "Typewriter scrolling", run: () => show({ typewriter: !useStore.getState().typewriter }) },
  { name: "Help", keys: "?", run: () => show({ dialog: { kind: "help" } }) },
  { name: "What changed since yesterday", run: () => show({ dialog: { kind: "changes" } }) },
  { name: "Models", run: () => show({ dialog: { kind: "models" } }) },
  { name: "Macros", run: () => show({ dialog: { kind: "macros" } }) },
  { name: "Undo the last turn", run: () => void stepHistory("undo") },
  { name: "Redo the last undone turn", run: () => void stepHistory("redo") },
  { name: "Light theme", run: () => show({ theme: "light" }) },
  { name: "Dark theme", run: () => show({ theme: "dark" }) },
  { name: "System theme", run: () => show({ theme: "system" }) },
  { name: "Settings", keys: "Mod+,", run: () => show({ dialog: { kind: "settings" } }) },
  { name: "Welcome", run: () => show({ dialog: { kind: "welcome" } }) },
];
