/** The folder as rows: pure, so that ten thousand files cost one pass. */

import type { Schemas } from "@/api/client";

export type Entry = Schemas["EntryShape"];

export interface Row {
  path: string;
  name: string;
  depth: number;
  folder: boolean;
  /** Whether a folder is expanded. */
  open: boolean;
  /** Whether it is a document that can be opened. */
  readable: boolean;
}

interface Node {
  entry: Entry | undefined;
  name: string;
  path: string;
  children: Map<string, Node>;
}

function buildTree(entries: readonly Entry[]): Node {
  const root: Node = { entry: undefined, name: "", path: "", children: new Map() };
  for (const entry of entries) {
    let at = root;
    for (const name of entry.path.split("/")) {
      let next = at.children.get(name);
      if (!next) {
        next = { entry: undefined, name, path: at.path ? `${at.path}/${name}` : name, children: new Map() };
        at.children.set(name, next);
      }
      at = next;
    }
    at.entry = entry;
  }
  return root;
}

const byName = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

function isFolder(node: Node): boolean {
  return node.children.size > 0 || node.entry?.kind === "folder";
}

/** The visible rows: folders first, then in natural order, and with a filter only what matches. */
export function listRows(entries: readonly Entry[], opened: ReadonlySet<string>, filter = ""): Row[] {
  const wanted = filter.trim().toLowerCase();
  const fitting = wanted ? entries.filter(({ path }) => path.toLowerCase().includes(wanted)) : entries;
  const found: Row[] = [];
  const walk = (node: Node, depth: number) => {
    const children = [...node.children.values()].sort(
      (one, other) => Number(isFolder(other)) - Number(isFolder(one)) || byName.compare(one.name, other.name),
    );
    for (const child of children) {
      const folder = isFolder(child);
      const open = folder && (wanted !== "" || opened.has(child.path));
      const readable = child.entry?.kind === "file";
      found.push({ path: child.path, name: child.name, depth, folder, open, readable });
      if (open) walk(child, depth + 1);
    }
  };
  walk(buildTree(fitting), 0);
  return found;
}

export function folderOf(path: string): string {
  const at = path.lastIndexOf("/");
  return at < 0 ? "" : path.slice(0, at);
}

/** A document's path after it was dropped on a row: in that folder, or beside that document. */
export function dropTarget(path: string, on: Row | null): string {
  const folder = on === null ? "" : on.folder ? on.path : folderOf(on.path);
  const name = path.slice(path.lastIndexOf("/") + 1);
  return folder ? `${folder}/${name}` : name;
}
