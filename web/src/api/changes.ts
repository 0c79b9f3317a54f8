/**
 * Listens to changes on the server while the page is open, and knows whether the server is reachable.
 *
 * A browser allows few connections to one server. So only one of all windows listens and tells the others; when it is
 * closed, the next one takes over.
 */

import { useStore } from "@/state/store";
import { CHANGE_KINDS, refresh } from "./queries";

const NAME = "redraft changes";
const PAUSE_MS = 1000;

/** What the listening window sends: a change, or whether the server is reachable. */
type News = { kind: string } | { connected: boolean };

/** Start listening; returns the function that stops it. */
export function listenForChanges(): () => void {
  const others = new BroadcastChannel(NAME);
  const ended = new AbortController();
  const notify = (news: News) => {
    applyNews(news);
    others.postMessage(news);
  };
  others.onmessage = ({ data }: MessageEvent<News>) => applyNews(data);
  const lead = () => new Promise<void>((resolve) => openStream(notify, ended.signal, resolve));
  // Without locks (a page over plain HTTP from another host) every window listens itself.
  if (!navigator.locks) void lead();
  else void navigator.locks.request(NAME, { signal: ended.signal }, lead).catch(() => undefined);
  return () => {
    ended.abort();
    others.close();
  };
}

function applyNews(news: News): void {
  if ("kind" in news) {
    refresh(news.kind);
    return;
  }
  // What changed before the stream opened is not in it, and what the page has fetched by then may be older.
  if (news.connected) refresh("all");
  useStore.setState({ connected: news.connected });
}

/** Listen until aborted; the browser itself reconnects, from the last event it saw. */
function openStream(notify: (news: News) => void, signal: AbortSignal, done: () => void): void {
  const source = new EventSource("/api/changes/stream");
  source.onopen = () => notify({ connected: true });
  for (const kind of CHANGE_KINDS) source.addEventListener(kind, () => notify({ kind }));
  source.onerror = () => {
    notify({ connected: false });
    if (source.readyState !== EventSource.CLOSED || signal.aborted) return;
    setTimeout(() => (signal.aborted ? done() : openStream(notify, signal, done)), PAUSE_MS);
  };
  signal.addEventListener("abort", () => {
    source.close();
    done();
  });
}
