import { type ReactNode, useState } from "react";
import { Button } from "@/ui/Button";
import { Modal } from "@/ui/Modal";
import css from "./ConflictDialog.module.css";
import { settle } from "./deciding";
import { type Hunk, plain } from "./placing";
import { settledText } from "./settling";

interface ConflictDialogProps {
  path: string;
  hunk: Hunk;
  onClose: () => void;
}

/** Three panes: what it was, yours, the agent's. Choose one, or write what it shall be. */
export function ConflictDialog({ path, hunk, onClose }: ConflictDialogProps): ReactNode {
  const [text, setText] = useState(plain(hunk.working));
  const [sending, setSending] = useState(false);

  const send = async (chosen: string) => {
    setSending(true);
    const done = await settle(path, hunk.hunk_id, settledText(chosen, hunk));
    setSending(false);
    if (done) onClose();
  };

  return (
    <Modal
      title="Both of you changed this"
      text="Choose one of the two, or write below what shall stand here. It is saved at once, and can be undone."
      wide
      onClose={onClose}
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
        <Pane title="Before" text={hunk.base} />
        <Pane title="Yours" text={hunk.working}>
          <Button small disabled={sending} onClick={() => void send(hunk.working)}>
            Use yours
          </Button>
        </Pane>
        <Pane title="The agent's" text={hunk.proposed}>
          <Button small disabled={sending} onClick={() => void send(hunk.proposed)}>
            Use the agent's
          </Button>
        </Pane>
      </div>
      <label className={css.free}>
        <span>What shall stand here</span>
        <textarea value={text} rows={6} spellCheck onChange={(event) => setText(event.target.value)} />
      </label>
    </Modal>
  );
}

function Pane({ title, text, children }: { title: string; text: string; children?: ReactNode }): ReactNode {
  return (
    <section className={css.pane} aria-label={title}>
      <header>
        <h3>{title}</h3>
        {children}
      </header>
      <pre>{plain(text) || <em>nothing</em>}</pre>
    </section>
  );
}
