import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Redo2, Undo2, UserPen } from "lucide-react";
import { type ReactNode, useState } from "react";
import { errorMessage } from "@/api/client";
import { turnsQuery } from "@/api/queries";
import { BlameDialog } from "@/history/BlameDialog";
import { boundsOf, type Filters, HistoryFilters } from "@/history/HistoryFilters";
import history from "@/history/history.module.css";
import { TurnRow } from "@/history/TurnRow";
import { canUndo, pagesQuery, redo, undo } from "@/history/turns";
import { show, useStore } from "@/state/store";
import { Button, IconButton } from "@/ui/Button";
import { Empty } from "@/ui/Small";
import css from "./panels.module.css";

/** Everything that was done here, newest first, starting from the current state. */
export function HistoryPanel(): ReactNode {
  const active = useStore((store) => store.active);
  const [onlyThis, setOnlyThis] = useState(false);
  const [blaming, setBlaming] = useState(false);
  const [filters, setFilters] = useState<Filters>({ author: "", days: "" });
  const path = onlyThis ? active : null;
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    pagesQuery({ path, author: filters.author, ...boundsOf(filters.days) }),
  );
  const { data: recent = [] } = useQuery(turnsQuery);
  const turns = data?.pages.flatMap((page) => page.turns) ?? [];
  const last = turns.find(canUndo);
  return (
    <>
      <header className={css.head}>
        <h2 className={css.title}>History</h2>
        <IconButton label="Who wrote each line" disabled={!active} onClick={() => setBlaming(true)}>
          <UserPen size={15} />
        </IconButton>
        <IconButton label="Undo the last turn" disabled={!last} onClick={() => last && void undo(last.turn)}>
          <Undo2 size={15} />
        </IconButton>
        <IconButton
          label="Redo the last undone turn"
          disabled={!turns.some((turn) => turn.state === "undone")}
          onClick={() => void redo()}
        >
          <Redo2 size={15} />
        </IconButton>
      </header>
      <HistoryFilters turns={recent} filters={filters} onChange={setFilters} />
      <div className={history.filter}>
        <Button small onClick={() => show({ dialog: { kind: "changes" } })}>
          What changed since yesterday…
        </Button>
      </div>
      {active ? (
        <label className={history.filter}>
          <input type="checkbox" checked={onlyThis} onChange={(event) => setOnlyThis(event.target.checked)} />
          <span className={css.text}>Only {active}</span>
        </label>
      ) : null}
      <div className={css.scroll}>
        {error ? (
          <Empty>
            {errorMessage(error)} <Button onClick={() => void refetch()}>Retry</Button>
          </Empty>
        ) : null}
        {data && turns.length === 0 ? (
          <Empty>No turns yet. Every change, yours and the agent's, will be listed here.</Empty>
        ) : null}
        {turns.length ? (
          <ol className={history.turns} aria-label="Turns">
            <li className={history.now}>Now</li>
            {turns.map((turn) => (
              <TurnRow key={turn.turn} turn={turn} turns={turns} />
            ))}
          </ol>
        ) : null}
        {hasNextPage ? (
          <Button
            look="quiet"
            small
            className={history.more ?? ""}
            disabled={isFetchingNextPage}
            onClick={() => void fetchNextPage()}
          >
            Show older turns
          </Button>
        ) : null}
      </div>
      {blaming && active ? <BlameDialog path={active} onClose={() => setBlaming(false)} /> : null}
    </>
  );
}
