import { ShieldQuestion } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Button } from "@/ui/Button";
import { Modal } from "@/ui/Modal";
import { answerConfirmation } from "./actions";
import css from "./agent.module.css";
import { describeWish } from "./descriptions";
import type { Question } from "./jobView";

/** The agent wants to do something that needs consent. The dialog can be closed and reopened with the button. */
export function Consent({ jobId, question }: { jobId: string; question: Question }): ReactNode {
  const [open, setOpen] = useState(true);
  const [sent, setSent] = useState(false);
  const answer = async (allow: boolean, always: boolean) => {
    setOpen(false);
    setSent(true);
    if (!(await answerConfirmation(jobId, question, allow, always))) setSent(false);
  };
  return (
    <div className={css.question}>
      <p className={css.questionText}>
        <ShieldQuestion size={16} aria-hidden />{" "}
        {question.kind === "estimate" ? question.text : `The agent wants to ${describeWish(question)}.`}
      </p>
      <div className={css.acts}>
        <Button small disabled={sent} onClick={() => setOpen(true)}>
          Decide…
        </Button>
      </div>
      {open && !sent ? <ConsentDialog question={question} onAnswer={answer} onClose={() => setOpen(false)} /> : null}
    </div>
  );
}

const FEW = 5;

interface ConsentDialogProps {
  question: Question;
  onAnswer: (allow: boolean, always: boolean) => void;
  onClose: () => void;
}

/** Every affected document, and a yes or a no; a rule for the future if it is one kind of action. */
function ConsentDialog({ question, onAnswer, onClose }: ConsentDialogProps): ReactNode {
  const [all, setAll] = useState(false);
  const [always, setAlways] = useState(false);
  const destroys = question.action.includes("destroy");
  const costs = question.kind === "estimate";
  const oneKind = !costs && (question.tool !== "" || !question.action.includes(" and "));
  const what = costs ? "Continue" : sentence(describeWish(question).replace(/ \d.*$/, ""));
  const shown = all ? question.paths : question.paths.slice(0, FEW);
  const hidden = question.paths.length - shown.length;
  return (
    <Modal
      title={costs ? "Confirm the cost" : `${sentence(describeWish(question))}?`}
      text={costs ? question.text : destroys ? "They move to the trash. You can undo this turn." : "You can undo this."}
      onClose={onClose}
      acts={
        <>
          <Button autoFocus onClick={() => onAnswer(false, false)}>
            Cancel job
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
