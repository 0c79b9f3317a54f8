import { useQuery } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { FilePlus } from "lucide-react";
import { type DragEvent, type ReactNode, useDeferredValue, useMemo, useRef, useState } from "react";
import { reviewQuery, treeQuery } from "@/api/queries";
import { listOpenHunks } from "@/review/reviewText";
import { moveDocument } from "@/state/documents";
import { show, useStore } from "@/state/store";
import { IconButton } from "@/ui/Button";
import { Empty, Field } from "@/ui/Small";
import { addDroppedFiles } from "./dropFiles";
import { FileRow } from "./FileRow";
import css from "./panels.module.css";
import { countWaiting, dropTarget, folderOf, listRows, type Row, withProposed } from "./tree";
import { useTreeKeys } from "./useTreeKeys";

const ROW_HEIGHT = 28;

/** The folder's documents, to open, create, rename, move by drag and drop, and move to trash. */
export function FilesPanel(): ReactNode {
  const { data: entries } = useQuery(treeQuery);
  const { data: drafts } = useQuery(reviewQuery);
  const active = useStore((store) => store.active);
  const unfolded = useStore((store) => store.unfolded);
  const [typed, setTyped] = useState("");
  const [over, setOver] = useState<string | null>(null);
  const filter = useDeferredValue(typed);
  const list = useRef<HTMLDivElement>(null);
  const proposed = useMemo(
    () =>
      (drafts ?? [])
        .filter(({ pending }) => pending)
        .map((draft) => ({ ...draft, changes: listOpenHunks(draft).length })),
    [drafts],
  );
  const rows = useMemo(
    () => listRows(withProposed(entries ?? [], proposed), new Set(unfolded), filter),
    [entries, proposed, unfolded, filter],
  );
  const waiting = useMemo(() => countWaiting(proposed), [proposed]);
  const keys = useTreeKeys(rows);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => list.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 12,
  });

  const drop = (event: DragEvent, row: Row | null) => {
    event.preventDefault();
    event.stopPropagation();
    setOver(null);
    const files = [...event.dataTransfer.files];
    if (files.length > 0) void addDroppedFiles(files, row === null ? "" : row.folder ? row.path : folderOf(row.path));
    const path = event.dataTransfer.getData("text/redraft-path");
    const to = dropTarget(path, row);
    if (path && to !== path) void moveDocument(path, to);
  };

  return (
    <>
      <header className={css.head}>
        <h2 className={css.title}>Files</h2>
        <IconButton label="New document" keys="Alt+N" onClick={() => show({ dialog: { kind: "new", folder: "" } })}>
          <FilePlus size={16} />
        </IconButton>
      </header>
      <div className={css.controls}>
        <Field
          type="search"
          aria-label="Filter files"
          placeholder="Filter"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
      </div>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: a place to drop on; the menu's Rename moves by keys */}
      <div
        className={css.scroll}
        ref={list}
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => drop(event, null)}
      >
        {entries && rows.length === 0 ? <Empty>{filter ? "No matches." : "No documents yet."}</Empty> : null}
        <div
          role="tree"
          aria-label="Documents"
          style={{ height: virtual.getTotalSize(), position: "relative" }}
          onKeyDown={keys.onKey}
        >
          {virtual.getVirtualItems().map((item) => {
            const row = rows[item.index];
            return row ? (
              <FileRow
                key={row.path}
                row={row}
                top={item.start}
                selected={row.path === active}
                focusable={row.path === (keys.focused ?? rows[0]?.path)}
                waiting={row.open ? undefined : waiting.get(row.path)}
                over={over === row.path}
                onOver={() => setOver(row.path)}
                onDrop={(event) => drop(event, row)}
                onFocus={() => keys.focus(row.path)}
              />
            ) : null;
          })}
        </div>
      </div>
    </>
  );
}
