import { useQuery } from "@tanstack/react-query";
import { Command } from "cmdk";
import type { ReactNode } from "react";
import { treeQuery } from "@/api/queries";
import { Modal } from "@/ui/Modal";
import ui from "@/ui/ui.module.css";
import css from "./agent.module.css";
import { tokens, tokensIn } from "./words";

interface FilePickerProps {
  onPick: (path: string) => void;
  onClose: () => void;
}

/** One of the folder's documents, by typing a part of its name. */
export function FilePicker({ onPick, onClose }: FilePickerProps): ReactNode {
  const { data } = useQuery(treeQuery);
  const documents = (data ?? []).filter((entry) => entry.kind !== "folder");
  return (
    <Modal title="Add a document" onClose={onClose}>
      <Command label="Documents">
        <Command.Input className={ui.field ?? ""} placeholder="A part of its name" autoFocus />
        <Command.List className={css.files ?? ""}>
          <Command.Empty className={ui.empty ?? ""}>No document is called like that.</Command.Empty>
          {documents.map(({ path, size }) => (
            <Command.Item key={path} value={path} className={css.file ?? ""} onSelect={() => onPick(path)}>
              <span className={css.grow}>{path}</span>
              <span className={css.soft}>≈ {tokens(tokensIn(size))} tokens</span>
            </Command.Item>
          ))}
        </Command.List>
      </Command>
    </Modal>
  );
}
