/**
 * What Ctrl+Z undoes and Ctrl+Y redoes, in the order in which it was done: decisions, and what was typed before,
 * between and after them.
 *
 * Typing is in the undo manager of its document. A decision knows how many of its steps are below it, in each document
 * that it is about. It counts from the moment it is made, although the server has yet to say which turn it became.
 */

import type { Session, Stretch } from "@/live/session";

export type Direction = "undo" | "redo";

export interface Decision {
  /** The turn to undo; null if there is none. */
  turn: Promise<number | null>;
  /** That turn, once it is known. */
  number: number | null;
  paths: readonly string[];
  /** How many steps of typing are below it. */
  depths: Map<Session, number>;
  /** The documents into which earlier typing may still arrive, such as that of a rich view. */
  awaited: Set<Session>;
  /** Where it changed the text itself: what was typed over there before can no longer be undone. */
  stretches: { session: Session; stretch: Stretch }[];
}

const stacks: Record<Direction, Decision[]> = { undo: [], redo: [] };
const sessions = new Map<string, Session>();
/** Whether typing has yet to arrive in the text of a session. */
const waits = new WeakMap<Session, () => boolean>();
const typings = new WeakMap<Session, number>();

/**
 * An editor shows this session: its typing goes between the decisions about its document. `isPending` says whether
 * something typed is not in the text yet.
 */
export function trackTyping(session: Session, path: string, isPending: () => boolean = () => false): void {
  const known = waits.has(session);
  sessions.set(path, session);
  waits.set(session, isPending);
  if (known) return;
  // Typing in the rich view arrives here late: that view reports it at the key itself.
  session.undo.on("stack-item-added", ({ type, origin }) => {
    if (type === "undo" && origin === session.own) noteTyping(session);
  });
}

/** How often the person has typed into a document. */
export function countTypings(path: string): number {
  const session = sessions.get(path);
  return (session && typings.get(session)) ?? 0;
}

/** The session in which this page shows a document, or did last. */
export function findSession(path: string): Session | undefined {
  return sessions.get(path);
}

/** The person types: that comes after all decisions so far, and clears the redo stack. */
export function noteTyping(session: Session): void {
  typings.set(session, (typings.get(session) ?? 0) + 1);
  for (const { awaited } of stacks.undo) if (awaited.delete(session)) session.undo.stopCapturing();
  stacks.redo = stacks.redo.filter(({ depths }) => !depths.has(session));
}

/** The person decides something. */
export function noteDecision(turn: Promise<number | null>, paths: readonly string[]): Decision {
  const decision = push("undo", { turn, paths, stretches: [] });
  for (const session of decision.depths.keys()) {
    session.undo.clear(false, true);
    // What is typed next is a separate step; what has yet to arrive joins the step before.
    if (waits.get(session)?.()) decision.awaited.add(session);
    else session.undo.stopCapturing();
  }
  stacks.redo = stacks.redo.filter((other) => !other.paths.some((path) => paths.includes(path)));
  return decision;
}

/** Everything typed before a decision is in the text by now. */
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

/** Undo or redo the last typing, unless a decision came after it: that is returned instead, once. */
export function takeStep(direction: Direction, path: string): Decision | null {
  const session = sessions.get(path);
  const decision = stacks[direction].findLast(
    ({ paths, depths }) => paths.includes(path) || (session !== undefined && depths.has(session)),
  );
  // While earlier typing still arrives, everything there came before.
  const isLast = session !== undefined && decision?.awaited.has(session);
  if (session && !isLast && stepTyping(session, direction, decision?.depths.get(session) ?? 0)) return null;
  if (decision) remove(direction, decision);
  return decision ?? null;
}

/** One step of the typing above a depth; returns whether there was one that changed anything. */
function stepTyping({ undo }: Session, direction: Direction, depth: number): boolean {
  const stack = undo[`${direction}Stack`];
  const below = stack.splice(0, depth);
  try {
    return undo[direction]() !== null;
  } finally {
    stack.unshift(...below);
  }
}

/** The last decision of all, returned once; or the one that became this turn. */
export function takeDecision(turn?: number): Decision | null {
  const decision = turn === undefined ? stacks.undo.at(-1) : stacks.undo.find(({ number }) => number === turn);
  if (decision) remove("undo", decision);
  return decision ?? null;
}

/** A decision was undone or redone by the turn that this becomes: from here it goes the other way. */
export function noteReversed(direction: Direction, decision: Decision, turn: Promise<number | null>): void {
  const { depths } = push(direction === "undo" ? "redo" : "undo", { ...decision, turn });
  for (const session of depths.keys()) session.undo.stopCapturing();
}
