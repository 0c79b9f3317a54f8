/** Opening, closing and saving documents: what the tree, the tabs, the palette and the search all do. */

import { Failure, sentenceOf, server, told, UNREACHABLE } from "@/api/client";
import { askAnew, refresh, tabsQuery } from "@/api/queries";
import { allArrived } from "@/live/arriving";
import { isNarrow } from "./narrow";
import { type Place, say, show, useStore } from "./store";

/** Do something and say what went wrong; true where it went well. */
export async function attempt(act: () => Promise<unknown>): Promise<boolean> {
  try {
    await act();
    return true;
  } catch (error) {
    say(sentenceOf(error), { tone: "bad" });
    return false;
  }
}

export function open(path: string, place?: Omit<Place, "path">): Promise<boolean> {
  return attempt(async () => {
    await told(server.POST("/api/tabs", { body: { path } }));
    await askAnew({ queryKey: tabsQuery.queryKey });
    const { order } = useStore.getState();
    show({
      active: path,
      order: order.includes(path) ? order : [...order, path],
      goingTo: place ? { path, ...place } : null,
      // What was asked for would lie under the panel that it was asked from.
      ...(isNarrow() && { side: null, agentOpen: false }),
    });
  });
}

/** Close a tab; one with unsaved typing asks first. */
export async function close(tabId: string, path: string, discard = false): Promise<void> {
  try {
    await allArrived([path]); // what is not at the server is nothing that it could ask about
    await told(server.DELETE("/api/tabs/{tab_id}", { params: { path: { tab_id: tabId }, query: { discard } } }));
    leave(path);
    refresh("tabs");
  } catch (error) {
    if (error instanceof Failure && error.status === 409) show({ dialog: { kind: "close", tabId, path } });
    else say(sentenceOf(error), { tone: "bad" });
  }
}

/** Take a document out of this window, and put its neighbour in front. */
export function leave(path: string): void {
  const { order, active, tabs } = useStore.getState();
  const { [path]: _, ...others } = tabs;
  const at = order.indexOf(path);
  const left = order.filter((other) => other !== path);
  show({ order: left, tabs: others, active: active === path ? (left[Math.min(at, left.length - 1)] ?? null) : active });
}

/** Save a document: first what was typed has to be at the server. */
export function save(tabId: string, path: string): Promise<boolean> {
  return attempt(async () => {
    if (!(await allArrived([path]))) {
      const next = "What you typed is kept here; save when it is back.";
      throw new Failure("The server cannot be reached.", UNREACHABLE, 0, next);
    }
    await told(server.POST("/api/tabs/{tab_id}/save", { params: { path: { tab_id: tabId } } }));
    refresh("tabs", "turn");
  });
}
