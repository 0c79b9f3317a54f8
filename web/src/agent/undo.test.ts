import { expect, test } from "vitest";
import type { Schemas } from "@/api/client";
import { describeFate, findStandingTurn, findTurnToUndo } from "./undo";

type Turn = Schemas["TurnResponse"];
const turn = (number: number, kind: string, state: string, source: number | null = null): Turn =>
  ({ turn: number, kind, state, source, paths: [], title: "" }) as unknown as Turn;

test("what stands of a job is its own turn, or the one that accepted it", () => {
  expect(findStandingTurn([turn(1, "edit", "applied")], 1)?.turn).toBe(1);
  expect(findStandingTurn([turn(2, "accept", "applied", 1), turn(1, "propose", "applied")], 1)?.turn).toBe(2);
  expect(findStandingTurn([turn(1, "propose", "proposed")], 1)).toBeUndefined();
  expect(findStandingTurn([turn(2, "undo", "applied", 1), turn(1, "edit", "undone")], 1)).toBeUndefined();
});

test("one decision is taken back alone, several with the turn that they are about", () => {
  const own = turn(1, "propose", "applied");
  expect(findTurnToUndo([turn(2, "accept", "applied", 1), own], 1)).toBe(2);
  expect(findTurnToUndo([turn(3, "accept", "applied", 1), turn(2, "accept", "applied", 1), own], 1)).toBe(1);
  expect(findTurnToUndo([turn(3, "reject", "applied", 1), turn(2, "accept", "applied", 1), own], 1)).toBe(1);
  expect(findTurnToUndo([turn(3, "accept", "applied", 1), turn(2, "accept", "undone", 1), own], 1)).toBe(3);
  expect(findTurnToUndo([turn(2, "reject", "applied", 1), turn(1, "propose", "discarded")], 1)).toBeUndefined();
});

test("the fate of a turn is told in a word", () => {
  const proposal = (state: string) => turn(1, "propose", state);
  expect(describeFate([turn(2, "accept", "applied", 1), proposal("applied")], 1)).toBe("accepted");
  expect(describeFate([turn(3, "reject", "applied", 1), turn(2, "accept", "applied", 1), proposal("applied")], 1)).toBe(
    "partly accepted",
  );
  expect(describeFate([turn(2, "reject", "applied", 1), proposal("discarded")], 1)).toBe("rejected");
  expect(describeFate([turn(1, "edit", "applied")], 1)).toBe("applied");
  expect(describeFate([turn(1, "edit", "undone")], 1)).toBe("undone");
  expect(describeFate([turn(3, "undo", "applied", 1), turn(2, "accept", "applied", 1), proposal("undone")], 1)).toBe(
    "undone",
  );
});
