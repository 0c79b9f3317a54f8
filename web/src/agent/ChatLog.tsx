import { type ReactNode, useEffect, useLayoutEffect, useRef } from "react";
import { errorMessage } from "@/api/client";
import { Button } from "@/ui/Button";
import { Answer } from "./Answer";
import { startNewChat } from "./actions";
import css from "./agent.module.css";
import { EmptyChat } from "./EmptyChat";
import type { Exchange } from "./exchanges";
import type { Session } from "./queries";
import type { ShownJob } from "./useJobs";

interface ChatLogProps {
  talk: readonly Exchange[];
  jobs: readonly ShownJob[];
  session: Session | undefined;
  error: Error | null;
}

/** How close to the end somebody has to be for the view to follow it. */
const NEAR = 80;

/** Requests and their responses, one below the other. */
export function ChatLog({ talk, jobs, session, error }: ChatLogProps): ReactNode {
  const scroller = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  const count = talk.length;

  // Somebody reading further up stays there; somebody at the end follows it while words arrive.
  useLayoutEffect(() => {
    const box = scroller.current;
    if (box && atEnd.current) box.scrollTop = box.scrollHeight;
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new request scrolls to the end
  useEffect(() => {
    atEnd.current = true;
    scroller.current?.scrollTo({ top: scroller.current.scrollHeight });
  }, [count]);

  const onScroll = () => {
    const box = scroller.current;
    if (box) atEnd.current = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR;
  };

  if (error) {
    return (
      <div className={css.scroll}>
        <div className={css.failure} role="alert">
          <p>{errorMessage(error)} This chat may no longer exist.</p>
          <Button small onClick={startNewChat}>
            Start a new chat
          </Button>
        </div>
      </div>
    );
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be scrollable with keys
    <div className={css.scroll} ref={scroller} onScroll={onScroll} role="log" aria-label="Chat" tabIndex={0}>
      {count === 0 ? <EmptyChat /> : null}
      {talk.map((exchange, at) => (
        <article key={exchange.key} className={css.exchange} aria-label={`Request ${at + 1}`}>
          <p className={css.asked}>{exchange.asked}</p>
          <Answer
            exchange={exchange}
            job={jobs.find((job) => job.id === exchange.jobId)}
            session={session}
            last={at === count - 1}
          />
        </article>
      ))}
    </div>
  );
}
