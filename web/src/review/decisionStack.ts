/**
 * What Ctrl+Z takes back and Ctrl+Y brings back, in the order in which it was done: decisions, and what was typed before,
 * between and after them.
 *
 * Typing lies in the undo manager of its document. A decision knows how much of it lies below, in each document that it
 * is about. It is known from the moment in which it is made, though the server has still to say which turn it became.
 */

import type { Session, Stretch } from "@/live/session";

export type Direction = "undo" | "redo";

export interface Decision {
  /** The turn to take back; null where nothing came of it. */
  turn: Promise<number | null>;
  /** That turn, once it is known. */
  number: number | null;
  paths: readonly string[];
  /** How many steps of typing lie below it. */
  depths: Map<Session, number>;
  /** The documents of which typing from before it may still come into the text, as that of a rich view does. */
  awaited: Set<Session>;
  /** Where it changed the text, itself: what was typed over there before cannot be taken back any more. */
  stretches: { session: Session; stretch: Stretch }[];
}

const stacks: Record<Direction, Decision[]> = { undo: [], redo: [] };
const sessions = new Map<string, Session>();
const heard = new WeakSet<Session>();

/** An editor shows this session: what is typed there comes in between the decisions about its document. */
export function trackTyping(session: Session, path: string): void {
  sessions.set(path, session);
  if (heard.has(session)) return;
  heard.add(session);
  // What is typed into the rich view comes here late: that view tells at the key itself.
  session.undo.on("stack-item-added", ({ type, origin }) => {
    if (type === "undo" && origin === session.own) noteTyping(session);
  });
}

/** The session in which this page shows a document, or did last. */
export function findSession(path: string): Session | undefined {
  return sessions.get(path);
}

/** The person types: that comes after all decisions so far, and ends what could be brought back. */
export function noteTyping(session: Session): void {
  for (const decision of stacks.undo) decision.awaited.delete(session);
  stacks.redo = stacks.redo.filter(({ depths }) => !depths.has(session));
}

/** The person decides something. */
export function noteDecision(turn: Promise<number | null>, paths: readonly string[]): Decision {
  const decision = push("undo", { turn, paths, stretches: [] });
  for (const session of decision.depths.keys()) {
    session.undo.clear(false, true);
    decision.awaited.add(session);
  }
  stacks.redo = stacks.redo.filter((other) => !other.paths.some((path) => paths.includes(path)));
  return decision;
}

/** All that was typed before a decision is in the text by now. */
export function settleDepths({ depths, awaited }: Decision): void {
  for (const session of awaited) {
    session.undo.stopCapturing();
    depths.set(session, session.undo.undoStack.length);
  }
  awaited.clear();
}

function push(direction: Direction, { turn, paths, stretches }: Pick<Decision, "turn" | "paths" | "stretches">) {
  const shown = paths.flatMap((path) => sessions.get(path) ?? []);
  const depths = new Map(shown.map(({ undo }, at) => [shown[at] as Session, undo[`${direction}Stack`].length]));
  const decision: Decision = { turn, number: null, paths, depths, awaited: new Set(), stretches };
  for (const { undo } of shown) undo.stopCapturing(); // what is typed next is a step of its own
  stacks[direction].push(decision);
  void turn.then((number) => {
    decision.number = number;
    if (number === null) remove(direction, decision);
  });
  return decision;
}

function remove(direction: Direction, decision: Decision): void {
  stacks[direction] = stacks[direction].filter((other) => other !== decision);
}

/** Take back, or bring back, what was typed last, unless a decision came after it: that is handed out, once. */
export function takeStep(direction: Direction, path: string): Decision | null {
  const session = sessions.get(path);
  const decision = stacks[direction].findLast(
    ({ paths, depths }) => paths.includes(path) || (session !== undefined && depths.has(session)),
  );
  // While typing from before it still comes in, all that there is came before.
  const isLast = session !== undefined && decision?.awaited.has(session);
  if (session && !isLast && stepTyping(session, direction, decision?.depths.get(session) ?? 0)) return null;
  if (decision) remove(direction, decision);
  return decision ?? null;
}

/** One step of the typing above a depth; whether there was one that changed anything. */
function stepTyping({ undo }: Session, direction: Direction, depth: number): boolean {
  const stack = undo[`${direction}Stack`];
  const below = stack.splice(0, depth);
  try {
    return undo[direction]() !== null;
  } finally {
    stack.unshift(...below);
  }
}

/** The last decision of all, handed out once; or that which became this turn. */
export function takeDecision(turn?: number): Decision | null {
  const decision = turn === undefined ? stacks.undo.at(-1) : stacks.undo.find(({ number }) => number === turn);
  if (decision) remove("undo", decision);
  return decision ?? null;
}

/** A decision was taken back, or brought back, by the turn that this becomes: the other way it goes from here. */
export function noteReversed(direction: Direction, decision: Decision, turn: Promise<number | null>): void {
  push(direction === "undo" ? "redo" : "undo", { ...decision, turn });
}
