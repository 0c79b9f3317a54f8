/** Listens to a job until it ends. The browser reconnects with the last cursor; if it gives up, we poll. */

import { client, refresh, settingsQuery } from "@/api/queries";
import { addEvents, type JobEvent, lastCursor, markRejoined } from "./jobLog";
import { EVENT_TYPES, isOver } from "./jobView";
import { getLog, refetchLog, setLog } from "./queries";

/** How often to poll if streaming fails and the server has not set an interval. */
const ASK_MS = 2000;
/** Words arrive faster than they can be drawn. */
const GATHER_MS = 40;
const REFRESHING = new Set(["diff.generated", "job.completed", "job.failed", "job.cancelled", "rerun.started"]);

/** The jobs that are followed, each by one stream, and by how many parts of the page. */
const followed = new Map<string, { count: number; stop: () => void }>();

/** Follow a job; returns the function that ends it. */
export function followJob(id: string): () => void {
  const known = followed.get(id) ?? { count: 0, stop: openStream(id) };
  known.count += 1;
  followed.set(id, known);
  return () => {
    known.count -= 1;
    if (known.count > 0) return;
    followed.delete(id);
    known.stop();
  };
}

function openStream(id: string): () => void {
  let source: EventSource | undefined;
  let again: ReturnType<typeof setTimeout> | undefined;
  let drawing: ReturnType<typeof setTimeout> | undefined;
  let waiting: JobEvent[] = [];
  let ended = false;

  const draw = () => {
    drawing = undefined;
    const events = waiting;
    waiting = [];
    setLog(id, addEvents(getLog(id), events));
    if (events.some((event) => REFRESHING.has(event.type))) refresh("job", "turn", "review", "document");
    if (isOver(getLog(id).view.phase)) source?.close();
  };

  const begin = () => {
    let opened = false;
    source = new EventSource(
      `/api/agent/jobs/${encodeURIComponent(id)}/events/stream?cursor=${lastCursor(getLog(id))}`,
    );
    source.onopen = () => {
      if (opened) setLog(id, markRejoined(getLog(id)));
      opened = true;
    };
    source.onerror = () => {
      if (source?.readyState !== EventSource.CLOSED || isOver(getLog(id).view.phase)) return;
      void askLater();
    };
    for (const type of EVENT_TYPES) {
      source.addEventListener(type, (event) => {
        waiting.push(JSON.parse((event as MessageEvent<string>).data) as JobEvent);
        drawing ??= setTimeout(draw, GATHER_MS);
      });
    }
  };

  const askLater = async () => {
    const settings = await client.ensureQueryData(settingsQuery).catch(() => undefined);
    if (!ended)
      again = setTimeout(() => void refetchLog(id).then(() => ended || begin()), settings?.poll_interval_ms ?? ASK_MS);
  };

  begin();
  return () => {
    ended = true;
    source?.close();
    clearTimeout(again);
    clearTimeout(drawing);
  };
}
