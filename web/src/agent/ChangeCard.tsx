import { useQuery } from "@tanstack/react-query";
import { Sparkles } from "lucide-react";
import { type ReactNode, useState } from "react";
import { turnsQuery } from "@/api/queries";
import { undo } from "@/state/changing";
import { open } from "@/state/documents";
import { show } from "@/state/store";
import { Button } from "@/ui/Button";
import { decide } from "./acts";
import css from "./agent.module.css";
import type { Session } from "./queries";
import { SaveMacro } from "./SaveMacro";
import { fateOf, standing } from "./undoing";
import type { Change, JobView } from "./view";
import { changeOf, counted, foldersIn } from "./words";

const FEW = 5;

/** What a job changed, under its words: each document by kind, the way to see it, and to take all of it or none. */
export function ChangeCard({ jobId, view, session }: { jobId: string; view: JobView; session: Session }): ReactNode {
  const [all, setAll] = useState(false);
  const [acting, setActing] = useState(false);
  const { data: turns = [] } = useQuery(turnsQuery);
  const made = view.turn ?? 0;
  const applied = standing(turns, made);
  const pending = view.phase === "review" || turns.some((turn) => turn.turn === made && turn.state === "proposed");
  const decided = (accept: boolean) => decide({ id: jobId, session: session.session_id, turn: made }, accept);
  const first = view.changes.find((change) => change.action !== "deleted");
  const shown = all ? view.changes : view.changes.slice(0, FEW);
  const hidden = view.files - shown.length;
  const folders = foldersIn(view.changes);
  const act = async (what: () => Promise<unknown>) => {
    setActing(true);
    await what();
    setActing(false);
  };
  return (
    <section className={css.card} aria-label="Changes" data-pending={pending}>
      <p className={css.cardHead}>
        <Sparkles size={15} aria-hidden /> AI completed {counted(view.files, "action")}
        <span className={css.state}>{pending ? `${counted(view.hunks, "hunk")} to review` : fateOf(turns, made)}</span>
      </p>
      <ul className={css.changes}>
        {folders.length ? (
          <li>
            Into {counted(folders.length, "folder")}: {folders.join(", ")}
          </li>
        ) : null}
        {shown.map((change) => (
          <li key={change.path}>
            <ChangedDocument change={change} />
          </li>
        ))}
      </ul>
      {hidden > 0 && view.changes.length > FEW ? (
        <Button look="quiet" small onClick={() => setAll(true)} disabled={all}>
          … and {hidden} more
        </Button>
      ) : null}
      <div className={css.cardActs}>
        <Button small onClick={() => (first ? void open(first.path) : seeTurn(made))}>
          View
        </Button>
        <Button small look="quiet" onClick={() => seeTurn(made)}>
          Diff
        </Button>
        <SaveMacro jobId={jobId} />
        {pending ? (
          <span className={css.deciding}>
            <Button small disabled={acting} onClick={() => void act(() => decided(false))}>
              Reject all
            </Button>
            <Button small look="primary" disabled={acting} onClick={() => void act(() => decided(true))}>
              Accept all
            </Button>
          </span>
        ) : null}
        {!pending && applied ? (
          <span className={css.deciding}>
            <Button small disabled={acting} onClick={() => void act(() => undo(applied.turn))}>
              Undo
            </Button>
          </span>
        ) : null}
      </div>
    </section>
  );
}

const seeTurn = (turn: number) => show({ dialog: { kind: "turn", turn } });

function ChangedDocument({ change }: { change: Change }): ReactNode {
  if (change.action === "deleted") return <span>{changeOf(change)}</span>;
  return (
    <button type="button" className={css.link} onClick={() => void open(change.path)}>
      {changeOf(change)}
    </button>
  );
}
