/** Creating, moving and deleting documents: each a turn of the person's, which a toast offers to take back. */

import { sentenceOf, server, told } from "@/api/client";
import { client, refresh, tabsQuery } from "@/api/queries";
import { call } from "@/api/tools";
import { allArrived } from "@/live/arriving";
import { attempt, leave, open } from "./documents";
import { follow } from "./moving";
import { say } from "./store";

/** Take a turn back, and say how that went; gives the turn that did it, null where it could not be. */
export async function undo(turn: number): Promise<number | null> {
  try {
    const done = await told(server.POST("/api/turns/undo", { body: { turn } }));
    const clash = done.conflicts[0];
    if (clash) say(`${clash.path}: ${clash.reason}`, { tone: "bad" });
    refresh("turn", "document");
    return done.turn?.turn ?? null;
  } catch (error) {
    say(sentenceOf(error), { tone: "bad" });
    return null;
  }
}

function offer(text: string, turn: number | null | undefined, after: () => void = () => undefined): void {
  const back = (number: number) => ({
    action: { label: "Undo", run: () => void undo(number).then((turn) => turn !== null && after()) },
  });
  say(text, turn === null || turn === undefined ? {} : back(turn));
}

export function moved(path: string, to: string): Promise<boolean> {
  return attempt(async () => {
    await allArrived([path]); // what was typed goes along
    const done = await told(server.POST("/api/documents/move", { body: { path, to } }));
    follow(new Map([[path, done.path]]));
    refresh("turn", "tabs", "tree");
    offer(`${path} is now ${done.path}.`, done.turn?.turn, () => follow(new Map([[done.path, path]])));
  });
}

export function trashed(path: string): Promise<boolean> {
  return attempt(async () => {
    await allArrived([path]); // what was typed is in the trash with it, and comes back with it
    const done = await told(server.DELETE("/api/documents", { params: { query: { path } } }));
    const tab = client.getQueryData(tabsQuery.queryKey)?.find((one) => one.path === path);
    if (tab) await told(server.DELETE("/api/tabs/{tab_id}", { params: { path: { tab_id: tab.tab_id } } }));
    leave(path);
    refresh("turn", "tabs", "tree");
    offer(`${path} is in the trash.`, done.turn?.turn);
  });
}

export function created(path: string, template: string): Promise<boolean> {
  return attempt(async () => {
    if (template) await call("create_document", { path, template }, true);
    else await told(server.POST("/api/documents", { body: { path, content: "" } }));
    refresh("turn", "tree");
    await open(path);
  });
}
