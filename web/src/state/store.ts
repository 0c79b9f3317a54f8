/** What this window shows: panels, theme, the document in front. Nothing here is a copy of the server's state. */

import { create } from "zustand";
import { persist } from "zustand/middleware";

export type SidePanel = "files" | "search" | "outline" | "history" | "trash";
export type Theme = "system" | "light" | "dark";
export type DocumentView = "source" | "rich" | "compare";
export type Prose = "mono" | "serif" | "sans";

/** A place to show: lines count from 1, as people count them. */
export interface Place {
  path: string;
  line: number;
  column?: number;
  length?: number;
}

export type AgentMode = "read" | "propose" | "apply" | "merge";

/** A passage that goes to the agent with the next request only. */
export interface LooseRow {
  id: string;
  file_path: string;
  start_line: number | null;
  end_line: number | null;
  content: string;
}

export interface Composer {
  text: string;
  rows: LooseRow[];
  /** It was sent while the agent was working, and goes when that is done. */
  waiting?: boolean;
}

export interface Store {
  theme: Theme;
  prose: Prose;
  side: SidePanel | null;
  agentOpen: boolean;
  autosave: boolean;
  /** How markdown is shown until the person has chosen otherwise. */
  firstView: "rich" | "source";
  /** Everything around the text is hidden. */
  focusMode: boolean;
  /** The line of the cursor stays in the middle. */
  typewriter: boolean;
  /** The document in front. */
  active: string | null;
  /** The order of this window's tabs; the server says which documents are open. */
  order: string[];
  /** The tab of each open document when the server last reported: a moved one keeps its tab. */
  tabs: Record<string, string>;
  views: Record<string, DocumentView>;
  /** The expanded folders. */
  unfolded: string[];
  /** The agent's session that is shown; null starts a new one. */
  session: string | null;
  /** The text in the composer, by session; "" is for a new one. */
  composers: Record<string, Composer>;
  /** When the agent's turns are written; null means the folder's setting. */
  agentMode: AgentMode | null;
  /** The model that answers; "" leaves it to the settings. */
  agentModel: string;
  welcomed: boolean;

  connected: boolean;
  /** A place that an editor should go to; the editor clears it when it is there. */
  goingTo: Place | null;
  palette: "closed" | "files" | "commands";
  dialog: Dialog | null;
  toasts: Toast[];
  /** The selection in the editor in front, for the agent's context. */
  selection: { path: string; startLine: number; endLine: number; text: string } | null;
}

export type Dialog =
  | { kind: "new"; folder: string }
  | { kind: "rename"; path: string }
  | { kind: "trash"; paths: string[] }
  | { kind: "close"; tabId: string; path: string }
  | { kind: "secret"; path: string; place?: Omit<Place, "path"> }
  | { kind: "settings" }
  | { kind: "models" }
  | { kind: "help" }
  | { kind: "file"; path: string }
  | { kind: "macros" }
  | { kind: "turn"; turn: number }
  | { kind: "welcome" };

export interface Toast {
  id: number;
  text: string;
  tone: "plain" | "bad";
  action?: { label: string; run: () => void };
  /** The turn that it is about: once that is undone, it no longer applies. */
  turn?: number;
}

export const useStore = create<Store>()(
  persist(
    (): Store => ({
      theme: "system",
      prose: "serif",
      side: "files",
      agentOpen: true,
      autosave: true,
      firstView: "rich",
      focusMode: false,
      typewriter: false,
      active: null,
      order: [],
      tabs: {} as Record<string, string>,
      views: {} as Record<string, DocumentView>,
      unfolded: [],
      session: null,
      composers: {} as Record<string, Composer>,
      agentMode: null,
      agentModel: "",
      welcomed: false,
      connected: true,
      goingTo: null,
      palette: "closed",
      dialog: null,
      toasts: [],
      selection: null,
    }),
    {
      name: "redraft",
      // Transient state is left out; everything else survives a reload.
      partialize: ({ tabs, connected, goingTo, palette, dialog, toasts, selection, ...kept }) => kept,
    },
  ),
);

export function show(part: Partial<Store>): void {
  useStore.setState(part);
}

let toastCount = 0;

/** Show a message in a corner. */
export function showToast(text: string, more: Partial<Omit<Toast, "id" | "text">> = {}): void {
  toastCount += 1;
  const toast: Toast = { id: toastCount, text, tone: "plain", ...more };
  useStore.setState(({ toasts }) => ({ toasts: [...toasts.slice(-3), toast] }));
}

export function dismissToast(id: number): void {
  useStore.setState(({ toasts }) => ({ toasts: toasts.filter((toast) => toast.id !== id) }));
}

/** A turn is being undone: remove the messages about it. */
export function dismissToastsOf(turn: number): void {
  useStore.setState(({ toasts }) => ({ toasts: toasts.filter((toast) => toast.turn !== turn) }));
}
