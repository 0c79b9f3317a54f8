import { ShieldQuestion } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Button } from "@/ui/Button";
import { Modal } from "@/ui/Modal";
import { answerConfirmation, type Consented } from "./actions";
import css from "./agent.module.css";
import { describeWish } from "./descriptions";
import type { Question } from "./jobView";

/** The agent wants to do something that needs consent. The dialog can be closed and reopened with the button. */
export function Consent({ jobId, question }: { jobId: string; question: Question }): ReactNode {
  const [open, setOpen] = useState(true);
  const [sent, setSent] = useState(false);
  const answer = async (allow: boolean, how: Consented) => {
    setOpen(false);
    setSent(true);
    if (!(await answerConfirmation(jobId, question, allow, how))) setSent(false);
  };
  return (
    <div className={css.question}>
      <p className={css.questionText}>
        <ShieldQuestion size={16} aria-hidden />{" "}
        {question.kind === "estimate" || isProgram(question)
          ? question.text.split("\n")[0]
          : `The agent wants to ${describeWish(question)}.`}
      </p>
      <div className={css.acts}>
        <Button small disabled={sent} onClick={() => setOpen(true)}>
          Decide…
        </Button>
      </div>
      {open && !sent && isProgram(question) ? (
        <PermissionDialog question={question} onAnswer={answer} onClose={() => setOpen(false)} />
      ) : null}
      {open && !sent && !isProgram(question) ? (
        <ConsentDialog question={question} onAnswer={answer} onClose={() => setOpen(false)} />
      ) : null}
    </div>
  );
}

/** Whether an agent program asks; its calls are named after it, as `claude:execute`. */
const isProgram = (question: Question): boolean => question.tool.includes(":");

const WAYS: readonly { value: Consented; label: string }[] = [
  { value: "once", label: "Only this once" },
  { value: "job", label: "For the rest of this job" },
  { value: "always", label: "Always in this folder" },
];

/** An agent program asks before a call: what it is, and for how long it is allowed. */
function PermissionDialog({ question, onAnswer, onClose }: ConsentDialogProps): ReactNode {
  const [how, setHow] = useState<Consented>("once");
  const [title, ...patch] = question.text.split("\n");
  return (
    <Modal
      title="Allow this?"
      text={`${title} It works in a private view: nothing changes in the folder before the job is done.`}
      onClose={onClose}
      acts={
        <>
          <Button autoFocus onClick={() => onAnswer(false, "once")}>
            Refuse
          </Button>
          <Button look="primary" onClick={() => onAnswer(true, how)}>
            Allow
          </Button>
        </>
      }
    >
      {patch.length ? <pre className={css.patch}>{patch.join("\n")}</pre> : null}
      <fieldset className={css.ways}>
        <legend>Allow calls of this kind ({question.action})</legend>
        {WAYS.map(({ value, label }) => (
          <label key={value} className={css.check}>
            <input type="radio" name="how" checked={how === value} onChange={() => setHow(value)} /> {label}
          </label>
        ))}
      </fieldset>
    </Modal>
  );
}

const FEW = 5;

interface ConsentDialogProps {
  question: Question;
  onAnswer: (allow: boolean, how: Consented) => void;
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
          <Button autoFocus onClick={() => onAnswer(false, "once")}>
            Cancel job
          </Button>
          <Button look={destroys ? "danger" : "primary"} onClick={() => onAnswer(true, always ? "always" : "once")}>
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
