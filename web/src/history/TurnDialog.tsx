import { useQuery } from "@tanstack/react-query";
import { Tabs } from "radix-ui";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { errorMessage } from "@/api/client";
import { turnsQuery } from "@/api/queries";
import { Button } from "@/ui/Button";
import { formatAge, pluralize } from "@/ui/format";
import { Modal } from "@/ui/Modal";
import { Badge, Empty } from "@/ui/Small";
import css from "./history.module.css";
import { sizeOf } from "./patch";
import { TurnActs } from "./TurnActs";
import { TurnDiff } from "./TurnDiff";
import { authorOf, type Clash, describeState, turnQuery } from "./turns";

const Compare = lazy(() => import("./Compare").then((found) => ({ default: found.Compare })));

/** One turn: what it did, how that compares with now, and every way to undo it. */
export function TurnDialog({ turn: number, onClose }: { turn: number; onClose: () => void }): ReactNode {
  const { data: detail, error, refetch } = useQuery(turnQuery(number));
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set());
  const [clashes, setClashes] = useState<readonly Clash[]>([]);
  const tick = (ids: readonly string[], on: boolean) => {
    setTicked((before) => new Set(on ? [...before, ...ids] : [...before].filter((id) => !ids.includes(id))));
  };
  const { data: turns = [] } = useQuery(turnsQuery);
  if (!detail) {
    return (
      <Modal title={`Turn ${number}`} onClose={onClose} wide>
        {error ? (
          <Empty>
            {errorMessage(error)} <Button onClick={() => void refetch()}>Retry</Button>
          </Empty>
        ) : (
          <Empty>Loading…</Empty>
        )}
      </Modal>
    );
  }
  const { turn } = detail;
  const { added, removed } = sizeOf(detail.documents.map((document) => document.patch));
  const kind = describeState(turn, turns);
  return (
    <Modal
      title={turn.title}
      wide
      onClose={onClose}
      text={
        <span className={css.meta}>
          Turn {turn.turn} · {authorOf(turn)} ·{" "}
          <time dateTime={turn.created_at} title={new Date(turn.created_at).toLocaleString()}>
            {formatAge(new Date(turn.created_at))}
          </time>{" "}
          · {pluralize(turn.paths.length, "document")}, <span className={css.added}>+{added}</span>{" "}
          <span className={css.removed}>−{removed}</span> lines {kind ? <Badge>{kind}</Badge> : null}
        </span>
      }
      acts={<TurnActs detail={detail} ticked={ticked} onClashes={setClashes} onClose={onClose} />}
    >
      <Tabs.Root defaultValue="did">
        <Tabs.List className={css.tabs} aria-label="View">
          <Tabs.Trigger value="did" className={css.tab}>
            Changes
          </Tabs.Trigger>
          <Tabs.Trigger value="now" className={css.tab}>
            Compare with now
          </Tabs.Trigger>
        </Tabs.List>
        <Tabs.Content value="did" className={css.sheet}>
          <TurnDiff detail={detail} ticked={ticked} onTick={tick} clashes={clashes} />
        </Tabs.Content>
        <Tabs.Content value="now" className={css.sheet}>
          <Suspense fallback={<Empty>Loading…</Empty>}>
            <Compare turn={turn.turn} paths={detail.documents.map((document) => document.path)} />
          </Suspense>
        </Tabs.Content>
      </Tabs.Root>
    </Modal>
  );
}
