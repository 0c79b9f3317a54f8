import type { ReactNode } from "react";
import { trashed } from "@/state/changing";
import { Button } from "@/ui/Button";
import { Modal } from "@/ui/Modal";

export function TrashDialog({ paths, onClose }: { paths: string[]; onClose: () => void }): ReactNode {
  const put = async () => {
    onClose();
    for (const path of paths) await trashed(path);
  };
  return (
    <Modal
      title="Put into the trash?"
      text="The trash keeps it, and an undo brings it back."
      onClose={onClose}
      acts={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="danger" onClick={() => void put()}>
            Put into the trash
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
