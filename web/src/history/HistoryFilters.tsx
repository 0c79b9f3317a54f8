import type { ReactNode } from "react";
import { Choice, type Options } from "@/app/dialogs/Choice";
import css from "./history.module.css";
import { dayStart } from "./planned";
import { authorOf, type Turn } from "./turns";

export interface Filters {
  author: string;
  days: "" | "0" | "1" | "7";
}

const DAYS: Options<Filters["days"]> = [
  ["", "Any day"],
  ["0", "Today"],
  ["1", "Yesterday"],
  ["7", "The last week"],
];

/** The bounds of the chosen days, as the server wants them. */
export function boundsOf(days: Filters["days"]): { since?: number; until?: number } {
  if (days === "") return {};
  return { since: dayStart(Number(days)), ...(days === "1" && { until: dayStart(0) }) };
}

interface HistoryFiltersProps {
  turns: readonly Turn[];
  filters: Filters;
  onChange: (filters: Filters) => void;
}

/** Show the turns of one author or of some days only. */
export function HistoryFilters({ turns, filters, onChange }: HistoryFiltersProps): ReactNode {
  const names = new Map(turns.map((turn) => [turn.author.name, authorOf(turn)]));
  if (filters.author && !names.has(filters.author)) names.set(filters.author, filters.author);
  const authors: Options<string> = [["", "Everybody"], ...[...names].sort()];
  return (
    <div className={css.filters}>
      <Choice
        label="By"
        options={authors}
        value={filters.author}
        onChange={(author) => onChange({ ...filters, author })}
      />
      <Choice label="When" options={DAYS} value={filters.days} onChange={(days) => onChange({ ...filters, days })} />
    </div>
  );
}
