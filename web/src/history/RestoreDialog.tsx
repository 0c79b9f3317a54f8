import { type ReactNode, useState } from "react";
import { Button } from "@/ui/Button";
import { Modal } from "@/ui/Modal";
import { Field, Labelled } from "@/ui/Small";

interface RestoreDialogProps {
  path: string;
  onRestore: (to: string) => void;
  onClose: () => void;
}

/** Another place for a document whose own is taken. */
export function RestoreDialog({ path, onRestore, onClose }: RestoreDialogProps): ReactNode {
  const [to, setTo] = useState(beside(path));
  return (
    <Modal
      title="Bring back under another name"
      text={`There is a ${path} already, and nothing is overwritten.`}
      onClose={onClose}
      acts={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" disabled={!to.trim() || to.trim() === path} onClick={() => onRestore(to.trim())}>
            Bring back
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

function beside(path: string): string {
  return path.replace(/(\.[^./]+)?$/, (ending) => ` (restored)${ending}`);
}
