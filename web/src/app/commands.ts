/** Everything the app can be told to do: the palette lists it, and the keys call it. */

import { sentenceOf, server, told } from "@/api/client";
import { client, refresh, tabsQuery } from "@/api/queries";
import { turnView } from "@/rich/turning";
import { close, save } from "@/state/documents";
import { type SidePanel, say, show, useStore } from "@/state/store";

export interface Command {
  name: string;
  /** As people write keys; `Mod` is Ctrl, or Cmd on a Mac. */
  keys?: string;
  run: () => void;
}

export const ON_MAC = /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? "");

export function shown(keys: string): string {
  return keys.replace("Mod", ON_MAC ? "⌘" : "Ctrl").replaceAll("+", ON_MAC ? "" : "+");
}

function activeTab() {
  const { active } = useStore.getState();
  return client.getQueryData(tabsQuery.queryKey)?.find((tab) => tab.path === active);
}

function panel(side: SidePanel): () => void {
  return () => show({ side: useStore.getState().side === side ? null : side });
}

async function step(direction: "undo" | "redo"): Promise<void> {
  try {
    const asked = direction === "undo" ? server.POST("/api/turns/undo", { body: {} }) : server.POST("/api/turns/redo");
    const done = await told(asked);
    const clash = done.conflicts[0];
    if (clash) say(`${clash.path}: ${clash.reason}`, { tone: "bad" });
    else say(direction === "undo" ? "The last turn was taken back." : "The turn was brought back.");
    refresh("turn", "document");
  } catch (error) {
    say(sentenceOf(error), { tone: "bad" });
  }
}

export const COMMANDS: readonly Command[] = [
  { name: "Go to a document", keys: "Mod+P", run: () => show({ palette: "files" }) },
  { name: "Show every command", keys: "Mod+Shift+P", run: () => show({ palette: "commands" }) },
  {
    name: "Save",
    keys: "Mod+S",
    run: () => {
      const tab = activeTab();
      if (tab) void save(tab.tab_id, tab.path);
    },
  },
  {
    name: "Close the document",
    keys: "Alt+W",
    run: () => {
      const tab = activeTab();
      if (tab) void close(tab.tab_id, tab.path);
    },
  },
  { name: "New document", keys: "Alt+N", run: () => show({ dialog: { kind: "new", folder: "" } }) },
  { name: "Rich text or source", keys: "Alt+R", run: () => turnView(useStore.getState().active) },
  { name: "Files", keys: "Mod+Shift+E", run: panel("files") },
  { name: "Search everywhere", keys: "Mod+Shift+F", run: () => show({ side: "search" }) },
  { name: "Outline", keys: "Mod+Shift+O", run: panel("outline") },
  { name: "History", keys: "Mod+Shift+H", run: panel("history") },
  { name: "Trash", run: panel("trash") },
  { name: "Agent", keys: "Mod+Shift+A", run: () => show({ agentOpen: !useStore.getState().agentOpen }) },
  { name: "Macros", run: () => show({ dialog: { kind: "macros" } }) },
  { name: "Take the last turn back", run: () => void step("undo") },
  { name: "Bring the turn back that was taken back", run: () => void step("redo") },
  { name: "Light theme", run: () => show({ theme: "light" }) },
  { name: "Dark theme", run: () => show({ theme: "dark" }) },
  { name: "The system's theme", run: () => show({ theme: "system" }) },
  { name: "Settings", keys: "Mod+,", run: () => show({ dialog: { kind: "settings" } }) },
  { name: "Welcome", run: () => show({ dialog: { kind: "welcome" } }) },
];
