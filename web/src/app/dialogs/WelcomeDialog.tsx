import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { providersQuery } from "@/api/queries";
import { show } from "@/state/store";
import { Button } from "@/ui/Button";
import { Modal } from "@/ui/Modal";
import css from "./dialogs.module.css";

/** The first minute: what this is, what works now, and how to get a model. */
export function WelcomeDialog({ onClose }: { onClose: () => void }): ReactNode {
  const { data } = useQuery(providersQuery);
  const offline = data?.default.provider === "offline";
  const finish = () => {
    show({ welcomed: true, agentOpen: true });
    onClose();
  };
  return (
    <Modal
      title="Welcome to Redraft"
      text="You and an agent write in the same documents. Each change that it makes is a turn: you see it as a diff, accept or reject it hunk by hunk, and can undo it at any time."
      onClose={finish}
      acts={
        <>
          {offline ? (
            <Button
              onClick={() => {
                finish();
                show({ dialog: { kind: "models" } });
              }}
            >
              Set up a model…
            </Button>
          ) : null}
          <Button look="primary" onClick={finish}>
            Get started
          </Button>
        </>
      }
    >
      <ol className={css.steps}>
        <li>
          <b>Ask</b> in the panel on the right. It suggests a first request for this folder.
        </li>
        <li>
          <b>Review</b>: green is added, red is removed. Accept or reject each hunk, and keep typing anywhere.
        </li>
        <li>
          <b>History</b> lists every turn with its author. You can undo any of them.
        </li>
      </ol>
      <p className={css.model}>
        {offline
          ? "The offline assistant answers for now: it follows rules, needs no key and sends nothing anywhere. To use a model, paste its API key, or choose one that runs on this computer."
          : `${data?.default.provider ?? "The model"} ${data?.default.model ?? ""} answers here.`}
      </p>
    </Modal>
  );
}
