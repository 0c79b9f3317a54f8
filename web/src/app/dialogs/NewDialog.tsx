import { type ReactNode, useState } from "react";
import { created } from "@/state/changing";
import { Button } from "@/ui/Button";
import { Modal } from "@/ui/Modal";
import { Field, Labelled } from "@/ui/Small";
import ui from "@/ui/ui.module.css";

const TEMPLATES = [
  { name: "", label: "Blank" },
  { name: "meeting-notes", label: "Meeting notes" },
  { name: "todo-list", label: "To-do list" },
  { name: "journal", label: "Journal" },
];

/** A name without an ending becomes markdown. */
export function pathFor(folder: string, name: string): string {
  const clean = name.trim().replace(/^\/+/, "");
  const ended = /\.[A-Za-z0-9]{1,8}$/.test(clean) ? clean : `${clean}.md`;
  return folder ? `${folder}/${ended}` : ended;
}

export function NewDialog({ folder, onClose }: { folder: string; onClose: () => void }): ReactNode {
  const [name, setName] = useState("");
  const [template, setTemplate] = useState("");
  const make = async () => {
    if (name.trim() && (await created(pathFor(folder, name), template))) onClose();
  };
  return (
    <Modal
      title="New document"
      onClose={onClose}
      acts={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" disabled={!name.trim()} onClick={() => void make()}>
            Create
          </Button>
        </>
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void make();
        }}
      >
        <Labelled label="Name" hint={`In ${folder || "the folder's root"}. Folders in the name are made with it.`}>
          <Field autoFocus value={name} onChange={(event) => setName(event.target.value)} placeholder="chapter-1.md" />
        </Labelled>
        <Labelled label="Begin with">
          <select className={ui.field} value={template} onChange={(event) => setTemplate(event.target.value)}>
            {TEMPLATES.map((one) => (
              <option key={one.name} value={one.name}>
                {one.label}
              </option>
            ))}
          </select>
        </Labelled>
        <button type="submit" hidden />
      </form>
    </Modal>
  );
}
