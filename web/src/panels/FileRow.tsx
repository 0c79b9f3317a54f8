import { ChevronDown, ChevronRight, File, FileText, Folder, Image } from "lucide-react";
import type { DragEvent, ReactNode } from "react";
import { KIND_TONES, kindName } from "@/review/reviewText";
import { isPicture } from "@/state/documents";
import { show } from "@/state/store";
import { RightClick } from "@/ui/Menu";
import { Badge } from "@/ui/Small";
import css from "./panels.module.css";
import { folderOf, type Row, type Waiting } from "./tree";
import { openRow } from "./useTreeKeys";

interface FileRowProps {
  row: Row;
  top: number;
  selected: boolean;
  focusable: boolean;
  waiting: Waiting | undefined;
  over: boolean;
  onOver: () => void;
  onDrop: (event: DragEvent) => void;
  onFocus: () => void;
}

/** What waits there: how many changes, or what would become of the document. */
function WaitingBadge({ waiting: { count, kind } }: { waiting: Waiting }): ReactNode {
  if (!kind) return <Badge tone="agent">{count} to review</Badge>;
  return <Badge tone={KIND_TONES[kind]}>{kindName(kind)}</Badge>;
}

export function FileRow({
  row,
  top,
  selected,
  focusable,
  waiting,
  over,
  onOver,
  onDrop,
  onFocus,
}: FileRowProps): ReactNode {
  const folder = row.folder ? row.path : folderOf(row.path);
  const entries = [
    { label: "New document here", run: () => show({ dialog: { kind: "new", folder } }) },
    ...(row.readable
      ? [
          null,
          { label: "Rename or move", keys: "F2", run: () => show({ dialog: { kind: "rename", path: row.path } }) },
          {
            label: "Move to trash",
            keys: "Del",
            run: () => show({ dialog: { kind: "trash", paths: [row.path] } }),
          },
        ]
      : []),
  ];
  const Icon = isPicture(row.path) ? Image : row.readable ? FileText : File;
  const icon = row.open ? <ChevronDown size={14} /> : <ChevronRight size={14} />;
  return (
    <RightClick entries={entries}>
      <div
        role="treeitem"
        aria-level={row.depth + 1}
        aria-selected={selected}
        {...(row.folder ? { "aria-expanded": row.open } : {})}
        tabIndex={focusable ? 0 : -1}
        data-path={row.path}
        data-drop={over}
        className={css.row}
        style={{ position: "absolute", top, height: 28, paddingLeft: 10 + row.depth * 14 }}
        draggable={row.readable}
        onDragStart={(event) => event.dataTransfer.setData("text/redraft-path", row.path)}
        onDragOver={(event) => {
          event.preventDefault();
          event.stopPropagation();
          onOver();
        }}
        onDrop={onDrop}
        onFocus={onFocus}
        onClick={() => openRow(row)}
        onKeyDown={() => undefined}
      >
        {row.folder ? icon : <Icon size={14} aria-hidden />}
        {row.folder ? <Folder size={14} aria-hidden /> : null}
        <span className={css.text}>{row.name}</span>
        {waiting ? <WaitingBadge waiting={waiting} /> : null}
      </div>
    </RightClick>
  );
}
