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

/** What waits in a folder, or in a document. */
export interface Waiting {
  /** How many changes are to review. */
  count: number;
  /** What would become of the document itself; undefined if only its text changes. */
  kind?: "created" | "moved" | "deleted";
}

type Proposed = Pick<Schemas["DraftShape"], "path" | "base_path" | "kind"> & { changes: number };

/** What waits, by path; the changes of a folder are those of everything in it. */
export function countWaiting(drafts: readonly Proposed[]): Map<string, Waiting> {
  const found = new Map<string, Waiting>();
  for (const { path, kind, changes } of drafts) {
    found.set(path, { count: changes, ...(kind !== "modified" && { kind }) });
    for (let folder = folderOf(path); folder; folder = folderOf(folder)) {
      found.set(folder, { count: (found.get(folder)?.count ?? 0) + changes });
    }
  }
  return found;
}

/** The folder with what agents propose to make of it: a new document is listed, a moved one stands at its new place. */
export function withProposed(entries: readonly Entry[], drafts: readonly Proposed[]): Entry[] {
  const made = drafts.filter(({ kind }) => kind === "created" || kind === "moved");
  if (made.length === 0) return [...entries];
  const left = new Set(made.flatMap(({ kind, base_path }) => (kind === "moved" && base_path ? [base_path] : [])));
  const known = new Set(entries.map(({ path }) => path));
  const added = made
    .filter(({ path }) => !known.has(path))
    .map(({ path }): Entry => ({ path, kind: "file", size: 0, modified: "" }) as Entry);
  return [...entries.filter(({ path }) => !left.has(path)), ...added];
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
