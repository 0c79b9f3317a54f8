import { type ReactNode, useMemo } from "react";
import { HunkLines } from "@/history/HunkLines";
import { type DiffLine, linesBetween } from "@/history/patch";
import { type Draft, type Hunk, plain } from "./placing";
import css from "./ReviewSummary.module.css";
import { openHunks } from "./telling";

/** Beyond these a look at the document itself tells more. */
const MANY = 200;

/** What would change in a document, hunk by hunk, to be read without opening it. */
export function DraftDiff({ draft }: { draft: Draft }): ReactNode {
  const { shown, left } = useMemo(() => beginning(draft), [draft]);
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

function beginning(draft: Draft): { shown: { id: string; lines: DiffLine[] }[]; left: number } {
  const shown: { id: string; lines: DiffLine[] }[] = [];
  let left = 0;
  let room = MANY;
  for (const hunk of openHunks(draft)) {
    const lines = linesIn(hunk, draft);
    if (lines.length > 0 && room > 0) shown.push({ id: hunk.hunk_id, lines: lines.slice(0, room) });
    left += Math.max(lines.length - room, 0);
    room = Math.max(room - lines.length, 0);
  }
  return { shown, left };
}

function linesIn({ base, working, start_line, working_start_line }: Hunk, { kind }: Draft): DiffLine[] {
  return linesBetween(plain(base), kind === "deleted" ? "" : plain(working), start_line, working_start_line);
}
