/**
 * Tells the server which document is in front of the person, and their selection in it: that is what "this document"
 * means to every agent. Of several windows, the last one used reports it.
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

/** Start to notice when this window is used; returns the function that stops it. */
export function watchWindowUse(): () => void {
  const channel = new BroadcastChannel(NAME);
  others = channel;
  channel.onmessage = () => {
    lastUsed = false;
  };
  const noteUse = ({ target }: Event) => {
    // A window of another browser may have been used since, and cannot say so here.
    if (target === window) lastReport = "";
    if (!lastUsed || lastReport === "") void bringToFront();
  };
  const events = ["focus", "pointerdown", "keydown"] as const;
  for (const event of events) window.addEventListener(event, noteUse, { capture: true });
  channel.postMessage("used");
  return () => {
    for (const event of events) window.removeEventListener(event, noteUse, { capture: true });
    channel.close();
    others = null;
  };
}

/** The document in front of this window, or its selection, has changed. */
export function setFront(next: Front | null): void {
  front = next;
  if (lastUsed) void reportFront();
}

/** Make this window the one that counts; resolves once the server knows. */
export async function bringToFront(): Promise<void> {
  if (!lastUsed) lastReport = "";
  lastUsed = true;
  others?.postMessage("used");
  await reportFront();
}

/** One request at a time, so that the last one wins. An unreachable server is told when the window is used again. */
function reportFront(): Promise<void> {
  reporting = reporting.then(async () => {
    const now = JSON.stringify(front);
    // Another window may have been used while this waited for the answer to the report before it.
    if (!front || !lastUsed || now === lastReport) return;
    const { tabId, selection } = front;
    const chosen = selection && {
      start_line: selection.startLine,
      end_line: selection.endLine,
      text: selection.text,
    };
    lastReport = now; // before the answer: meanwhile the window may be used again, and has to report it again
    try {
      const { response } = await server.PUT("/api/tabs/front", { body: { tab_id: tabId, selection: chosen } });
      if (!response.ok) lastReport = "";
    } catch {
      lastReport = "";
    }
  });
  return reporting;
}
