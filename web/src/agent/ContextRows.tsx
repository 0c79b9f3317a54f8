import { useQuery } from "@tanstack/react-query";
import { ChevronDown, ChevronUp, Pin, PinOff, X } from "lucide-react";
import type { ReactNode } from "react";
import { treeQuery } from "@/api/queries";
import { openDocument } from "@/state/documents";
import type { LooseRow } from "@/state/store";
import { IconButton } from "@/ui/Button";
import { AddContext } from "./AddContext";
import css from "./agent.module.css";
import { formatTokens } from "./descriptions";
import type { Session } from "./queries";
import { type ContextRow, estimateCost, formatPlace, listRows, moveRow, removeRow, togglePin } from "./rows";

/** The context of a request: passages and documents, the cost of each, and the total. */
export function ContextRows({
  session,
  loose,
}: {
  session: Session | undefined;
  loose: readonly LooseRow[];
}): ReactNode {
  const { data: tree } = useQuery(treeQuery);
  const rows = listRows(session, loose);
  const sizes = new Map(tree?.map((entry) => [entry.path, entry.size]));
  const cost = rows.reduce((sum, row) => sum + estimateCost(row, sizes), 0);
  return (
    <div className={css.context}>
      {rows.length ? (
        <ul aria-label="Context" className={css.rows}>
          {rows.map((row) => (
            <RowLine key={row.id} row={row} rows={rows} cost={estimateCost(row, sizes)} />
          ))}
        </ul>
      ) : null}
      <div className={css.contextFoot}>
        <AddContext />
        {rows.length > 1 ? <span className={css.soft}>≈ {formatTokens(cost)} tokens in total</span> : null}
      </div>
    </div>
  );
}

interface RowLineProps {
  row: ContextRow;
  rows: readonly ContextRow[];
  cost: number;
}

function RowLine({ row, rows, cost }: RowLineProps): ReactNode {
  const alike = rows.filter((other) => other.pinned === row.pinned);
  const place = formatPlace(row);
  const go = () => void openDocument(row.file_path, row.start_line === null ? undefined : { line: row.start_line });
  return (
    <li className={css.row} data-pinned={row.pinned}>
      <button type="button" className={css.rowPlace} title={row.content || place} onClick={go}>
        {place}
      </button>
      <span className={css.soft} title="Estimated tokens">
        ≈ {formatTokens(cost)}
      </span>
      {alike.length > 1 ? (
        <>
          <IconButton
            label={`Move ${place} up`}
            disabled={alike[0] === row}
            onClick={() => void moveRow(rows, row, -1)}
          >
            <ChevronUp size={14} />
          </IconButton>
          <IconButton
            label={`Move ${place} down`}
            disabled={alike.at(-1) === row}
            onClick={() => void moveRow(rows, row, 1)}
          >
            <ChevronDown size={14} />
          </IconButton>
        </>
      ) : null}
      <IconButton
        label={row.pinned ? `Unpin ${place}` : `Pin ${place} to this chat`}
        on={row.pinned}
        onClick={() => void togglePin(row)}
      >
        {row.pinned ? <PinOff size={14} /> : <Pin size={14} />}
      </IconButton>
      <IconButton label={`Remove ${place}`} onClick={() => void removeRow(row)}>
        <X size={14} />
      </IconButton>
    </li>
  );
}
