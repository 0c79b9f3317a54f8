import { type KeyboardEvent, useState } from "react";
import { openDocument } from "@/state/documents";
import { show, useStore } from "@/state/store";
import { folderOf, type Row } from "./tree";

/** Expand or collapse a folder. */
export function toggleFolder(path: string): void {
  const { unfolded } = useStore.getState();
  show({ unfolded: unfolded.includes(path) ? unfolded.filter((one) => one !== path) : [...unfolded, path] });
}

/** Expand or collapse a folder, open a document, show what any other file is. */
export function openRow(row: Row): void {
  if (row.folder) toggleFolder(row.path);
  else if (row.readable) void openDocument(row.path);
  else show({ dialog: { kind: "file", path: row.path } });
}

interface TreeKeys {
  focused: string | null;
  focus: (path: string) => void;
  onKey: (event: KeyboardEvent<HTMLElement>) => void;
}

/** The keys of a tree, as in the ARIA patterns. */
export function useTreeKeys(rows: readonly Row[]): TreeKeys {
  const [focused, focus] = useState<string | null>(null);

  const onKey = (event: KeyboardEvent<HTMLElement>) => {
    const at = rows.findIndex(({ path }) => path === focused);
    const row = rows[at];
    if (!row || event.ctrlKey || event.metaKey || event.altKey) return;
    const go = (to: Row | undefined) => {
      if (!to) return;
      focus(to.path);
      event.currentTarget.querySelector<HTMLElement>(`[data-path="${CSS.escape(to.path)}"]`)?.focus();
    };
    const enter = () => openRow(row);
    const above = rows.find(({ path, folder }) => folder && path === folderOf(row.path));
    const acts = new Map<string, () => void>([
      ["ArrowDown", () => go(rows[at + 1])],
      ["ArrowUp", () => go(rows[at - 1])],
      ["Home", () => go(rows[0])],
      ["End", () => go(rows[rows.length - 1])],
      [
        "ArrowRight",
        () => (row.folder && !row.open ? toggleFolder(row.path) : go(row.folder ? rows[at + 1] : undefined)),
      ],
      ["ArrowLeft", () => (row.open ? toggleFolder(row.path) : go(above))],
      ["Enter", enter],
      [" ", enter],
      ["F2", () => row.readable && show({ dialog: { kind: "rename", path: row.path } })],
      ["Delete", () => row.readable && show({ dialog: { kind: "trash", paths: [row.path] } })],
    ]);
    const act = acts.get(event.key);
    if (!act) return;
    event.preventDefault();
    act();
  };

  return { focused, focus, onKey };
}
