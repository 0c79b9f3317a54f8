import { expect, test } from "vitest";
import type { Schemas } from "@/api/client";
import { fateOf, standing } from "./undoing";

type Turn = Schemas["TurnShape"];
const turn = (number: number, kind: string, state: string, source: number | null = null): Turn =>
  ({ turn: number, kind, state, source, paths: [], title: "" }) as unknown as Turn;

test("what stands of a job is its own turn, or the one that accepted it", () => {
  expect(standing([turn(1, "edit", "applied")], 1)?.turn).toBe(1);
  expect(standing([turn(2, "accept", "applied", 1), turn(1, "propose", "applied")], 1)?.turn).toBe(2);
  expect(standing([turn(1, "propose", "proposed")], 1)).toBeUndefined();
  expect(standing([turn(2, "undo", "applied", 1), turn(1, "edit", "undone")], 1)).toBeUndefined();
});

test("the fate of a turn is told in a word", () => {
  const proposal = (state: string) => turn(1, "propose", state);
  expect(fateOf([turn(2, "accept", "applied", 1), proposal("applied")], 1)).toBe("accepted");
  expect(fateOf([turn(3, "reject", "applied", 1), turn(2, "accept", "applied", 1), proposal("applied")], 1)).toBe(
    "partly accepted",
  );
  expect(fateOf([turn(2, "reject", "applied", 1), proposal("discarded")], 1)).toBe("rejected");
  expect(fateOf([turn(1, "edit", "applied")], 1)).toBe("on disk");
  expect(fateOf([turn(1, "edit", "undone")], 1)).toBe("undone");
});
