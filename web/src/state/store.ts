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

/** The box in which the person says what the agent shall do at the cursor, or with the selection. */
export interface CursorPrompt {
  path: string;
  startLine: number;
  endLine: number;
  /** The selected text; empty at a cursor. */
  text: string;
  /** Whether the cursor is on an empty line. */
  empty: boolean;
  /** A change of the agent's that it shall make better. */
  refine?: string;
  place: () => DOMRect;
  /** Return the focus to the text. */
  back: () => void;
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
  /** What is chosen of each agent program's options. */
  agentOptions: Record<string, Record<string, string>>;
  welcomed: boolean;
  /** Agents' turns that were written at once, and which of their hunks the person has kept. */
  applied: Record<number, string[]>;
  /** The newest turn when this window last looked. */
  seenTurn: number | null;

  connected: boolean;
  /** A place that an editor should go to; the editor clears it when it is there. */
  goingTo: Place | null;
  palette: "closed" | "files" | "commands";
  dialog: Dialog | null;
  toasts: Toast[];
  prompt: CursorPrompt | null;
  /** A turn that has just arrived, whose first change in this document is to be shown, with the cursor if `focus`. */
  arrived: { path: string; turn: number; focus?: boolean } | null;
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
  | { kind: "changes" }
  | { kind: "file"; path: string }
  | { kind: "macros" }
  | { kind: "turn"; turn: number }
  | { kind: "welcome" };

export interface Toast {
  id: number;
  text: string;
  tone: "plain" | "bad";
  action?: { label: string; run: () => void };
  /** A message replaces an earlier one on the same topic. */
  topic?: string;
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
      agentOptions: {},
      welcomed: false,
      applied: {},
      seenTurn: null,
      connected: true,
      goingTo: null,
      palette: "closed",
      dialog: null,
      toasts: [],
      prompt: null,
      arrived: null,
      selection: null,
    }),
    {
      name: "redraft",
      // Transient state is left out; everything else survives a reload.
      partialize: ({ tabs, connected, goingTo, palette, dialog, toasts, prompt, arrived, selection, ...kept }) => kept,
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
  const { topic } = toast;
  useStore.setState(({ toasts }) => {
    const others = topic === undefined ? toasts : toasts.filter((other) => other.topic !== topic);
    return { toasts: [...others.slice(-3), toast] };
  });
}

export function dismissToast(id: number): void {
  useStore.setState(({ toasts }) => ({ toasts: toasts.filter((toast) => toast.id !== id) }));
}

/** A turn is being undone: remove the messages about it. */
export function dismissToastsOf(turn: number): void {
  useStore.setState(({ toasts }) => ({ toasts: toasts.filter((toast) => toast.turn !== turn) }));
}
