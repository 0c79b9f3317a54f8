import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { standing } from "@/agent/undoing";
import { counted } from "@/agent/words";
import type { Schemas } from "@/api/client";
import { turnsQuery } from "@/api/queries";
import { Button } from "@/ui/Button";
import css from "./history.module.css";
import { type Clash, canUndo, redo, rollback, undo } from "./turns";

interface TurnActsProps {
  detail: Schemas["TurnDetail"];
  ticked: ReadonlySet<string>;
  onClashes: (clashes: readonly Clash[]) => void;
  onClose: () => void;
}

/** Taking a turn back: all of it, some hunks, or everything since. The last asks first, for it passes over later work. */
export function TurnActs({ detail, ticked, onClashes, onClose }: TurnActsProps): ReactNode {
  const [asking, setAsking] = useState(false);
  const [acting, setActing] = useState(false);
  const { turn } = detail;
  const { data: turns = [] } = useQuery(turnsQuery);
  // What was proposed and accepted is taken back by undoing the acceptance.
  const undoable = canUndo(turn) ? turn : standing(turns, turn.turn);
  const act = async (what: () => Promise<readonly Clash[]>) => {
    setActing(true);
    const clashes = await what();
    setActing(false);
    onClashes(clashes);
    if (clashes.length === 0) onClose();
  };
  const bringBack = async () => {
    await redo();
    return [];
  };
  if (asking) {
    return (
      <div className={css.asking} role="alertdialog" aria-label="Restore the state before this turn?">
        <p>
          {turn.paths.join(", ")} {turn.paths.length === 1 ? "goes" : "go"} back to what{" "}
          {turn.paths.length === 1 ? "it was" : "they were"} before this turn, whatever came after. It becomes a turn of
          its own, which can be undone.
        </p>
        <Button onClick={() => setAsking(false)}>Cancel</Button>
        <Button look="danger" autoFocus disabled={acting} onClick={() => void act(() => rollback(turn.turn, "all"))}>
          Restore {counted(turn.paths.length, "document")}
        </Button>
      </div>
    );
  }
  return (
    <>
      <Button onClick={onClose}>Close</Button>
      {turn.pruned ? null : <Button onClick={() => setAsking(true)}>Restore the state before…</Button>}
      {ticked.size > 0 && turn.state !== "proposed" ? (
        <Button look="primary" disabled={acting} onClick={() => void act(() => rollback(turn.turn, [...ticked]))}>
          Take back {counted(ticked.size, "hunk")}
        </Button>
      ) : null}
      {turn.state === "undone" ? (
        <Button disabled={acting} onClick={() => void act(bringBack)}>
          Redo the last undo
        </Button>
      ) : null}
      {undoable && !turn.pruned && ticked.size === 0 ? (
        <Button look="primary" disabled={acting} onClick={() => void act(() => undo(undoable.turn))}>
          Undo this turn
        </Button>
      ) : null}
    </>
  );
}
