import { describe, expect, test } from "vitest";
import { addEvent, addEvents, EMPTY_LOG, type JobEvent, type JobLog, lastCursor, markRejoined } from "./jobLog";

let cursor = 0;
function event(type: string, data: JobEvent["data"] = {}): JobEvent {
  cursor += 1;
  return { cursor, type, ts: "2026-01-01T00:00:00.000Z", data };
}
const delta = (at: number, text: string): JobEvent => ({ cursor: at, type: "assistant.delta", ts: "", data: { text } });

function job(): JobEvent[] {
  cursor = 0;
  return [
    event("job.queued", { mode: "propose", model: "" }),
    event("job.started", { mode: "propose" }),
    event("step.started", { step: 1, of: 10 }),
    event("step.completed", {
      provider: "scripted",
      model: "play",
      usage: { input_tokens: 900, output_tokens: 12 },
      price_usd: "0.003",
    }),
    event("assistant.message", { text: "I will." }),
    event("tool.call.requested", { tool: "edit_text", tool_call_id: "c1", arguments: "{'path': 'story.md'}" }),
    event("tool.call.completed", { tool: "edit_text", tool_call_id: "c1", ok: true, summary: "edit_text story.md" }),
    event("step.started", { step: 2, of: 10 }),
    event("step.completed", { provider: "scripted", model: "play", usage: {}, price_usd: null }),
    event("assistant.message", { text: "Done." }),
    event("edits.proposed", { files: 1, changes: [{ path: "story.md", action: "modified" }], folders: ["a"] }),
    event("checkpoint.created", { checkpoint_id: 4 }),
    event("diff.generated", { files: 1, hunks: 2 }),
  ];
}

/** A seeded shuffle, so that a failure can be reproduced. */
function shuffled<T>(items: readonly T[], seed: number): T[] {
  const left = [...items];
  let state = seed;
  return items.map(() => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return left.splice(state % left.length, 1)[0] as T;
  });
}

test("events come to what the sidebar shows", () => {
  const { view } = addEvents(EMPTY_LOG, job());
  expect(view.phase).toBe("review");
  expect(view.parts.map((part) => part.kind)).toEqual(["words", "call", "words"]);
  expect(view.spent).toEqual({ input: 900, output: 12, usd: 0.003, unpriced: 1 });
  expect([view.turn, view.hunks, view.files, view.folders, view.answeredBy]).toEqual([4, 2, 1, ["a"], "play"]);
});

test("in whatever order events arrive, and however often, the log is the same", () => {
  const events = job();
  const straight = addEvents(EMPTY_LOG, events);
  for (let seed = 1; seed <= 200; seed += 1) {
    const told = shuffled([...events, ...events.slice(seed % 13)], seed);
    const log = addEvents(EMPTY_LOG, told);
    expect(log.events).toEqual(straight.events);
    expect(log.view).toEqual(straight.view);
    expect(lastCursor(log)).toBe(13);
  }
});

test("a log that is asked for from its cursor on is the same as one heard from the start", () => {
  const events = job();
  for (let at = 0; at <= events.length; at += 1) {
    const first = addEvents(EMPTY_LOG, events.slice(0, at));
    const rest = events.filter((each) => each.cursor > lastCursor(first));
    expect(addEvents(first, rest).view).toEqual(addEvents(EMPTY_LOG, events).view);
  }
});

describe("words as they are spoken", () => {
  const begun = (): JobLog => addEvents(EMPTY_LOG, job().slice(0, 3));

  test("add up until the whole words are there", () => {
    let log = addEvents(begun(), [delta(3, "I "), delta(3, "will.")]);
    expect(log.speaking).toBe("I will.");
    log = addEvent(log, job()[3] as JobEvent);
    expect(log.speaking).toBe("I will.");
    log = addEvent(log, job()[4] as JobEvent);
    expect([log.speaking, log.view.parts]).toEqual(["", [{ kind: "words", text: "I will." }]]);
  });

  test("that come after their step are not said twice", () => {
    const log = addEvents(begun(), job().slice(3, 5));
    expect(addEvent(log, delta(3, "I will.")).speaking).toBe("");
    const next = addEvents(log, job().slice(5, 8));
    expect(addEvent(next, delta(3, "late")).speaking).toBe("");
  });

  test("of which some were missed say so", () => {
    const log = addEvent(markRejoined(begun()), delta(3, "will."));
    expect([log.partial, log.speaking]).toEqual([true, "will."]);
    expect(addEvents(log, job().slice(3, 5)).partial).toBe(false);
    expect(markRejoined(EMPTY_LOG).partial).toBe(false);
  });

  test("stay whole where the event that repeats them is shortened", () => {
    const long = "word ".repeat(600);
    const cut = { ...(job()[4] as JobEvent), data: { text: `${long.slice(0, 2000)}… (3000 characters)` } };
    const spoken = addEvents(begun(), [delta(3, long), job()[3] as JobEvent, cut]);
    expect(spoken.view.parts).toEqual([{ kind: "words", text: long }]);
    const missed = addEvents(begun(), [job()[3] as JobEvent, cut]);
    expect(missed.view.parts).toEqual([{ kind: "words", text: cut.data.text }]);
  });
});

test("a question stands until it is answered, and a cancelled job asks nothing", () => {
  cursor = 2;
  const asked = event("confirmation.requested", {
    question_id: "q_1",
    question: "?",
    kind: "confirmation",
    action: "destroy",
    tool: "delete_document",
    paths: ["a.md", "b.md"],
  });
  const waiting = addEvents(EMPTY_LOG, [...job().slice(0, 2), asked]);
  expect([waiting.view.phase, waiting.view.question?.paths]).toEqual(["waiting", ["a.md", "b.md"]]);
  cursor = 3;
  const answered = addEvent(waiting, event("confirmation.received", { question_id: "q_1", allow: true }));
  expect([answered.view.phase, answered.view.question]).toEqual(["running", null]);
  cursor = 3;
  const stopped = addEvent(waiting, event("job.cancelled", { error: "cancelled", reason: "Stopped." }));
  expect([stopped.view.phase, stopped.view.question]).toEqual(["cancelled", null]);
});

test("subagents are counted while they work, and gone when their call is answered", () => {
  const events = job().slice(0, 6);
  cursor = 6;
  const crew = event("subagents.progress", { role: "reader", done: 2, total: 8, active_subagents: 4 });
  const busy = addEvents(EMPTY_LOG, [...events, crew]);
  expect(busy.view.subagents).toEqual({ role: "reader", done: 2, total: 8, active: 4 });
  cursor = 7;
  const done = addEvent(busy, event("tool.call.completed", { tool_call_id: "c1", ok: false, error: "not_found" }));
  expect(done.view.subagents).toBeNull();
  expect(done.view.parts.at(-1)).toMatchObject({ ok: false, facts: { error: "not_found" } });
});

test("events that nobody knows change nothing", () => {
  const log = addEvents(EMPTY_LOG, job());
  cursor = 13;
  expect(addEvent(log, event("something.new", { x: 1 })).view).toEqual(log.view);
});

test("a conflict and the run that follows are told as the server reports them", () => {
  cursor = 0;
  const failed = addEvents(EMPTY_LOG, [
    event("conflict.found", { path: "story.md", base_file_hash: "x" }),
    event("job.failed", { error: "conflict", reason: "It was changed." }),
    event("rerun.started", { job_id: "job_2" }),
  ]).view;
  expect(failed.parts.map((part) => part.kind === "note" && part.text)).toEqual([
    "Conflict: story.md has changed since it was shown. Nothing was written.",
    "Started again.",
  ]);
  expect(failed.rerun).toBe("job_2");
  const again = addEvents(EMPTY_LOG, [event("job.queued", { mode: "propose", rerun_of: "job_1" })]).view;
  expect(again.parts).toEqual([{ kind: "note", text: "Running again on the documents as they are now." }]);
});
