import { useQuery } from "@tanstack/react-query";
import { type KeyboardEvent, type ReactNode, useState } from "react";
import { useStore } from "@/state/store";
import css from "./agent.module.css";
import { ChatLog } from "./ChatLog";
import { Composer } from "./Composer";
import { groupExchanges } from "./exchanges";
import { EMPTY_LOG } from "./jobLog";
import type { Phase } from "./jobView";
import { type Session, sessionQuery } from "./queries";
import { SessionList } from "./SessionList";
import { SidebarHead } from "./SidebarHead";
import { undoLastTurn } from "./undo";
import { type ShownJob, useJobs } from "./useJobs";

/** The agent's sidebar: the chat, what the agent is doing, and the composer. */
export function AgentSidebar(): ReactNode {
  const id = useStore((store) => store.session);
  const [listing, setListing] = useState(false);
  const { data: session, error } = useQuery({ ...sessionQuery(id ?? ""), enabled: id !== null });
  const shown = id === null ? undefined : session;
  const talk = groupExchanges(shown?.chat ?? []);
  const jobs = useJobs(talk.flatMap((each) => each.jobId ?? []));

  const undoByKey = (event: KeyboardEvent) => {
    const typing = event.target instanceof HTMLTextAreaElement || event.target instanceof HTMLInputElement;
    if (event.key !== "z" || !(event.ctrlKey || event.metaKey) || event.shiftKey) return;
    if (typing && (event.target as HTMLTextAreaElement).value) return; // the text in it has its own undo
    event.preventDefault();
    void undoLastTurn(jobs);
  };

  return (
    <section className={css.sidebar} aria-label="Agent" onKeyDown={undoByKey}>
      <SidebarHead session={shown} jobs={jobs} listing={listing} onList={() => setListing(!listing)} />
      {listing ? (
        <SessionList onDone={() => setListing(false)} />
      ) : (
        <>
          <ChatLog talk={talk} jobs={jobs} session={shown} error={id === null ? null : error} />
          <Composer session={shown} phase={phaseOf(id, shown, jobs.at(-1), error)} />
        </>
      )}
    </section>
  );
}

/** The state of the last job; "unknown" until the server has answered, "idle" if there is none. */
function phaseOf(
  id: string | null,
  session: Session | undefined,
  last: ShownJob | undefined,
  error: Error | null,
): Phase | "unknown" | "idle" {
  if (id === null || error) return "idle";
  if (!session) return "unknown";
  if (!last || last.forgotten) return "idle";
  return last.log === EMPTY_LOG ? "unknown" : last.log.view.phase;
}
