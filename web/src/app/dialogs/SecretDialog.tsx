import type { ReactNode } from "react";
import { server, unwrap } from "@/api/client";
import { liveDocument } from "@/live/registry";
import { attempt, openDocument } from "@/state/documents";
import type { Place } from "@/state/store";
import { Button } from "@/ui/Button";
import { Modal } from "@/ui/Modal";

interface SecretDialogProps {
  path: string;
  place?: Omit<Place, "path"> | undefined;
  onClose: () => void;
}

/** Asks the owner before opening a file that may contain passwords or keys. */
export function SecretDialog({ path, place, onClose }: SecretDialogProps): ReactNode {
  const confirm = async () => {
    onClose();
    const confirmed = await attempt(() => unwrap(server.POST("/api/secrets", { body: { path, confirm: true } })));
    if (confirmed && (await openDocument(path, place))) liveDocument(path).retry();
  };
  return (
    <Modal
      title={`Open ${path}?`}
      text="This file may contain passwords or keys. It will be visible on your screen. Agents, other people, search, export and the history never see it."
      onClose={onClose}
      acts={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" onClick={() => void confirm()}>
            Open file
          </Button>
        </>
      }
    />
  );
}
