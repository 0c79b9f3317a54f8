import type { ReactNode } from "react";
import { COMMANDS, formatKeys } from "@/app/commands";
import { show, useStore } from "@/state/store";
import { Button } from "@/ui/Button";
import { Modal } from "@/ui/Modal";
import css from "./help.module.css";

/** Keys of the text that are not commands of the whole window. */
const IN_THE_TEXT: readonly (readonly [string, string])[] = [
  ["Accept or reject the change at the cursor", "Mod+Enter, Escape"],
  ["Next, previous change", "Alt+J, Alt+K"],
  ["Find in the document", "Mod+F"],
  ["Go to a line, in the source", "Alt+G"],
  ["Undo, redo", "Mod+Z, Mod+Y"],
  ["Bold, italic, link, in rich text", "Mod+B, Mod+I, Mod+K"],
];

const UNDERSTOOD: readonly string[] = [
  "Where is the harbour mentioned?",
  "Summarise chapter 1 in 3 sentences",
  "Rename Ines to Marta everywhere",
  'Add a section "Sources" under "Notes" in README.md',
  'Append "The end." to chapter 3',
  'Add "buy biscuits" to my todo list',
  "Make a table of contents for meeting.md",
  "List the people and places in the story",
  "Create today's note",
  "Undo the last change",
];

/** The shortcuts, and what can be asked without a model. */
export function HelpDialog({ onClose }: { onClose: () => void }): ReactNode {
  const composers = useStore((store) => store.composers);
  const session = useStore((store) => store.session) ?? "";
  const ask = (text: string) => {
    show({ agentOpen: true, composers: { ...composers, [session]: { text, rows: composers[session]?.rows ?? [] } } });
    onClose();
  };
  return (
    <Modal title="Help" onClose={onClose} acts={<Button onClick={onClose}>Close</Button>}>
      <h3 className={css.title}>Keys</h3>
      <dl className={css.keys}>
        {[...COMMANDS.flatMap(({ name, keys }) => (keys ? [[name, keys] as const] : [])), ...IN_THE_TEXT].map(
          ([name, keys]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                {keys.split(", ").map((each) => (
                  <kbd key={each}>{formatKeys(each)}</kbd>
                ))}
              </dd>
            </div>
          ),
        )}
      </dl>
      <h3 className={css.title}>Ask without a model</h3>
      <p className={css.text}>
        The offline assistant follows rules. It understands requests like these, and says so when it does not. Choose
        one to change its words and send it.
      </p>
      <ul className={css.asks}>
        {UNDERSTOOD.map((text) => (
          <li key={text}>
            <button type="button" onClick={() => ask(text)}>
              {text}
            </button>
          </li>
        ))}
      </ul>
      <h3 className={css.title}>More</h3>
      <p className={css.text}>
        To ask a model of your own, paste its key or choose one that runs on this computer under{" "}
        <button type="button" className={css.link} onClick={() => show({ dialog: { kind: "models" } })}>
          Models
        </button>
        . In a terminal, <code>redraft help</code> lists every command, and <code>redraft help COMMAND</code> explains
        one.
      </p>
    </Modal>
  );
}
