/**
 * Open, close, save, create, move and delete documents: shared by the tree, the tabs, the palette and the search.
 * Each change is a turn of the person's, which a toast offers to undo.
 */

import { errorMessage, Failure, server, UNREACHABLE, unwrap } from "@/api/client";
import { client, refetch, refresh, tabsQuery } from "@/api/queries";
import { callTool } from "@/api/tools";
import { waitForDelivery } from "@/live/delivery";
import { followMoves } from "./documentMoves";
import { isNarrow } from "./narrow";
import { dismissToastsOf, type Place, show, showToast, useStore } from "./store";
import { focusWhenShown } from "./textFocus";

const SECRET = "secret";
const NOT_TEXT = 415;
const PICTURE = /\.(png|jpe?g|gif|webp|avif)$/i;

/** Whether a file is a picture, by its name. */
export function isPicture(path: string): boolean {
  return PICTURE.test(path);
}

/** Run something and report errors; returns whether it succeeded. */
export async function attempt(act: () => Promise<unknown>): Promise<boolean> {
  try {
    await act();
    return true;
  } catch (error) {
    showToast(errorMessage(error), { tone: "bad" });
    return false;
  }
}

/** How often the person has chosen a document to see. */
let choices = 0;

/** Show a document that has a tab. */
export function showTab(path: string): void {
  choices += 1;
  show({ active: path });
}

/**
 * Open a document and show it, unless the person has chosen another one by then. A picture is shown, and of any other
 * file that is not text it is said what it is. Without `focus` whoever types elsewhere goes on there.
 */
export function openDocument(path: string, place?: Omit<Place, "path">, focus = true): Promise<boolean> {
  choices += 1;
  if (isPicture(path)) {
    show({ dialog: { kind: "file", path } });
    return Promise.resolve(true);
  }
  const choice = choices;
  return attempt(async () => {
    try {
      await unwrap(server.POST("/api/tabs", { body: { path } }));
    } catch (error) {
      if (error instanceof Failure && error.status === NOT_TEXT) {
        show({ dialog: { kind: "file", path } });
        return;
      }
      if (!(error instanceof Failure && error.code === SECRET) || !(await isAtHome())) throw error;
      show({ dialog: { kind: "secret", path, ...(place && { place }) } });
      return;
    }
    await refetch({ queryKey: tabsQuery.queryKey });
    const { order } = useStore.getState();
    show({ order: order.includes(path) ? order : [...order, path] });
    if (choice !== choices) return;
    show({
      active: path,
      goingTo: place ? { path, ...place } : null,
      // The document would be under the panel from which it was opened.
      ...(isNarrow() && { side: null, agentOpen: false }),
    });
    if (focus) focusWhenShown(path);
  });
}

/** Whether the person is the folder's owner at their own machine, who can open what nobody else may see. */
async function isAtHome(): Promise<boolean> {
  return (await unwrap(server.GET("/api/workspace"))).caller.at_home;
}

/** Close a tab; one with unsaved typing asks first. */
export async function closeDocument(tabId: string, path: string, discard = false): Promise<void> {
  try {
    await waitForDelivery([path]); // the server cannot ask about what it does not have
    await unwrap(server.DELETE("/api/tabs/{tab_id}", { params: { path: { tab_id: tabId }, query: { discard } } }));
    removeFromWindow(path);
    refresh("tabs");
  } catch (error) {
    if (error instanceof Failure && error.status === 409) show({ dialog: { kind: "close", tabId, path } });
    else showToast(errorMessage(error), { tone: "bad" });
  }
}

/** Remove a document from this window, and show its neighbour. */
export function removeFromWindow(path: string): void {
  const { order, active, tabs } = useStore.getState();
  const { [path]: _, ...others } = tabs;
  const at = order.indexOf(path);
  const left = order.filter((other) => other !== path);
  show({ order: left, tabs: others, active: active === path ? (left[Math.min(at, left.length - 1)] ?? null) : active });
}

/** Save a document: first wait until the server has what was typed. */
export function saveDocument(tabId: string, path: string): Promise<boolean> {
  return attempt(async () => {
    if (!(await waitForDelivery([path]))) {
      const next = "What you typed is kept in this browser. Save again when it is back.";
      throw new Failure("The server cannot be reached.", UNREACHABLE, 0, next);
    }
    try {
      await unwrap(server.POST("/api/tabs/{tab_id}/save", { params: { path: { tab_id: tabId } } }));
    } catch (error) {
      if (error instanceof Failure && error.code === "conflict" && (await offerConflict(path, error))) return;
      throw error;
    }
    refresh("tabs", "turn");
  });
}

/** Report a conflict that prevents saving, with a link to it; returns whether there is one. */
async function offerConflict(path: string, error: Failure): Promise<boolean> {
  const { documents } = await unwrap(server.GET("/api/review", { params: { query: { path } } }));
  const hunk = documents.flatMap(({ hunks }) => hunks).find(({ conflict }) => conflict);
  if (!hunk) return false;
  const place = { path, line: hunk.working_start_line, column: hunk.working_column };
  const run = () => show({ active: path, goingTo: place });
  showToast(errorMessage(error), { tone: "bad", action: { label: "Go to the conflict", run } });
  return true;
}

/** Undo a turn, and report the outcome; returns the turn that did it, or null if that was impossible. */
export async function undoTurn(turn: number): Promise<number | null> {
  dismissToastsOf(turn);
  try {
    const done = await unwrap(server.POST("/api/turns/undo", { body: { turn } }));
    const clash = done.conflicts[0];
    if (clash) showToast(`${clash.path}: ${clash.reason}`, { tone: "bad" });
    refresh("turn", "document");
    return done.turn?.turn ?? null;
  } catch (error) {
    showToast(errorMessage(error), { tone: "bad" });
    return null;
  }
}

function offerUndo(text: string, turn: number | null | undefined, after: () => void = () => undefined): void {
  const back = (number: number) => ({
    action: { label: "Undo", run: () => void undoTurn(number).then((turn) => turn !== null && after()) },
    turn: number,
  });
  showToast(text, turn === null || turn === undefined ? {} : back(turn));
}

export function moveDocument(path: string, to: string): Promise<boolean> {
  return attempt(async () => {
    await waitForDelivery([path]); // unsent typing moves along
    const done = await unwrap(server.POST("/api/documents/move", { body: { path, to } }));
    followMoves(new Map([[path, done.path]]));
    refresh("turn", "tabs", "tree");
    offerUndo(`Moved ${path} to ${done.path}.`, done.turn?.turn, () => followMoves(new Map([[done.path, path]])));
  });
}

/** A document is in the trash: close its tab. */
export async function closeTrashed(path: string): Promise<void> {
  const tab = client.getQueryData(tabsQuery.queryKey)?.find((one) => one.path === path);
  if (tab) await unwrap(server.DELETE("/api/tabs/{tab_id}", { params: { path: { tab_id: tab.tab_id } } }));
  removeFromWindow(path);
  refresh("turn", "tabs", "tree");
}

export function trashDocument(path: string): Promise<boolean> {
  return attempt(async () => {
    await waitForDelivery([path]); // what was typed goes to the trash with it, and is restored with it
    const done = await unwrap(server.DELETE("/api/documents", { params: { query: { path } } }));
    await closeTrashed(path);
    offerUndo(`Moved ${path} to the trash.`, done.turn?.turn);
  });
}

export function createDocument(path: string, template: string): Promise<boolean> {
  return attempt(async () => {
    if (template) await callTool("create_document", { path, template }, true);
    else await unwrap(server.POST("/api/documents", { body: { path, content: "" } }));
    refresh("turn", "tree");
    await openDocument(path);
  });
}
