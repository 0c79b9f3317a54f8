import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { treeQuery } from "@/api/queries";
import { createDocument } from "@/state/documents";
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

const OWN = /^templates\/(.+)\.md$/;

/** The person's templates in the folder `templates`, by name. */
export function listOwnTemplates(paths: readonly string[]): string[] {
  return paths.flatMap((path) => OWN.exec(path)?.[1] ?? []);
}

/** A name without an extension becomes markdown. */
export function pathFor(folder: string, name: string): string {
  const clean = name.trim().replace(/^\/+/, "");
  const ended = /\.[A-Za-z0-9]{1,8}$/.test(clean) ? clean : `${clean}.md`;
  return folder ? `${folder}/${ended}` : ended;
}

export function NewDialog({ folder, onClose }: { folder: string; onClose: () => void }): ReactNode {
  const [name, setName] = useState("");
  const [template, setTemplate] = useState("");
  const { data: entries = [] } = useQuery(treeQuery);
  const own = listOwnTemplates(entries.filter(({ kind }) => kind === "file").map(({ path }) => path));
  const make = async () => {
    if (name.trim() && (await createDocument(pathFor(folder, name), template))) onClose();
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
        <Labelled label="Name" hint={`In ${folder || "the root folder"}. Folders in the name are created too.`}>
          <Field autoFocus value={name} onChange={(event) => setName(event.target.value)} placeholder="chapter-1.md" />
        </Labelled>
        <Labelled
          label="Template"
          {...(own.length === 0 && { hint: "Markdown documents in the folder “templates” appear here too." })}
        >
          <select className={ui.field} value={template} onChange={(event) => setTemplate(event.target.value)}>
            {TEMPLATES.map((one) => (
              <option key={one.name} value={one.name}>
                {one.label}
              </option>
            ))}
            {own.length > 0 ? (
              <optgroup label="Your templates">
                {own.map((one) => (
                  <option key={one} value={`${one}.md`}>
                    {one}
                  </option>
                ))}
              </optgroup>
            ) : null}
          </select>
        </Labelled>
        <button type="submit" hidden />
      </form>
    </Modal>
  );
}
