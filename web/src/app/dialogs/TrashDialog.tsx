import type { ReactNode } from "react";
import { trashDocument } from "@/state/documents";
import { Button } from "@/ui/Button";
import { Modal } from "@/ui/Modal";

export function TrashDialog({ paths, onClose }: { paths: string[]; onClose: () => void }): ReactNode {
  const put = async () => {
    onClose();
    for (const path of paths) await trashDocument(path);
  };
  return (
    <Modal
      title="Move to trash?"
      text="You can undo this, or restore it from the trash."
      onClose={onClose}
      acts={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="danger" onClick={() => void put()}>
            Move to trash
          </Button>
        </>
      }
    >
      <ul>
        {paths.map((path) => (
          <li key={path}>{path}</li>
        ))}
      </ul>
    </Modal>
  );
}
