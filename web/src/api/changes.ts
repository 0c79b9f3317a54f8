/**
 * Listens to what changes on the server, for as long as the page is open, and says whether the server is there.
 *
 * A browser keeps few connections to one server. So of all windows one listens and tells the others; when it is closed,
 * the next one takes its place.
 */

import { useStore } from "@/state/store";
import { CHANGE_KINDS, refresh } from "./queries";

const NAME = "redraft changes";
const PAUSE_MS = 1000;

/** What the listening window tells: a change, or whether the server is there. */
type News = { kind: string } | { connected: boolean };

/** Begin to listen; the answer ends it. */
export function listenForChanges(): () => void {
  const others = new BroadcastChannel(NAME);
  const ended = new AbortController();
  const told = (news: News) => {
    applyNews(news);
    others.postMessage(news);
  };
  others.onmessage = ({ data }: MessageEvent<News>) => applyNews(data);
  const lead = () => new Promise<void>((resolve) => openStream(told, ended.signal, resolve));
  const succeed = () => {
    // Between the window that is gone and this one nobody listened.
    told({ kind: "all" });
    return lead();
  };
  // Without locks (a page that came over plain HTTP from elsewhere) every window listens for itself.
  if (!navigator.locks) void lead();
  else void queue(lead, succeed, ended.signal).catch(() => undefined);
  return () => {
    ended.abort();
    others.close();
  };
}

/** Listen at once where nobody does, else when one's turn comes. */
async function queue(lead: () => Promise<void>, succeed: () => Promise<void>, signal: AbortSignal): Promise<void> {
  const isFirst = await navigator.locks.request(NAME, { ifAvailable: true }, (lock) => lock && lead().then(() => true));
  if (!isFirst) await navigator.locks.request(NAME, { signal }, succeed);
}

function applyNews(news: News): void {
  if ("kind" in news) {
    refresh(news.kind);
    return;
  }
  // Whatever was missed while nobody listened is asked for once.
  if (news.connected && !useStore.getState().connected) refresh("all");
  useStore.setState({ connected: news.connected });
}

/** Listen until the signal; the browser itself connects anew, from the event it saw last. */
function openStream(told: (news: News) => void, signal: AbortSignal, done: () => void): void {
  const source = new EventSource("/api/changes/stream");
  source.onopen = () => told({ connected: true });
  for (const kind of CHANGE_KINDS) source.addEventListener(kind, () => told({ kind }));
  source.onerror = () => {
    told({ connected: false });
    if (source.readyState !== EventSource.CLOSED || signal.aborted) return;
    setTimeout(() => (signal.aborted ? done() : openStream(told, signal, done)), PAUSE_MS);
  };
  signal.addEventListener("abort", () => {
    source.close();
    done();
  });
}
