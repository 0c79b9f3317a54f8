import { type ReactNode, useState } from "react";
import { Button } from "@/ui/Button";
import { Modal } from "@/ui/Modal";
import { Field, Labelled } from "@/ui/Small";
import { saveMacro } from "./macros";

/** Saves what a job did as a macro. */
export function SaveMacro({ jobId }: { jobId: string }): ReactNode {
  const [open, setOpen] = useState(false);
  const [name, setName] = useState("");
  const close = () => setOpen(false);
  const save = async () => {
    if (name.trim() && (await saveMacro(name.trim(), jobId))) close();
  };
  return (
    <>
      <Button small look="quiet" onClick={() => setOpen(true)}>
        Save as macro
      </Button>
      {open ? (
        <Modal
          title="Save as macro"
          text="Saves the agent's edits in this turn, to run them again as one turn."
          onClose={close}
          acts={
            <>
              <Button onClick={close}>Cancel</Button>
              <Button look="primary" disabled={!name.trim()} onClick={() => void save()}>
                Save
              </Button>
            </>
          }
        >
          <form
            onSubmit={(event) => {
              event.preventDefault();
              void save();
            }}
          >
            <Labelled label="Macro name">
              <Field autoFocus maxLength={60} value={name} onChange={(event) => setName(event.target.value)} />
            </Labelled>
          </form>
        </Modal>
      ) : null}
    </>
  );
}
