import { Columns2 } from "lucide-react";
import type { ReactNode } from "react";
import { show, useStore } from "@/state/store";
import { Button, IconButton } from "@/ui/Button";
import css from "./ChangeBanner.module.css";
import { decideAll, decideHunk } from "./decisions";
import type { Draft, Hunk } from "./hunkPlaces";
import { countLabelled, isLabelled } from "./labels";
import { formatBanner, listOpenHunks } from "./reviewText";
import { isWithAgent } from "./sides";

interface ChangeBannerProps {
  draft: Draft;
  /** Whether only whole turns are decided. */
  byTurn: boolean;
  /** Go to the next change, or the next of those that are wanted. */
  onView: (wanted?: (hunk: Hunk) => boolean) => void;
}

/** What agents did to the document in front, and buttons for all of it; a proposed deletion is asked separately. */
export function ChangeBanner({ draft, byTurn, onView }: ChangeBannerProps): ReactNode {
  const deletion = draft.hunks.find(({ kind }) => kind === "deleted");
  if (!deletion) return <ChangesBar draft={draft} byTurn={byTurn} onView={onView} />;
  const rest: Draft = { ...draft, kind: "modified", hunks: draft.hunks.filter((hunk) => hunk !== deletion) };
  return (
    <>
      <section className={css.banner} aria-label="Proposed deletion">
        <p className={css.text}>AI proposes to move this document to the trash</p>
        {deletion.warning ? <p className={css.warning}>{deletion.warning}</p> : null}
        <span className={css.acts}>
          <Button small onClick={() => void decideHunk("reject", draft, deletion, byTurn)}>
            Reject
          </Button>
          <Button small look="primary" onClick={() => void decideHunk("accept", draft, deletion, byTurn)}>
            Accept
          </Button>
        </span>
      </section>
      <ChangesBar draft={rest} byTurn={byTurn} onView={onView} />
    </>
  );
}

function ChangesBar({ draft, byTurn, onView }: ChangeBannerProps): ReactNode {
  const views = useStore((store) => store.views);
  const { path } = draft;
  const comparing = views[path] === "compare";
  const hunks = listOpenHunks(draft);
  const conflicts = hunks.filter((hunk) => hunk.conflict && isWithAgent(hunk)).length;
  const proposed = hunks.some(isWithAgent);
  const warning = hunks.find((hunk) => hunk.warning)?.warning;
  const labelled = countLabelled(draft);
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
        {labelled > 0 ? (
          <Button small title="Go to the next change that has a label" onClick={() => onView(isLabelled)}>
            {`Check ${labelled} first`}
          </Button>
        ) : null}
        <Button small title="Go to the next change (Alt+J)" onClick={() => onView()}>
          View
        </Button>
        {proposed ? (
          <>
            <Button small onClick={() => void decideAll("reject", [draft], byTurn)}>
              Reject all
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
