import { ShieldQuestion } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Button } from "@/ui/Button";
import { confirm } from "./acts";
import css from "./agent.module.css";
import { ConsentDialog } from "./ConsentDialog";
import type { Question } from "./view";
import { wanted } from "./words";

/** The agent wants to do something that needs a yes. The dialog can be put aside and comes back by the button. */
export function Consent({ jobId, question }: { jobId: string; question: Question }): ReactNode {
  const [open, setOpen] = useState(true);
  const [sent, setSent] = useState(false);
  const answer = async (allow: boolean, always: boolean) => {
    setOpen(false);
    setSent(true);
    if (!(await confirm(jobId, question, allow, always))) setSent(false);
  };
  return (
    <div className={css.question}>
      <p className={css.questionText}>
        <ShieldQuestion size={16} aria-hidden />{" "}
        {question.kind === "estimate" ? question.text : `The agent wants to ${wanted(question)}.`}
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
