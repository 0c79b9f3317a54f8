import { Columns2 } from "lucide-react";
import type { ReactNode } from "react";
import { show, useStore } from "@/state/store";
import { Button, IconButton } from "@/ui/Button";
import css from "./ChangeBanner.module.css";
import { decideAll } from "./decisions";
import type { Draft } from "./hunkPlaces";
import { formatBanner, listOpenHunks } from "./reviewText";
import { isWithAgent } from "./sides";

interface ChangeBannerProps {
  draft: Draft;
  /** Whether only whole turns are decided. */
  byTurn: boolean;
  onView: () => void;
}

/** What agents did to the document in front, and what to do with all of it. */
export function ChangeBanner({ draft, byTurn, onView }: ChangeBannerProps): ReactNode {
  const views = useStore((store) => store.views);
  const { path } = draft;
  const comparing = views[path] === "compare";
  const hunks = listOpenHunks(draft);
  const conflicts = hunks.filter((hunk) => hunk.conflict && isWithAgent(hunk)).length;
  const proposed = hunks.some(isWithAgent);
  const warning = hunks.find((hunk) => hunk.warning)?.warning;
  if (hunks.length === 0) return null;

  return (
    <section className={css.banner} aria-label="Changes in this document">
      <p className={css.text}>
        {formatBanner(draft)}
        {conflicts > 0 ? `, ${hunks.length === 1 ? "" : `${conflicts} `}in conflict with another change` : ""}
      </p>
      {warning ? <p className={css.warning}>{warning}</p> : null}
      <span className={css.acts}>
        <IconButton
          label="Compare side by side"
          on={comparing}
          onClick={() => show({ views: { ...views, [path]: comparing ? "source" : "compare" } })}
        >
          <Columns2 size={15} />
        </IconButton>
        <Button small title="Go to the next change (Alt+J)" onClick={onView}>
          View
        </Button>
        {proposed ? (
          <>
            <Button small onClick={() => void decideAll("reject", [draft], byTurn)}>
              Undo all
            </Button>
            <Button small look="primary" onClick={() => void decideAll("accept", [draft], byTurn)}>
              Accept all
            </Button>
          </>
        ) : null}
      </span>
    </section>
  );
}
