import { useQuery } from "@tanstack/react-query";
import { ChevronRight } from "lucide-react";
import { Collapsible } from "radix-ui";
import type { ReactNode } from "react";
import { reviewQuery, workspaceQuery } from "@/api/queries";
import { open } from "@/state/documents";
import { Button } from "@/ui/Button";
import { Badge, type Tone } from "@/ui/Small";
import { DraftDiff } from "./DraftDiff";
import { decideAll } from "./deciding";
import type { Draft } from "./placing";
import css from "./ReviewSummary.module.css";
import { counted, kindName, openHunks, summaryText } from "./telling";

const TONES: Record<Draft["kind"], Tone> = { created: "added", modified: "agent", moved: "plain", deleted: "removed" };
const ORDER: Draft["kind"][] = ["created", "modified", "moved", "deleted"];

/** What waits for a decision in the whole folder, by kind of change; unless it is all in front, with its own banner. */
export function ReviewSummary({ front }: { front: string | undefined }): ReactNode {
  const { data } = useQuery(reviewQuery);
  const byTurn = useQuery(workspaceQuery).data?.review === "turn";
  const drafts = (data ?? []).filter(({ pending }) => pending);
  if (drafts.every(({ path, kind }) => path === front && kind !== "deleted")) return null;
  const sorted = ORDER.flatMap((kind) => drafts.filter((draft) => draft.kind === kind));
  return (
    <Collapsible.Root asChild>
      <section className={css.summary} aria-label="Changes that wait for you">
        <div className={css.head}>
          <Collapsible.Trigger className={css.trigger}>
            <ChevronRight size={15} className={css.arrow} aria-hidden />
            {summaryText(drafts)}
          </Collapsible.Trigger>
          <span className={css.acts}>
            <Button small onClick={() => void decideAll("reject", drafts, byTurn)}>
              Reject all
            </Button>
            <Button small look="primary" onClick={() => void decideAll("accept", drafts, byTurn)}>
              Accept all
            </Button>
          </span>
        </div>
        <Collapsible.Content>
          <ul className={css.files}>
            {sorted.map((draft) => (
              <SummaryRow key={draft.path} draft={draft} byTurn={byTurn} />
            ))}
          </ul>
        </Collapsible.Content>
      </section>
    </Collapsible.Root>
  );
}

function SummaryRow({ draft, byTurn }: { draft: Draft; byTurn: boolean }): ReactNode {
  const hunks = openHunks(draft);
  const moved = draft.kind === "moved" && draft.base_path ? ` (was ${draft.base_path})` : "";
  const label = `${draft.path}${moved}`;
  return (
    <Collapsible.Root asChild>
      <li>
        <div className={css.file}>
          <Badge tone={TONES[draft.kind]}>{kindName(draft.kind)}</Badge>
          {draft.kind === "deleted" ? (
            <span className={css.path}>{label}</span>
          ) : (
            <button type="button" className={css.path} onClick={() => void open(draft.path)}>
              {label}
            </button>
          )}
          <Collapsible.Trigger className={css.unfold} aria-label={`Show what changes in ${draft.path}`}>
            <ChevronRight size={13} className={css.arrow} aria-hidden />
            {counted(hunks.length, "change")}
          </Collapsible.Trigger>
          {byTurn ? null : <SummaryActs draft={draft} />}
        </div>
        <Collapsible.Content>
          <DraftDiff draft={draft} />
        </Collapsible.Content>
      </li>
    </Collapsible.Root>
  );
}

function SummaryActs({ draft }: { draft: Draft }): ReactNode {
  return (["reject", "accept"] as const).map((act) => {
    const name = act === "reject" ? "Reject" : "Accept";
    return (
      <Button
        key={act}
        small
        look="quiet"
        aria-label={`${name} ${draft.path}`}
        onClick={() => void decideAll(act, [draft], false)}
      >
        {name}
      </Button>
    );
  });
}
