import { MessagesSquare, SquarePen, X } from "lucide-react";
import type { ReactNode } from "react";
import { show } from "@/state/store";
import { IconButton } from "@/ui/Button";
import { startNewChat } from "./actions";
import css from "./agent.module.css";
import { formatSpent, sumSpent } from "./descriptions";
import { sessionTitle } from "./exchanges";
import { NOTHING_SPENT } from "./jobView";
import type { Session } from "./queries";
import type { ShownJob } from "./useJobs";

interface SidebarHeadProps {
  session: Session | undefined;
  jobs: readonly ShownJob[];
  listing: boolean;
  onList: () => void;
}

/** The session's name, its cost, and the menu of other sessions. */
export function SidebarHead({ session, jobs, listing, onList }: SidebarHeadProps): ReactNode {
  const spent = formatSpent(sumSpent([NOTHING_SPENT, ...jobs.map((job) => job.log.view.spent)]));
  return (
    <header className={css.head}>
      <div className={css.headText}>
        <h2 className={css.title}>{listing ? "Past chats" : session ? sessionTitle(session) : "Agent"}</h2>
        {spent && !listing ? <p className={css.spent}>{spent} in this chat</p> : null}
      </div>
      <IconButton label={listing ? "Back to the chat" : "Past chats"} on={listing} onClick={onList}>
        <MessagesSquare size={16} />
      </IconButton>
      <IconButton
        label="New chat"
        disabled={!session && !listing}
        onClick={() => {
          startNewChat();
          if (listing) onList();
        }}
      >
        <SquarePen size={16} />
      </IconButton>
      <IconButton label="Close agent panel" onClick={() => show({ agentOpen: false })}>
        <X size={16} />
      </IconButton>
    </header>
  );
}
