/** A job's events in order, and their combined state.
 *
 * Events may arrive twice and out of order: from the stream, from a request, and again after a lost connection. Each
 * has a cursor, so the log is the same however they arrive. The words of a step while they are streamed have no cursor
 * and are not stored by the server; they count only until the whole message arrives.
 */

import { applyEvent, type JobView, NEW_JOB } from "./jobView";

export interface JobEvent {
  cursor: number;
  type: string;
  ts: string;
  data: Record<string, unknown>;
}

export interface JobLog {
  /** By cursor, each once. */
  events: readonly JobEvent[];
  view: JobView;
  /** What the model is saying right now. */
  speaking: string;
  /** Whether its beginning was missed. */
  partial: boolean;
}

export const EMPTY_LOG: JobLog = { events: [], view: NEW_JOB, speaking: "", partial: false };

const DELTA = "assistant.delta";
/** The server shortens long texts in its events. */
const SHORTENED = /^([\s\S]*)… \(\d+ characters\)$/;

export function lastCursor(log: JobLog): number {
  return log.events.at(-1)?.cursor ?? 0;
}

export function addEvent(log: JobLog, event: JobEvent): JobLog {
  return event.type === DELTA ? addDelta(log, event) : addRecorded(log, event);
}

export function addEvents(log: JobLog, events: readonly JobEvent[]): JobLog {
  return events.reduce(addEvent, log);
}

/** The connection was lost and is back: what was streamed in between will not be repeated. */
export function markRejoined(log: JobLog): JobLog {
  return log.view.thinking ? { ...log, partial: true } : log;
}

function addDelta(log: JobLog, event: JobEvent): JobLog {
  const text = event.data.text;
  // A delta that arrives after the end of its step is obsolete.
  if (typeof text !== "string" || !log.view.thinking || event.cursor < log.view.stepCursor) return log;
  return { ...log, speaking: log.speaking + text };
}

function addRecorded(log: JobLog, event: JobEvent): JobLog {
  const last = lastCursor(log);
  const whole = event.type === "assistant.message" ? restoreWords(log, event) : event;
  if (whole.cursor > last) {
    const view = applyEvent(log.view, whole);
    // Between the end of a step and its whole message, keep showing the streamed words.
    const still =
      event.type === "step.completed" || (view.thinking && log.view.thinking && event.type !== "assistant.message");
    const heardSoFar = still ? { speaking: log.speaking, partial: log.partial } : { speaking: "", partial: false };
    return { events: [...log.events, whole], view, ...heardSoFar };
  }
  if (log.events.some((known) => known.cursor === whole.cursor)) return log;
  const events = [...log.events, whole].sort((one, other) => one.cursor - other.cursor);
  const view = events.reduce(applyEvent, NEW_JOB);
  return { ...log, events, view, speaking: view.thinking ? log.speaking : "" };
}

/** The event with its full text, if we received all of it while it was streamed. */
function restoreWords(log: JobLog, event: JobEvent): JobEvent {
  const text = String(event.data.text ?? "");
  const beginning = SHORTENED.exec(text)?.[1];
  if (beginning === undefined || log.partial || !log.speaking.startsWith(beginning)) return event;
  return { ...event, data: { ...event.data, text: log.speaking } };
}
