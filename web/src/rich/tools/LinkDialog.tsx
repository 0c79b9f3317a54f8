import { type Editor, getMarkRange } from "@tiptap/core";
import { type FormEvent, type ReactNode, useState } from "react";
import { Button } from "@/ui/Button";
import { Modal } from "@/ui/Modal";
import { Field, Labelled } from "@/ui/Small";
import { focusEditor } from "../editorFocus";
import { parseLinkAddress } from "./actions";
import { toolState } from "./state";
import css from "./tools.module.css";

/** The passage that a link is about: the link that the cursor is in, else the selection. */
function findPassage(editor: Editor): { from: number; to: number; href: string; linked: boolean } {
  const { from, to, $from } = editor.state.selection;
  const type = editor.schema.marks.link;
  const range = type && editor.isActive("link") ? getMarkRange($from, type) : undefined;
  const href = String(editor.getAttributes("link").href ?? "");
  return range ? { ...range, href, linked: true } : { from, to, href: "", linked: false };
}

/** A link's address and text. */
export function LinkDialog({ editor }: { editor: Editor }): ReactNode {
  const [about] = useState(() => findPassage(editor));
  const [address, setAddress] = useState(about.href);
  const [words, setWords] = useState(() => editor.state.doc.textBetween(about.from, about.to, " "));
  const [before] = useState(words);
  const href = parseLinkAddress(address);

  const close = () => {
    toolState(editor).setState({ link: false });
    queueMicrotask(() => focusEditor(editor)); // the dialog keeps the focus until it is gone
  };
  const set = (event: FormEvent) => {
    event.preventDefault();
    if (href === null) return;
    // A reference's label would keep the old address: write the link inline instead.
    const attrs = { href, label: null };
    const text = words.trim() || href.replace(/^mailto:/, "");
    const chain = editor.chain().setTextSelection(about);
    if (text === before) chain.setMark("link", attrs).setTextSelection(about.to).run();
    else chain.insertContent({ type: "text", text, marks: [{ type: "link", attrs }] }).run();
    close();
  };
  const remove = () => {
    editor.chain().setTextSelection(about).unsetMark("link").setTextSelection(about.to).run();
    close();
  };

  return (
    <Modal title={about.linked ? "Edit link" : "Add link"} onClose={close} onClosed={() => true}>
      <form onSubmit={set}>
        <Labelled label="URL">
          <Field
            autoFocus
            value={address}
            placeholder="https://… or other.md"
            aria-invalid={address !== "" && href === null}
            onChange={(event) => setAddress(event.target.value)}
          />
        </Labelled>
        <Labelled label="Text">
          <Field value={words} onChange={(event) => setWords(event.target.value)} />
        </Labelled>
        <div className={css.dialogActs}>
          {about.linked ? (
            <Button look="quiet" onClick={remove}>
              Remove link
            </Button>
          ) : null}
          <Button onClick={close}>Cancel</Button>
          <Button look="primary" type="submit" disabled={href === null}>
            {about.linked ? "Update" : "Add"}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
