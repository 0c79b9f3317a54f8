import type { ReactNode } from "react";
import { undoTurn } from "@/state/documents";
import { Button } from "@/ui/Button";
import { pluralize } from "@/ui/format";
import css from "./ChangeBanner.module.css";
import { undoApplied } from "./decisions";
import type { Hunk } from "./hunkPlaces";
import { keep } from "./useApplied";

interface AppliedBannerProps {
  path: string;
  hunks: readonly Hunk[];
  onView: () => void;
}

/** What an agent wrote into the document in front without asking, and buttons for all of it. */
export function AppliedBanner({ path, hunks, onView }: AppliedBannerProps): ReactNode {
  if (hunks.length === 0) return null;
  const turns = [...new Set(hunks.flatMap(({ applied }) => applied ?? []))];
  const undoAll = async () => {
    const [turn] = turns;
    if (turns.length === 1 && turn !== undefined) await undoTurn(turn);
    else for (const hunk of hunks) await undoApplied(path, hunk);
  };
  return (
    <section className={css.banner} aria-label="Applied changes">
      <p className={css.text}>AI changed {pluralize(hunks.length, "place")} here. The changes are saved.</p>
      <span className={css.acts}>
        <Button small title="Go to the next change (Alt+J)" onClick={onView}>
          View
        </Button>
        <Button small onClick={() => void undoAll()}>
          Undo all
        </Button>
        <Button small look="primary" onClick={() => keep(hunks)}>
          Keep all
        </Button>
      </span>
    </section>
  );
}
