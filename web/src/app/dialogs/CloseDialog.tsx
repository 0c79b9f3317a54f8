import type { ReactNode } from "react";
import { close, save } from "@/state/documents";
import { Button } from "@/ui/Button";
import { Modal } from "@/ui/Modal";

interface CloseDialogProps {
  tabId: string;
  path: string;
  onClose: () => void;
}

/** Closing a document that is not saved. */
export function CloseDialog({ tabId, path, onClose }: CloseDialogProps): ReactNode {
  const drop = async () => {
    onClose();
    await close(tabId, path, true);
  };
  const keep = async () => {
    onClose();
    if (await save(tabId, path)) await close(tabId, path);
  };
  return (
    <Modal
      title={`Save ${path}?`}
      text="It has typing that is not saved. Dropped typing stays in the history, where an undo brings it back."
      onClose={onClose}
      acts={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button onClick={() => void drop()}>Drop the typing</Button>
          <Button look="primary" onClick={() => void keep()}>
            Save and close
          </Button>
        </>
      }
    />
  );
}
