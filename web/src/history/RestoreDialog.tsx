import { type ReactNode, useState } from "react";
import { Button } from "@/ui/Button";
import { Modal } from "@/ui/Modal";
import { Field, Labelled } from "@/ui/Small";

interface RestoreDialogProps {
  path: string;
  onRestore: (to: string) => void;
  onClose: () => void;
}

/** Asks for another path if a document's own is taken. */
export function RestoreDialog({ path, onRestore, onClose }: RestoreDialogProps): ReactNode {
  const [to, setTo] = useState(proposeName(path));
  return (
    <Modal
      title="Restore under another name"
      text={`${path} already exists and will not be overwritten.`}
      onClose={onClose}
      acts={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" disabled={!to.trim() || to.trim() === path} onClick={() => onRestore(to.trim())}>
            Restore
          </Button>
        </>
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onRestore(to.trim());
        }}
      >
        <Labelled label="Name">
          <Field autoFocus value={to} onChange={(event) => setTo(event.target.value)} />
        </Labelled>
      </form>
    </Modal>
  );
}

function proposeName(path: string): string {
  return path.replace(/(\.[^./]+)?$/, (ending) => ` (restored)${ending}`);
}
