import { FileText, TextSelect } from "lucide-react";
import { type ReactNode, useState } from "react";
import { useStore } from "@/state/store";
import { Button } from "@/ui/Button";
import css from "./agent.module.css";
import { FilePicker } from "./FilePicker";
import { addRow } from "./rows";
import { counted } from "./words";

/** Give the agent something to look at: what is selected in the editor, or a document. */
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
          <TextSelect size={13} aria-hidden /> Add selection ({counted(lines, "line")})
        </Button>
      ) : null}
      <Button look="quiet" small onClick={() => setPicking(true)}>
        <FileText size={13} aria-hidden /> Add a document
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
