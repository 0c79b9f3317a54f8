/** Listens to a job until it is over. The browser itself comes back with the last cursor; where it gives up, we ask. */

import { refresh } from "@/api/queries";
import { cursorOf, heardAll, rejoined, type Told } from "./log";
import { askAgain, keepLog, knownLog } from "./queries";
import { EVENT_TYPES, isOver } from "./view";

/** How often the server is asked where it cannot be listened to. */
export const ASK_MS = 2000;
/** Words come faster than they can be drawn. */
const GATHER_MS = 40;
const TELLING = new Set(["diff.generated", "job.completed", "job.failed", "job.cancelled", "rerun.started"]);

export function follow(id: string): () => void {
  let source: EventSource | undefined;
  let again: ReturnType<typeof setTimeout> | undefined;
  let drawing: ReturnType<typeof setTimeout> | undefined;
  let waiting: Told[] = [];

  const draw = () => {
    drawing = undefined;
    const told = waiting;
    waiting = [];
    keepLog(id, heardAll(knownLog(id), told));
    if (told.some((event) => TELLING.has(event.type))) refresh("job", "turn", "review", "document");
    if (isOver(knownLog(id).view.phase)) source?.close();
  };

  const begin = () => {
    let opened = false;
    source = new EventSource(
      `/api/agent/jobs/${encodeURIComponent(id)}/events/stream?cursor=${cursorOf(knownLog(id))}`,
    );
    source.onopen = () => {
      if (opened) keepLog(id, rejoined(knownLog(id)));
      opened = true;
    };
    source.onerror = () => {
      if (source?.readyState !== EventSource.CLOSED || isOver(knownLog(id).view.phase)) return;
      again = setTimeout(() => void askAgain(id).then(begin), ASK_MS);
    };
    for (const type of EVENT_TYPES) {
      source.addEventListener(type, (event) => {
        waiting.push(JSON.parse((event as MessageEvent<string>).data) as Told);
        drawing ??= setTimeout(draw, GATHER_MS);
      });
    }
  };

  begin();
  return () => {
    source?.close();
    clearTimeout(again);
    clearTimeout(drawing);
  };
}
