import type { ReactNode } from "react";
import { closeDocument, saveDocument } from "@/state/documents";
import { Button } from "@/ui/Button";
import { Modal } from "@/ui/Modal";

interface CloseDialogProps {
  tabId: string;
  path: string;
  onClose: () => void;
}

/** Asks before closing an unsaved document. */
export function CloseDialog({ tabId, path, onClose }: CloseDialogProps): ReactNode {
  const drop = async () => {
    onClose();
    await closeDocument(tabId, path, true);
  };
  const keep = async () => {
    onClose();
    if (await saveDocument(tabId, path)) await closeDocument(tabId, path);
  };
  return (
    <Modal
      title={`Save ${path}?`}
      text="It has unsaved changes. If you discard them, you can still get them back from the history."
      onClose={onClose}
      acts={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button onClick={() => void drop()}>Discard changes</Button>
          <Button look="primary" onClick={() => void keep()}>
            Save and close
          </Button>
        </>
      }
    />
  );
}
