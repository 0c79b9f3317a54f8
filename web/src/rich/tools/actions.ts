/**
 * A writer's actions, defined once: the toolbar, the bubble menu and the slash menu all offer them. Each makes only
 * what markdown can express: a table keeps its head, a language is one word, a link leads to a plain address.
 */

import type { Editor } from "@tiptap/core";
import {
  Bold,
  Code,
  CodeXml,
  Heading1,
  Heading2,
  Heading3,
  Image,
  Italic,
  Link,
  List,
  ListOrdered,
  ListTodo,
  type LucideIcon,
  Minus,
  Pilcrow,
  Quote,
  Sparkles,
  Strikethrough,
  Table,
} from "lucide-react";
import { askAtCursor } from "@/state/textFocus";
import { chooseImages } from "./imageUpload";
import { toolState } from "./state";

export interface EditorAction {
  id: string;
  label: string;
  icon: LucideIcon;
  keys?: string;
  /** Synonyms, for the slash menu. */
  words?: string;
  isOn?: (editor: Editor) => boolean;
  run: (editor: Editor) => void;
}

/** Ask for a link's address, if a link is possible here. */
export function openLink(editor: Editor): void {
  const inCode = editor.state.selection.$from.parent.type.spec.code;
  if (editor.isEditable && !inCode) toolState(editor).setState({ link: true });
}

const mark = (name: string, label: string, icon: LucideIcon, keys: string): EditorAction => ({
  id: name,
  label,
  icon,
  keys,
  isOn: (editor) => editor.isActive(name),
  run: (editor) => editor.commands.toggleMark(name),
});

const heading = (level: 1 | 2 | 3, icon: LucideIcon): EditorAction => ({
  id: `heading${level}`,
  label: `Heading ${level}`,
  icon,
  keys: `Mod+Alt+${level}`,
  words: `title section h${level}`,
  isOn: (editor) => editor.isActive("heading", { level }),
  run: (editor) => editor.commands.toggleHeading({ level }),
});

export const MARKS: EditorAction[] = [
  mark("bold", "Bold", Bold, "Mod+B"),
  mark("italic", "Italic", Italic, "Mod+I"),
  mark("strike", "Strikethrough", Strikethrough, "Mod+Shift+S"),
  mark("code", "Code", Code, "Mod+E"),
  {
    id: "link",
    label: "Link",
    icon: Link,
    keys: "Mod+K",
    isOn: (editor) => editor.isActive("link"),
    run: openLink,
  },
];

export const STYLES: EditorAction[] = [
  {
    id: "paragraph",
    label: "Text",
    icon: Pilcrow,
    words: "paragraph plain",
    isOn: (editor) => editor.isActive("paragraph"),
    run: (editor) => editor.commands.setParagraph(),
  },
  heading(1, Heading1),
  heading(2, Heading2),
  heading(3, Heading3),
];

export const BLOCKS: EditorAction[] = [
  {
    id: "bulletList",
    label: "Bullet list",
    icon: List,
    keys: "Mod+Shift+8",
    words: "unordered points ul",
    isOn: (editor) => editor.isActive("bulletList"),
    run: (editor) => editor.commands.toggleBulletList(),
  },
  {
    id: "orderedList",
    label: "Numbered list",
    icon: ListOrdered,
    keys: "Mod+Shift+7",
    words: "ordered ol",
    isOn: (editor) => editor.isActive("orderedList"),
    run: (editor) => editor.commands.toggleOrderedList(),
  },
  {
    id: "taskList",
    label: "Task list",
    icon: ListTodo,
    keys: "Mod+Shift+9",
    words: "todo checkbox check",
    isOn: (editor) => editor.isActive("taskList"),
    run: (editor) => editor.commands.toggleTaskList(),
  },
  {
    id: "blockquote",
    label: "Quote",
    icon: Quote,
    keys: "Mod+Shift+B",
    words: "blockquote citation",
    isOn: (editor) => editor.isActive("blockquote"),
    run: (editor) => editor.commands.toggleBlockquote(),
  },
  {
    id: "codeBlock",
    label: "Code block",
    icon: CodeXml,
    keys: "Mod+Alt+C",
    words: "program fence",
    isOn: (editor) => editor.isActive("codeBlock"),
    run: (editor) => editor.commands.toggleCodeBlock(),
  },
];

export const INSERTS: EditorAction[] = [
  {
    id: "table",
    label: "Table",
    icon: Table,
    words: "grid rows columns",
    run: (editor) => editor.commands.insertTable({ rows: 3, cols: 3, withHeaderRow: true }),
  },
  {
    id: "horizontalRule",
    label: "Divider",
    icon: Minus,
    words: "horizontal line rule separator hr",
    run: (editor) => editor.commands.setHorizontalRule(),
  },
  {
    id: "image",
    label: "Image",
    icon: Image,
    words: "picture photo",
    run: (editor) => chooseImages(editor),
  },
];

const ASK: EditorAction = {
  id: "ask",
  label: "Ask the agent",
  icon: Sparkles,
  keys: "Mod+J",
  words: "ai write continue outline",
  run: askAtCursor,
};

/** What the slash menu offers for what was typed after the slash, best first. */
export function matchActions(typed: string): EditorAction[] {
  const wanted = typed.trim().toLowerCase();
  const all = [...STYLES, ...BLOCKS, ...INSERTS, ASK];
  if (!wanted) return all;
  const rank = ({ label, words = "" }: EditorAction): number => {
    const names = [label.toLowerCase(), ...words.split(" ")];
    if (names.some((name) => name.startsWith(wanted))) return names[0]?.startsWith(wanted) ? 0 : 1;
    return label
      .toLowerCase()
      .split(" ")
      .some((word) => word.startsWith(wanted))
      ? 2
      : 3;
  };
  return all.filter((act) => rank(act) < 3).sort((one, other) => rank(one) - rank(other));
}

/** The first word, without what would end a fence's info line. */
export function parseLanguage(typed: string): string | null {
  return typed.trim().split(/[\s`~]/, 1)[0] || null;
}

const PLAIN_ADDRESS = /^(?:https?:\/\/|mailto:|[#/.?]|[^:]*$)/i;

/** An address as a link can have it: with the scheme that people omit. Null if it is invalid. */
export function parseLinkAddress(typed: string): string | null {
  const address = typed.trim().replaceAll(" ", "%20");
  if (!address || !PLAIN_ADDRESS.test(address)) return null;
  if (/^[\w.+-]+@[\w-]+\.[\w.-]+$/.test(address)) return `mailto:${address}`;
  return /^www\.|^[\w-]+(\.[\w-]+)*\.(com|org|net|edu|gov|io|dev|eu|uk|de|fr)(\/|$)/i.test(address)
    ? `https://${address}`
    : address;
}

/** Whether the cursor is in a table's first row, its head: it stays, and stays first. */
export function inTableHead(editor: Editor): boolean {
  const { $from } = editor.state.selection;
  for (let depth = $from.depth; depth > 0; depth -= 1) {
    if ($from.node(depth).type.name === "tableRow") return $from.index(depth - 1) === 0;
  }
  return false;
}

export interface TableAction {
  label: string;
  can: (editor: Editor) => boolean;
  run: (editor: Editor) => void;
}

const always = () => true;

export const TABLE: (TableAction | null)[] = [
  {
    label: "Insert row above",
    can: (editor) => !inTableHead(editor),
    run: (e) => e.commands.addRowBefore(),
  },
  { label: "Insert row below", can: always, run: (editor) => editor.commands.addRowAfter() },
  { label: "Insert column before", can: always, run: (editor) => editor.commands.addColumnBefore() },
  { label: "Insert column after", can: always, run: (editor) => editor.commands.addColumnAfter() },
  null,
  { label: "Delete row", can: (editor) => !inTableHead(editor), run: (e) => e.commands.deleteRow() },
  { label: "Delete column", can: always, run: (editor) => editor.commands.deleteColumn() },
  { label: "Delete table", can: always, run: (editor) => editor.commands.deleteTable() },
];
