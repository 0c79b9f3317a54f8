import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { providersQuery } from "@/api/queries";
import { show } from "@/state/store";
import { Button } from "@/ui/Button";
import { Modal } from "@/ui/Modal";
import css from "./dialogs.module.css";

/** The first minute: what this is, what works now, and what a model needs. */
export function WelcomeDialog({ onClose }: { onClose: () => void }): ReactNode {
  const { data } = useQuery(providersQuery);
  const offline = data?.default.provider === "offline";
  const done = () => {
    show({ welcomed: true, agentOpen: true });
    onClose();
  };
  return (
    <Modal
      title="Welcome to Redraft"
      text="You and an agent write in the same documents. Whatever it changes reaches you as a turn: you see it as a diff, decide hunk by hunk, and can take it back at any time."
      onClose={done}
      acts={
        <Button look="primary" onClick={done}>
          Begin
        </Button>
      }
    >
      <ol className={css.steps}>
        <li>
          <b>Ask</b> in the panel at the right. A suggestion for this folder is there.
        </li>
        <li>
          <b>Review</b>: green was added, red removed. Accept or reject each hunk, and type wherever you like.
        </li>
        <li>
          <b>History</b> keeps every turn with its author. Any of them can be undone.
        </li>
      </ol>
      <p className={css.model}>
        {offline
          ? "The offline assistant answers now: it follows rules, needs no key, and sends nothing anywhere. For a model, set a key such as ANTHROPIC_API_KEY or OPENAI_API_KEY before you start, or name one in the settings."
          : `${data?.default.provider ?? "The model"} ${data?.default.model ?? ""} answers here.`}
      </p>
    </Modal>
  );
}
