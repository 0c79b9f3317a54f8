import { type ReactNode, useState } from "react";
import { Button } from "@/ui/Button";
import { Modal } from "@/ui/Modal";
import css from "./agent.module.css";
import type { Question } from "./view";
import { wanted } from "./words";

const FEW = 5;

interface ConsentDialogProps {
  question: Question;
  onAnswer: (allow: boolean, always: boolean) => void;
  onClose: () => void;
}

/** Every document that would be affected, and a yes or a no; a rule for the future where it is one kind of act. */
export function ConsentDialog({ question, onAnswer, onClose }: ConsentDialogProps): ReactNode {
  const [all, setAll] = useState(false);
  const [always, setAlways] = useState(false);
  const destroys = question.action.includes("destroy");
  const costs = question.kind === "estimate";
  const oneKind = !costs && (question.tool !== "" || !question.action.includes(" and "));
  const what = costs ? "Go on" : sentence(wanted(question).replace(/ \d.*$/, ""));
  const shown = all ? question.paths : question.paths.slice(0, FEW);
  const hidden = question.paths.length - shown.length;
  return (
    <Modal
      title={costs ? "This will cost something" : `${sentence(wanted(question))}?`}
      text={
        costs ? question.text : destroys ? "They go to the trash, and the turn can be undone." : "It can be undone."
      }
      onClose={onClose}
      acts={
        <>
          <Button autoFocus onClick={() => onAnswer(false, false)}>
            Cancel the job
          </Button>
          <Button look={destroys ? "danger" : "primary"} onClick={() => onAnswer(true, always)}>
            {question.paths.length > 1 ? `${what} all ${question.paths.length}` : what}
          </Button>
        </>
      }
    >
      {question.paths.length ? (
        <ul className={css.paths} aria-label="Affected documents">
          {shown.map((path) => (
            <li key={path}>{path}</li>
          ))}
        </ul>
      ) : null}
      {hidden > 0 ? (
        <Button small onClick={() => setAll(true)}>
          Show all {question.paths.length} ({hidden} more)
        </Button>
      ) : null}
      {oneKind ? (
        <label className={css.check}>
          <input type="checkbox" checked={always} onChange={(event) => setAlways(event.target.checked)} />
          Always allow this in this folder
        </label>
      ) : null}
    </Modal>
  );
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
