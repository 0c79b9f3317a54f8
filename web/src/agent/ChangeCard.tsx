import { useQuery } from "@tanstack/react-query";
import { Sparkles } from "lucide-react";
import { type ReactNode, useState } from "react";
import { reviewQuery, turnsQuery } from "@/api/queries";
import { listOpenHunks } from "@/review/reviewText";
import { openDocument, undoTurn } from "@/state/documents";
import { show } from "@/state/store";
import { Button } from "@/ui/Button";
import { pluralize } from "@/ui/format";
import { decideJob } from "./actions";
import css from "./agent.module.css";
import { describeChange, listFolders } from "./descriptions";
import type { Change, JobView } from "./jobView";
import type { Session } from "./queries";
import { SaveMacro } from "./SaveMacro";
import { describeFate, findTurnToUndo } from "./undo";

const FEW = 5;

/** A job's changes, below its words: each document by kind, a link to it, and accept or reject for all of them. */
export function ChangeCard({ jobId, view, session }: { jobId: string; view: JobView; session: Session }): ReactNode {
  const [all, setAll] = useState(false);
  const [acting, setActing] = useState(false);
  const { data: turns = [] } = useQuery(turnsQuery);
  const { data: drafts } = useQuery(reviewQuery);
  const made = view.turn ?? 0;
  const undoable = findTurnToUndo(turns, made);
  const pending = view.phase === "review" || turns.some((turn) => turn.turn === made && turn.state === "proposed");
  const left = drafts?.flatMap(listOpenHunks).filter(({ turn }) => turn === made).length;
  const paths = view.changes.map(({ path }) => path);
  const decide = (accept: boolean) => decideJob({ id: jobId, session: session.session_id, turn: made, paths }, accept);
  const first = view.changes.find((change) => pending || change.action !== "deleted");
  const shown = all ? view.changes : view.changes.slice(0, FEW);
  const hidden = view.files - shown.length;
  const others = listFolders(view.changes).filter((folder) => !view.folders.includes(folder));
  const act = async (what: () => Promise<unknown>) => {
    setActing(true);
    await what();
    setActing(false);
  };
  return (
    <section className={css.card} aria-label="Changes" data-pending={pending}>
      <p className={css.cardHead}>
        <Sparkles size={15} aria-hidden /> AI completed {pluralize(view.files + view.folders.length, "action")}
        <span className={css.state}>
          {pending ? `${pluralize(left || view.hunks, "change")} to review` : describeFate(turns, made)}
        </span>
      </p>
      <ul className={css.changes}>
        <FolderLine words="Created" folders={view.folders} />
        <FolderLine words="In" folders={others} />
        {shown.map((change) => (
          <li key={change.path}>
            <ChangedDocument change={change} pending={pending} />
          </li>
        ))}
      </ul>
      {hidden > 0 && view.changes.length > FEW ? (
        <Button look="quiet" small onClick={() => setAll(true)} disabled={all}>
          … and {hidden} more
        </Button>
      ) : null}
      <div className={css.cardActs}>
        <Button small onClick={() => (first ? void openDocument(first.path) : seeTurn(made))}>
          View
        </Button>
        <Button small look="quiet" onClick={() => seeTurn(made)}>
          Diff
        </Button>
        <SaveMacro jobId={jobId} />
        {pending ? (
          <span className={css.deciding}>
            <Button small disabled={acting} onClick={() => void act(() => decide(false))}>
              Reject all
            </Button>
            <Button small look="primary" disabled={acting} onClick={() => void act(() => decide(true))}>
              Accept all
            </Button>
          </span>
        ) : null}
        {!pending && undoable !== undefined ? (
          <span className={css.deciding}>
            <Button small disabled={acting} onClick={() => void act(() => undoTurn(undoable))}>
              Undo
            </Button>
          </span>
        ) : null}
      </div>
    </section>
  );
}

function FolderLine({ words, folders }: { words: string; folders: readonly string[] }): ReactNode {
  if (folders.length === 0) return null;
  return (
    <li>
      {words} {pluralize(folders.length, "folder")}: {folders.join(", ")}
    </li>
  );
}

const seeTurn = (turn: number) => show({ dialog: { kind: "turn", turn } });

function ChangedDocument({ change, pending }: { change: Change; pending: boolean }): ReactNode {
  if (change.action === "deleted" && !pending) return <span>{describeChange(change, pending)}</span>;
  return (
    <button type="button" className={css.link} onClick={() => void openDocument(change.path)}>
      {describeChange(change, pending)}
    </button>
  );
}
