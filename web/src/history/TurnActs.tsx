import { type ReactNode, useState } from "react";
import type { Schemas } from "@/api/client";
import { Button } from "@/ui/Button";
import { pluralize } from "@/ui/format";
import css from "./history.module.css";
import { Planned } from "./Planned";
import { type Clash, canUndo, redo, rollback, undo } from "./turns";

interface TurnActsProps {
  detail: Schemas["TurnDetail"];
  ticked: ReadonlySet<string>;
  onClashes: (clashes: readonly Clash[]) => void;
  onClose: () => void;
}

/** Undo a turn: all of it, some hunks, or everything since. The last asks first, since it discards later work. */
export function TurnActs({ detail, ticked, onClashes, onClose }: TurnActsProps): ReactNode {
  const [asking, setAsking] = useState(false);
  const [acting, setActing] = useState(false);
  const { turn } = detail;
  // An accepted proposal is undone together with the decisions about it.
  const undoable = canUndo(turn) || (turn.kind === "propose" && turn.state === "applied" && !turn.pruned);
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
          {turn.paths.join(", ")} {turn.paths.length === 1 ? "goes" : "go"} back to the state before this turn, without
          any later changes. This is a new turn, which you can undo.
        </p>
        <Planned turn={turn.turn} act="restore" />
        <Button onClick={() => setAsking(false)}>Cancel</Button>
        <Button look="danger" autoFocus disabled={acting} onClick={() => void act(() => rollback(turn.turn, "all"))}>
          Restore {pluralize(turn.paths.length, "document")}
        </Button>
      </div>
    );
  }
  return (
    <>
      {undoable && ticked.size === 0 ? <Planned turn={turn.turn} act="undo" /> : null}
      <Button onClick={onClose}>Close</Button>
      {turn.pruned ? null : <Button onClick={() => setAsking(true)}>Restore earlier state…</Button>}
      {ticked.size > 0 && turn.state !== "proposed" ? (
        <Button look="primary" disabled={acting} onClick={() => void act(() => rollback(turn.turn, [...ticked]))}>
          Undo {pluralize(ticked.size, "hunk")}
        </Button>
      ) : null}
      {turn.state === "undone" ? (
        <Button disabled={acting} onClick={() => void act(bringBack)}>
          Redo the last undone turn
        </Button>
      ) : null}
      {undoable && ticked.size === 0 ? (
        <Button look="primary" disabled={acting} onClick={() => void act(() => undo(turn.turn))}>
          Undo this turn
        </Button>
      ) : null}
    </>
  );
}
