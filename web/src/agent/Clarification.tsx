import { type FormEvent, type ReactNode, useState } from "react";
import { Button } from "@/ui/Button";
import { answerQuestion } from "./actions";
import css from "./agent.module.css";
import type { Question } from "./jobView";

/** A question from the agent: answer it in words, or leave it to the agent. */
export function Clarification({ jobId, question }: { jobId: string; question: Question }): ReactNode {
  const [answer, setAnswer] = useState("");
  const [sent, setSent] = useState(false);
  const reply = async (text?: string) => {
    setSent(true);
    if (!(await answerQuestion(jobId, question, text))) setSent(false);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (answer.trim()) void reply(answer.trim());
  };
  return (
    <form className={css.question} onSubmit={submit} aria-label="Question from the agent">
      <label className={css.questionText} htmlFor={`answer-${jobId}-${question.id}`}>
        {question.text}
      </label>
      <textarea
        id={`answer-${jobId}-${question.id}`}
        className={css.field}
        rows={2}
        value={answer}
        disabled={sent}
        placeholder="Your answer"
        onChange={(event) => setAnswer(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) submit(event);
        }}
      />
      <div className={css.acts}>
        <Button small disabled={sent} onClick={() => void reply()}>
          Skip and let the agent decide
        </Button>
        <Button small look="primary" type="submit" disabled={sent || !answer.trim()}>
          Answer
        </Button>
      </div>
    </form>
  );
}
