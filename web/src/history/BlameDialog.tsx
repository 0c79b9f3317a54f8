import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { errorMessage } from "@/api/client";
import { show } from "@/state/store";
import { Button } from "@/ui/Button";
import { formatAge } from "@/ui/format";
import { Modal } from "@/ui/Modal";
import { Empty } from "@/ui/Small";
import { type BlamedLines, blameQuery, groupBlame } from "./blame";
import css from "./history.module.css";
import { authorOf } from "./turns";

/** Who wrote which line: the document as it is, and beside each passage the turn that it comes from. */
export function BlameDialog({ path, onClose }: { path: string; onClose: () => void }): ReactNode {
  const { data, error, refetch } = useQuery(blameQuery(path));
  return (
    <Modal
      title={`Who wrote each line of ${path}`}
      wide
      onClose={onClose}
      acts={<Button onClick={onClose}>Close</Button>}
    >
      <div className={css.sheet}>
        {error ? (
          <Empty>
            {errorMessage(error)} <Button onClick={() => void refetch()}>Retry</Button>
          </Empty>
        ) : null}
        {data && data.blame.length === 0 ? <Empty>This document is empty.</Empty> : null}
        {data ? groupBlame(data).map((passage) => <Passage key={passage.start} passage={passage} />) : null}
      </div>
    </Modal>
  );
}

function Passage({ passage: { turn, start, text } }: { passage: BlamedLines }): ReactNode {
  return (
    <section className={css.passage} data-author={turn?.author.kind} aria-label={`From line ${start}`}>
      {turn ? (
        <button
          type="button"
          className={css.writer}
          onClick={() => show({ dialog: { kind: "turn", turn: turn.turn } })}
        >
          <b>{authorOf(turn)}</b> · {formatAge(new Date(turn.created_at))}
          <span className={css.turnMeta}>{turn.title}</span>
        </button>
      ) : (
        <p className={css.writer}>
          <span className={css.turnMeta}>older than the history, or unsaved</span>
        </p>
      )}
      <ol className={css.passageText} start={start}>
        {text.map((line, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines are identified by their number
          <li key={at} value={start + at}>
            {line || " "}
          </li>
        ))}
      </ol>
    </section>
  );
}
