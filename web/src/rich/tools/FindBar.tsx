import type { Editor } from "@tiptap/core";
import { TextSelection } from "@tiptap/pm/state";
import { ArrowDown, ArrowUp, CaseSensitive, WholeWord, X } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { Button, IconButton } from "@/ui/Button";
import { Field } from "@/ui/Small";
import { focusEditor } from "../editorFocus";
import { openEditors } from "../openEditors";
import { type FindQuery, findNext, replaceFound } from "./find";
import { FIND_STEP, type FindStep, findState } from "./findKeys";
import { toolState } from "./state";
import css from "./tools.module.css";
import { useEditorValue } from "./useEditorValue";

function updateFind(editor: Editor, step: FindStep): void {
  editor.view.dispatch(editor.state.tr.setMeta(FIND_STEP, step).setMeta("addToHistory", false));
}

/** Go to a match without moving the focus. */
function goToFound(editor: Editor, now: number): void {
  const passage = findState(editor.state).found[now];
  if (!passage) return;
  updateFind(editor, { now });
  const { tr } = editor.state;
  tr.setSelection(TextSelection.create(tr.doc, passage.from, passage.to)).scrollIntoView();
  editor.view.dispatch(tr);
}

function stepFound(editor: Editor, direction: 1 | -1): void {
  const { found, now } = findState(editor.state);
  if (now >= 0) goToFound(editor, (now + direction + found.length) % found.length);
  else goToFound(editor, findNext(found, editor.state.selection.from, direction));
}

function replaceOne(editor: Editor, text: string): void {
  const { found, now } = findState(editor.state);
  const passage = found[now];
  if (!passage) {
    stepFound(editor, 1);
    return;
  }
  editor.view.dispatch(replaceFound(editor.state.tr, [passage], text));
  goToFound(editor, findNext(findState(editor.state).found, passage.from + text.length, 1));
}

function readSelection(editor: Editor): string {
  const { from, to, $from, $to } = editor.state.selection;
  return $from.sameParent($to) && to - from < 200 ? editor.state.doc.textBetween(from, to) : "";
}

/** Find and replace in the document. */
export function FindBar({ editor }: { editor: Editor }): ReactNode {
  const [wanted, setWanted] = useState<FindQuery>(() => {
    const text = readSelection(editor) || findState(editor.state).wanted.text;
    return { text, caseSensitive: false, wholeWord: false };
  });
  const [instead, setInstead] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const count = useEditorValue(editor, () => {
    const { found, now } = findState(editor.state);
    return wanted.text === ""
      ? ""
      : found.length === 0
        ? "No results"
        : now < 0
          ? `${found.length}`
          : `${now + 1} of ${found.length}`;
  });

  useEffect(() => field.current?.select(), []);
  useEffect(() => {
    updateFind(editor, { wanted });
    goToFound(editor, findNext(findState(editor.state).found, editor.state.selection.from, 1));
  }, [editor, wanted]);
  useEffect(
    () => () => {
      if (!editor.isDestroyed) updateFind(editor, { wanted: { text: "", caseSensitive: false, wholeWord: false } });
    },
    [editor],
  );

  const close = () => {
    toolState(editor).setState({ find: false });
    focusEditor(editor);
  };
  const keys = (event: KeyboardEvent) => {
    if (event.key === "Escape") close();
    else if (event.key === "f" && (event.ctrlKey || event.metaKey)) field.current?.select();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const enter = (act: (event: KeyboardEvent) => void) => (event: KeyboardEvent) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    act(event);
  };
  /** The pressed button may become disabled; the focus must not be lost with it. */
  const after = (act: () => void) => () => {
    act();
    if (findState(editor.state).found.length === 0) field.current?.focus();
  };
  const replaceAll = async () => {
    // A separate undo step: what was typed just before is written first, and its step ended.
    const open = openEditors.get(toolState(editor).getState().path);
    await open?.flush();
    open?.session.undo.stopCapturing();
    if (editor.isDestroyed) return;
    editor.view.dispatch(replaceFound(editor.state.tr, findState(editor.state).found, instead));
    field.current?.focus();
  };
  const none = count === "No results" || count === "";

  return (
    <search className={css.find} aria-label="Find in document" onKeyDown={keys}>
      <div className={css.findRow}>
        <Field
          ref={field}
          className={css.findField}
          aria-label="Find"
          placeholder="Find"
          value={wanted.text}
          onChange={(event) => setWanted({ ...wanted, text: event.target.value })}
          onKeyDown={enter((event) => stepFound(editor, event.shiftKey ? -1 : 1))}
        />
        <span className={css.count} role="status">
          {count}
        </span>
        <IconButton label="Previous" keys="Shift+Enter" disabled={none} onClick={() => stepFound(editor, -1)}>
          <ArrowUp size={16} />
        </IconButton>
        <IconButton label="Next" keys="Enter" disabled={none} onClick={() => stepFound(editor, 1)}>
          <ArrowDown size={16} />
        </IconButton>
        <IconButton
          label="Match case"
          on={wanted.caseSensitive}
          onClick={() => setWanted({ ...wanted, caseSensitive: !wanted.caseSensitive })}
        >
          <CaseSensitive size={16} />
        </IconButton>
        <IconButton
          label="Whole words"
          on={wanted.wholeWord}
          onClick={() => setWanted({ ...wanted, wholeWord: !wanted.wholeWord })}
        >
          <WholeWord size={16} />
        </IconButton>
        <IconButton label="Close" keys="Escape" onClick={close}>
          <X size={16} />
        </IconButton>
      </div>
      {editor.isEditable ? (
        <div className={css.findRow}>
          <Field
            className={css.findField}
            aria-label="Replace with"
            placeholder="Replace with"
            value={instead}
            onChange={(event) => setInstead(event.target.value)}
            onKeyDown={enter(() => replaceOne(editor, instead))}
          />
          <Button small disabled={none} onClick={after(() => replaceOne(editor, instead))}>
            Replace
          </Button>
          <Button small disabled={none} onClick={() => void replaceAll()}>
            Replace all
          </Button>
        </div>
      ) : null}
    </search>
  );
}
