/**
 * Tells the server which document is in front of the person, and what they have selected in it: that is what "this
 * document" means to every agent. Of several windows the one that was used last tells it.
 */

import { server } from "@/api/client";

const NAME = "redraft window used";

export interface Front {
  tabId: string;
  selection: { startLine: number; endLine: number; text: string } | null;
}

let front: Front | null = null;
let lastUsed = true;
let lastReport = "";
let reporting: Promise<void> = Promise.resolve();
let others: BroadcastChannel | null = null;

/** Begin to notice when this window is used; the answer ends it. */
export function watchWindowUse(): () => void {
  const channel = new BroadcastChannel(NAME);
  others = channel;
  channel.onmessage = () => {
    lastUsed = false;
  };
  const used = ({ target }: Event) => {
    // A window of another browser may have been used since, and cannot say so here.
    if (target === window) lastReport = "";
    if (!lastUsed || lastReport === "") void bringToFront();
  };
  const events = ["focus", "pointerdown", "keydown"] as const;
  for (const event of events) window.addEventListener(event, used, { capture: true });
  channel.postMessage("used");
  return () => {
    for (const event of events) window.removeEventListener(event, used, { capture: true });
    channel.close();
    others = null;
  };
}

/** The document in front of this window is another one, or what is selected in it. */
export function setFront(next: Front | null): void {
  front = next;
  if (lastUsed) void reportFront();
}

/** Make this window the one that counts; it has been told when this is done. */
export async function bringToFront(): Promise<void> {
  if (!lastUsed) lastReport = "";
  lastUsed = true;
  others?.postMessage("used");
  await reportFront();
}

/** One request at a time, so that the last one holds. A server that is away is told when the window is used again. */
function reportFront(): Promise<void> {
  reporting = reporting.then(async () => {
    const now = JSON.stringify(front);
    if (!front || now === lastReport) return;
    const { tabId, selection } = front;
    const chosen = selection && {
      start_line: selection.startLine,
      end_line: selection.endLine,
      text: selection.text,
    };
    try {
      const { response } = await server.PUT("/api/tabs/front", { body: { tab_id: tabId, selection: chosen } });
      if (response.ok) lastReport = now;
    } catch {
      lastReport = "";
    }
  });
  return reporting;
}
