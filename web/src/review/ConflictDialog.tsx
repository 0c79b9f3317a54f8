import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useRef, useState } from "react";
import { blameQuery, groupBlame } from "@/history/blame";
import { sidesOf } from "@/history/patch";
import { turnQuery } from "@/history/turns";
import { Button } from "@/ui/Button";
import { Modal } from "@/ui/Modal";
import css from "./ConflictDialog.module.css";
import { resolveConflict } from "./decisions";
import { type Hunk, normalizeNewlines } from "./hunkPlaces";
import { type ConflictAbout, findWriter, isTyped, isWithAgent, listSides, toDocumentText } from "./sides";

interface ConflictDialogProps {
  path: string;
  hunk: Hunk;
  onClose: () => void;
  /** Put the focus into the text: the button that had it is gone, and the next key is meant for the text. */
  onSettled: () => void;
}

/** A pane for each side, named after its author. Choose one, or write the result. */
export function ConflictDialog({ path, hunk, onClose, onSettled }: ConflictDialogProps): ReactNode {
  const [text, setText] = useState(normalizeNewlines(hunk.working));
  const [sending, setSending] = useState(false);
  const settled = useRef(false);
  const about = useAbout(path, hunk);
  const both = isWithAgent(hunk) && (isTyped(hunk) || about.writer === "you");

  const send = async (chosen: string) => {
    setSending(true);
    settled.current = await resolveConflict(path, hunk.hunk_id, toDocumentText(chosen, hunk));
    setSending(false);
    if (settled.current) onClose();
  };

  return (
    <Modal
      title={both ? "Both of you changed this" : "This was changed twice"}
      text="Choose a version, or write your own below. It is saved at once, and you can undo it."
      wide
      onClose={onClose}
      onClosed={() => {
        if (settled.current) onSettled();
        return settled.current;
      }}
      acts={
        <>
          <Button onClick={onClose}>Later</Button>
          <Button look="primary" disabled={sending} onClick={() => void send(text)}>
            Use this text
          </Button>
        </>
      }
    >
      <div className={css.panes}>
        {listSides(hunk, about).map(({ title, text: its, use }) => (
          <Pane key={title} title={title} text={its}>
            {use ? (
              <Button small disabled={sending} onClick={() => void send(its)}>
                {use}
              </Button>
            ) : null}
          </Pane>
        ))}
      </div>
      <label className={css.free}>
        <span>Resolved text</span>
        <textarea value={text} rows={6} spellCheck onChange={(event) => setText(event.target.value)} />
      </label>
    </Modal>
  );
}

/** Who proposes, what it would replace, and who wrote the current text. */
function useAbout(path: string, hunk: Hunk): ConflictAbout {
  const { turn, hunk_id, proposed } = hunk;
  const { data: detail } = useQuery({ ...turnQuery(turn ?? 0), enabled: turn !== null });
  const { data: blame } = useQuery({ ...blameQuery(path), enabled: !isTyped(hunk) });
  const made = detail?.hunks.find((each) => each.hunk_id === hunk_id);
  const change = made && sidesOf(made.patch);
  return {
    agent: detail?.turn.author.name,
    before: change?.after === normalizeNewlines(proposed) ? change.before : undefined,
    writer: blame && findWriter(groupBlame(blame), hunk),
  };
}

function Pane({ title, text, children }: { title: string; text: string; children?: ReactNode }): ReactNode {
  return (
    <section className={css.pane} aria-label={title}>
      <header>
        <h3>{title}</h3>
        {children}
      </header>
      <pre>{normalizeNewlines(text) || <em>empty</em>}</pre>
    </section>
  );
}
