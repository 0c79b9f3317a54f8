import { type ReactNode, useState } from "react";
import { moveDocument } from "@/state/documents";
import { Button } from "@/ui/Button";
import { Modal } from "@/ui/Modal";
import { Field, Labelled } from "@/ui/Small";

export function RenameDialog({ path, onClose }: { path: string; onClose: () => void }): ReactNode {
  const [to, setTo] = useState(path);
  const changed = to.trim() !== "" && to.trim() !== path;
  const rename = async () => {
    if (changed && (await moveDocument(path, to.trim()))) onClose();
  };
  return (
    <Modal
      title="Rename or move"
      text="Existing documents are never overwritten."
      onClose={onClose}
      acts={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" disabled={!changed} onClick={() => void rename()}>
            Rename
          </Button>
        </>
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void rename();
        }}
      >
        <Labelled label="Path">
          <Field autoFocus value={to} onChange={(event) => setTo(event.target.value)} />
        </Labelled>
        <button type="submit" hidden />
      </form>
    </Modal>
  );
}
