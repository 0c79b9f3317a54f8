import { useQuery } from "@tanstack/react-query";
import { ChevronRight } from "lucide-react";
import { Collapsible } from "radix-ui";
import { type ReactNode, useMemo, useState } from "react";
import { reviewQuery, workspaceQuery } from "@/api/queries";
import { HunkLines } from "@/history/HunkLines";
import { type DiffLine, linesBetween } from "@/history/patch";
import { openDocument } from "@/state/documents";
import { Button } from "@/ui/Button";
import { pluralize } from "@/ui/format";
import { Badge } from "@/ui/Small";
import { decideAll } from "./decisions";
import { type Draft, type Hunk, normalizeNewlines } from "./hunkPlaces";
import { countLabelled } from "./labels";
import css from "./ReviewSummary.module.css";
import { formatSummary, KIND_TONES, kindName, listOpenHunks, sortDrafts } from "./reviewText";

/** What is pending in the whole folder, by kind of change; unless all of it is in front, with its own banner. */
export function ReviewSummary({ front }: { front: string | undefined }): ReactNode {
  const { data } = useQuery(reviewQuery);
  const byTurn = useQuery(workspaceQuery).data?.review === "turn";
  const [onlyLabelled, setOnlyLabelled] = useState(false);
  const drafts = (data ?? []).filter(({ pending }) => pending);
  if (drafts.every(({ path }) => path === front)) return null;
  const labelled = drafts.reduce((sum, draft) => sum + countLabelled(draft), 0);
  const wanted = onlyLabelled && labelled > 0 ? drafts.filter((draft) => countLabelled(draft) > 0) : drafts;
  const sorted = sortDrafts(wanted).sort((one, other) => countLabelled(other) - countLabelled(one));
  return (
    <Collapsible.Root asChild>
      <section className={css.summary} aria-label="Changes to review">
        <div className={css.head}>
          <Collapsible.Trigger className={css.trigger}>
            <ChevronRight size={15} className={css.arrow} aria-hidden />
            {formatSummary(drafts)}
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
          {labelled > 0 ? (
            <label className={css.filter}>
              <input
                type="checkbox"
                checked={onlyLabelled}
                onChange={(event) => setOnlyLabelled(event.target.checked)}
              />
              {`Only documents with changes to check first (${labelled})`}
            </label>
          ) : null}
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
  const hunks = listOpenHunks(draft);
  const labelled = countLabelled(draft);
  const moved = draft.kind === "moved" && draft.base_path ? ` (was ${draft.base_path})` : "";
  const label = `${draft.path}${moved}`;
  return (
    <Collapsible.Root asChild>
      <li>
        <div className={css.file}>
          <Badge tone={KIND_TONES[draft.kind]}>{kindName(draft.kind)}</Badge>
          <button type="button" className={css.path} onClick={() => void openDocument(draft.path)}>
            {label}
          </button>
          {labelled > 0 ? <Badge tone="warn">{`${labelled} to check`}</Badge> : null}
          <Collapsible.Trigger className={css.unfold} aria-label={`Show changes in ${draft.path}`}>
            <ChevronRight size={13} className={css.arrow} aria-hidden />
            {pluralize(hunks.length, "change")}
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

/** Beyond these, opening the document says more. */
const MANY = 200;

/** What would change in a document, hunk by hunk, readable without opening it. */
function DraftDiff({ draft }: { draft: Draft }): ReactNode {
  const { shown, left } = useMemo(() => firstLines(draft), [draft]);
  return (
    <section className={css.diff} aria-label={`Changes in ${draft.path}`}>
      {shown.map(({ id, lines }) => (
        <HunkLines key={id} lines={lines} />
      ))}
      {shown.length === 0 ? <p className={css.count}>No text changes.</p> : null}
      {left > 0 ? <p className={css.count}>And {left} more lines.</p> : null}
    </section>
  );
}

function firstLines(draft: Draft): { shown: { id: string; lines: DiffLine[] }[]; left: number } {
  const shown: { id: string; lines: DiffLine[] }[] = [];
  let left = 0;
  let room = MANY;
  for (const hunk of listOpenHunks(draft)) {
    const lines = hunkLines(hunk);
    if (lines.length > 0 && room > 0) shown.push({ id: hunk.hunk_id, lines: lines.slice(0, room) });
    left += Math.max(lines.length - room, 0);
    room = Math.max(room - lines.length, 0);
  }
  return { shown, left };
}

function hunkLines({ base, working, start_line, working_start_line }: Hunk): DiffLine[] {
  return linesBetween(normalizeNewlines(base), normalizeNewlines(working), start_line, working_start_line);
}
