import { useQuery } from "@tanstack/react-query";
import { Command } from "cmdk";
import { FileText, TextSelect } from "lucide-react";
import { type ReactNode, useState } from "react";
import { treeQuery } from "@/api/queries";
import { useStore } from "@/state/store";
import { Button } from "@/ui/Button";
import { pluralize } from "@/ui/format";
import { Modal } from "@/ui/Modal";
import ui from "@/ui/ui.module.css";
import css from "./agent.module.css";
import { estimateTokens, formatTokens } from "./descriptions";
import { addRow } from "./rows";

/** Add context for the agent: the editor's selection, or a document. */
export function AddContext(): ReactNode {
  const selection = useStore((store) => store.selection);
  const [picking, setPicking] = useState(false);
  const lines = selection ? selection.endLine - selection.startLine + 1 : 0;
  return (
    <span className={css.adding}>
      {selection ? (
        <Button
          look="quiet"
          small
          onClick={() =>
            addRow({
              file_path: selection.path,
              start_line: selection.startLine,
              end_line: selection.endLine,
              content: selection.text,
            })
          }
        >
          <TextSelect size={13} aria-hidden /> Add selection ({pluralize(lines, "line")})
        </Button>
      ) : null}
      <Button look="quiet" small onClick={() => setPicking(true)}>
        <FileText size={13} aria-hidden /> Add document
      </Button>
      {picking ? (
        <FilePicker
          onClose={() => setPicking(false)}
          onPick={(path) => {
            addRow({ file_path: path, start_line: null, end_line: null, content: "" });
            setPicking(false);
          }}
        />
      ) : null}
    </span>
  );
}

interface FilePickerProps {
  onPick: (path: string) => void;
  onClose: () => void;
}

/** Choose a document by typing part of its name. */
function FilePicker({ onPick, onClose }: FilePickerProps): ReactNode {
  const { data } = useQuery(treeQuery);
  const documents = (data ?? []).filter((entry) => entry.kind !== "folder");
  return (
    <Modal title="Add document" onClose={onClose}>
      <Command label="Documents">
        <Command.Input className={ui.field ?? ""} placeholder="Search by name" autoFocus />
        <Command.List className={css.files ?? ""}>
          <Command.Empty className={ui.empty ?? ""}>No matches.</Command.Empty>
          {documents.map(({ path, size }) => (
            <Command.Item key={path} value={path} className={css.file ?? ""} onSelect={() => onPick(path)}>
              <span className={css.grow}>{path}</span>
              <span className={css.soft}>≈ {formatTokens(estimateTokens(size))} tokens</span>
            </Command.Item>
          ))}
        </Command.List>
      </Command>
    </Modal>
  );
}
