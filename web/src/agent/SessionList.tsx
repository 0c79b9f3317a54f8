import { useQuery } from "@tanstack/react-query";
import { Archive, ArchiveRestore } from "lucide-react";
import { type ReactNode, useState } from "react";
import { errorMessage } from "@/api/client";
import { show, useStore } from "@/state/store";
import { Button, IconButton } from "@/ui/Button";
import { formatAge } from "@/ui/format";
import { Badge, Empty } from "@/ui/Small";
import { archiveSession } from "./actions";
import css from "./agent.module.css";
import { sessionTitle } from "./exchanges";
import { type Session, sessionsQuery } from "./queries";

/** The chats of this folder, latest first; archived ones only on request. */
export function SessionList({ onDone }: { onDone: () => void }): ReactNode {
  const { data, error, refetch } = useQuery(sessionsQuery);
  const [archived, setArchived] = useState(false);
  const started = (data ?? []).filter((session) => session.chat.length > 0);
  const shown = started.filter((session) => archived || session.status === "active");
  const hidden = started.length - shown.length;
  if (error) {
    return (
      <Empty>
        {errorMessage(error)} <Button onClick={() => void refetch()}>Retry</Button>
      </Empty>
    );
  }
  return (
    <div className={css.scroll}>
      {data && shown.length === 0 ? <Empty>No chats yet. Your chats will appear here.</Empty> : null}
      <ul aria-label="Past chats">
        {shown.map((session) => (
          <PastSession key={session.session_id} session={session} onDone={onDone} />
        ))}
      </ul>
      {hidden > 0 || archived ? (
        <Button look="quiet" small className={css.more ?? ""} onClick={() => setArchived(!archived)}>
          {archived ? "Hide archived" : `Show ${hidden} archived`}
        </Button>
      ) : null}
    </div>
  );
}

function PastSession({ session, onDone }: { session: Session; onDone: () => void }): ReactNode {
  const current = useStore((store) => store.session) === session.session_id;
  const put = session.status === "archived";
  return (
    <li className={css.session} data-on={current}>
      <button
        type="button"
        className={css.sessionOpen}
        aria-current={current}
        onClick={() => {
          show({ session: session.session_id });
          onDone();
        }}
      >
        <span className={css.sessionTitle}>{sessionTitle(session)}</span>
        <span className={css.soft}>
          {formatAge(new Date(session.updated_at))}{" "}
          {session.pending_review ? <Badge tone="agent">to review</Badge> : null}
          {put ? <Badge>archived</Badge> : null}
        </span>
      </button>
      <IconButton label={put ? "Unarchive" : "Archive"} onClick={() => void archiveSession(session.session_id, !put)}>
        {put ? <ArchiveRestore size={15} /> : <Archive size={15} />}
      </IconButton>
    </li>
  );
}
