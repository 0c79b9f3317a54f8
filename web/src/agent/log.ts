/** A job's events, in their order, and what they come to.
 *
 * Events may arrive twice and out of order: by the stream, by asking, and again after a lost connection. Each has a
 * cursor, so the log is the same whatever way they came. The words of a step as they are spoken have none and are not
 * kept by the server; they count only until the whole words arrive.
 */

import { type JobView, NEW_JOB, seen } from "./view";

export interface Told {
  cursor: number;
  type: string;
  ts: string;
  data: Record<string, unknown>;
}

export interface JobLog {
  /** By cursor, each once. */
  events: readonly Told[];
  view: JobView;
  /** What is being said right now. */
  speaking: string;
  /** Whether the beginning of it was missed. */
  partial: boolean;
}

export const SILENT: JobLog = { events: [], view: NEW_JOB, speaking: "", partial: false };

const DELTA = "assistant.delta";
/** The server shortens long words in its events. */
const SHORTENED = /^([\s\S]*)… \(\d+ characters\)$/;

export function cursorOf(log: JobLog): number {
  return log.events.at(-1)?.cursor ?? 0;
}

export function heard(log: JobLog, event: Told): JobLog {
  return event.type === DELTA ? spoken(log, event) : kept(log, event);
}

export function heardAll(log: JobLog, events: readonly Told[]): JobLog {
  return events.reduce(heard, log);
}

/** The connection was lost and is there again: what was said in between will not be repeated. */
export function rejoined(log: JobLog): JobLog {
  return log.view.thinking ? { ...log, partial: true } : log;
}

function spoken(log: JobLog, event: Told): JobLog {
  const text = event.data.text;
  // A piece that was overtaken by the end of its step says nothing new.
  if (typeof text !== "string" || !log.view.thinking || event.cursor < log.view.stepCursor) return log;
  return { ...log, speaking: log.speaking + text };
}

function kept(log: JobLog, event: Told): JobLog {
  const last = cursorOf(log);
  const whole = event.type === "assistant.message" ? wholeWords(log, event) : event;
  if (whole.cursor > last) {
    const view = seen(log.view, whole);
    // Between the end of a step and its whole words, what was heard of them goes on being shown.
    const still = event.type === "step.completed" || (view.thinking && log.view.thinking);
    const heardSoFar = still ? { speaking: log.speaking, partial: log.partial } : { speaking: "", partial: false };
    return { events: [...log.events, whole], view, ...heardSoFar };
  }
  if (log.events.some((known) => known.cursor === whole.cursor)) return log;
  const events = [...log.events, whole].sort((one, other) => one.cursor - other.cursor);
  const view = events.reduce(seen, NEW_JOB);
  return { ...log, events, view, speaking: view.thinking ? log.speaking : "" };
}

/** The event with all its words, where we heard them as they were spoken. */
function wholeWords(log: JobLog, event: Told): Told {
  const text = String(event.data.text ?? "");
  const beginning = SHORTENED.exec(text)?.[1];
  if (beginning === undefined || log.partial || !log.speaking.startsWith(beginning)) return event;
  return { ...event, data: { ...event.data, text: log.speaking } };
}
