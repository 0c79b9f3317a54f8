import { Columns2 } from "lucide-react";
import type { ReactNode } from "react";
import { show, useStore } from "@/state/store";
import { Button, IconButton } from "@/ui/Button";
import css from "./ChangeBanner.module.css";
import { decideAll } from "./deciding";
import type { Draft } from "./placing";
import { bannerText, openHunks } from "./telling";

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
  const hunks = openHunks(draft);
  const conflicts = hunks.filter(({ conflict }) => conflict).length;
  if (hunks.length === 0) return null;

  return (
    <section className={css.banner} aria-label="Changes in this document">
      <p className={css.text}>
        {bannerText(draft)}
        {conflicts > 0 ? `, ${hunks.length === 1 ? "" : `${conflicts} `}in conflict with yours` : ""}
      </p>
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
        <Button small onClick={() => void decideAll("reject", [draft], byTurn)}>
          Undo all
        </Button>
        <Button small look="primary" onClick={() => void decideAll("accept", [draft], byTurn)}>
          Accept all
        </Button>
      </span>
    </section>
  );
}
