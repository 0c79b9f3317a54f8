import type { Editor } from "@tiptap/core";
import { ChevronDown, Download, Search, Table2 } from "lucide-react";
import { Toolbar } from "radix-ui";
import { type ReactNode, useId } from "react";
import { Button, IconButton } from "@/ui/Button";
import { Menu, type MenuEntry } from "@/ui/Menu";
import { focusEditor } from "../editorFocus";
import { ActionButton } from "./ActionButton";
import { BLOCKS, INSERTS, MARKS, parseLanguage, STYLES, TABLE } from "./actions";
import { exportFile, printProposals } from "./export";
import { LANGUAGES } from "./languages";
import { toolState, useTools } from "./state";
import css from "./tools.module.css";
import { useEditorValue } from "./useEditorValue";

interface ToolBarProps {
  editor: Editor;
  path: string;
}

/** All actions on the text. Alt+F10 leads here from the text, Escape back. */
export function ToolBar({ editor, path }: ToolBarProps): ReactNode {
  const editable = useEditorValue(editor, () => editor.isEditable);
  const find = useTools(editor, (state) => state.find);
  return (
    <Toolbar.Root
      className={css.bar}
      aria-label="Formatting"
      data-rich-bar=""
      onKeyDown={(event) => {
        if (event.key === "Escape") focusEditor(editor);
      }}
    >
      {editable ? <EditTools editor={editor} /> : null}
      <span className={css.room} />
      <Toolbar.Button asChild>
        <IconButton label="Find" keys="Ctrl+F" on={find} onClick={() => toolState(editor).setState({ find: !find })}>
          <Search size={16} />
        </IconButton>
      </Toolbar.Button>
      <Menu entries={exportEntries(editor, path)}>
        <Toolbar.Button asChild>
          <IconButton label="Export or print">
            <Download size={16} />
          </IconButton>
        </Toolbar.Button>
      </Menu>
    </Toolbar.Root>
  );
}

function exportEntries(editor: Editor, path: string): MenuEntry[] {
  return [
    { label: "Web page (HTML)", run: () => void exportFile(path, "html") },
    { label: "Word (DOCX)", run: () => void exportFile(path, "docx") },
    { label: "Web page with proposals marked", run: () => void exportFile(path, "html", true) },
    null,
    // After the menu has closed: it would interfere with the focus, and with the file dialog.
    { label: "Print or save as PDF", run: () => setTimeout(() => print(), 50) },
    { label: "Print with proposals marked", run: () => setTimeout(() => void printProposals(editor, path), 50) },
  ];
}

function EditTools({ editor }: { editor: Editor }): ReactNode {
  const toText = () => focusEditor(editor);
  const style = useEditorValue(editor, () => STYLES.find((act) => act.isOn?.(editor))?.label ?? "Style");
  const inTable = useEditorValue(editor, () => editor.isActive("table"));
  const inCode = useEditorValue(editor, () => editor.isActive("codeBlock"));
  return (
    <>
      <Menu entries={STYLES.map((act) => ({ label: act.label, run: () => act.run(editor) }))} onChosen={toText}>
        <Toolbar.Button asChild>
          <Button look="quiet" small aria-label={`Style: ${style}`} className={css.style ?? ""}>
            {style} <ChevronDown size={12} aria-hidden />
          </Button>
        </Toolbar.Button>
      </Menu>
      <Toolbar.Separator className={css.line} />
      {MARKS.map((act) => (
        <ActionButton key={act.id} editor={editor} act={act} />
      ))}
      <Toolbar.Separator className={css.line} />
      {[...BLOCKS, ...INSERTS].map((act) => (
        <ActionButton key={act.id} editor={editor} act={act} />
      ))}
      {inTable ? <TableMenu editor={editor} /> : null}
      {inCode ? <Language editor={editor} /> : null}
    </>
  );
}

function TableMenu({ editor }: { editor: Editor }): ReactNode {
  const states = useEditorValue(editor, () => TABLE.map((act) => (act?.can(editor) ? "1" : "0")).join(""));
  const entries = TABLE.map((act, at): MenuEntry => {
    if (!act) return null;
    return { label: act.label, disabled: states[at] === "0", run: () => act.run(editor) };
  });
  return (
    <Menu entries={entries} onChosen={() => focusEditor(editor)}>
      <Toolbar.Button asChild>
        <Button look="quiet" small className={css.style ?? ""}>
          <Table2 size={14} aria-hidden /> Rows and columns <ChevronDown size={12} aria-hidden />
        </Button>
      </Toolbar.Button>
    </Menu>
  );
}

function Language({ editor }: { editor: Editor }): ReactNode {
  const id = useId();
  const language = useEditorValue(editor, () => String(editor.getAttributes("codeBlock").language ?? ""));
  const set = (typed: string) => {
    const word = parseLanguage(typed);
    if (word === (language || null)) return;
    // What follows the language belongs to it.
    editor.commands.updateAttributes("codeBlock", word === null ? { language: null, meta: null } : { language: word });
  };
  return (
    <>
      <input
        key={language}
        className={css.language}
        aria-label="Code language"
        placeholder="Language"
        defaultValue={language}
        list={id}
        autoComplete="off"
        spellCheck={false}
        onBlur={(event) => set(event.target.value)}
        onChange={(event) => LANGUAGES.includes(event.target.value) && set(event.target.value)}
        onKeyDown={(event) => {
          event.stopPropagation();
          if (event.key !== "Enter" && event.key !== "Escape") return;
          event.preventDefault();
          if (event.key === "Enter") set(event.currentTarget.value);
          focusEditor(editor);
        }}
      />
      <datalist id={id}>
        {LANGUAGES.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  );
}
