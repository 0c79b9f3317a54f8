import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { errorMessage } from "@/api/client";
import { HunkLines } from "./HunkLines";
import css from "./history.module.css";
import { linesOf } from "./patch";
import { describeStep, planQuery } from "./planned";

/** What undo or restore would do, said before it is done: each document, and its diff on request. */
export function Planned({ turn, act }: { turn: number; act: "undo" | "restore" }): ReactNode {
  const { data, error } = useQuery(planQuery(turn, act));
  const verb = act === "undo" ? "Undo" : "Restore";
  if (error) return <p className={css.planned}>{`${verb} is not possible: ${errorMessage(error)}`}</p>;
  if (!data) return <p className={css.planned}>Looking at what this would do…</p>;
  if (data.conflicts.length > 0) {
    return (
      <div className={css.planned}>
        <p>{verb} would change nothing, because:</p>
        <ul>
          {data.conflicts.map(({ path, reason }) => (
            <li key={`${path} ${reason}`}>{path ? `${path}: ${reason}` : reason}</li>
          ))}
        </ul>
      </div>
    );
  }
  if (data.files.length === 0) return <p className={css.planned}>{verb} would change no document.</p>;
  return (
    <div className={css.planned}>
      <p>{verb} will do this, as a turn of its own:</p>
      <ul>
        {data.files.map((step) => (
          <li key={step.path}>
            {step.patch ? (
              <details>
                <summary>{describeStep(step)}</summary>
                <HunkLines lines={linesOf(step.patch)} />
              </details>
            ) : (
              describeStep(step)
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}
