import { type ReactNode, useSyncExternalStore } from "react";
import type { LiveView } from "@/live/liveDocument";
import type { Facts } from "./facts";
import { formatOf } from "./language";
import css from "./StatusBar.module.css";

interface StatusBarProps {
  path: string;
  live: LiveView;
  facts: Facts;
}

const STATUS = { connecting: "Connecting…", live: "Live", offline: "Offline", gone: "Not there" } as const;
const number = new Intl.NumberFormat("en");

/** How the document stands: whether others see it, whether it is saved, and how much it is. */
export function StatusBar({ path, live, facts }: StatusBarProps): ReactNode {
  const { line, column, selected, newlines, counts } = useSyncExternalStore(facts.subscribe, facts.current);
  const kept = live.status === "offline" && live.unsynced;
  return (
    <footer className={css.bar}>
      <span className={css.status} data-status={live.status} role="status">
        {STATUS[live.status]}
        {kept ? ": what you type is kept here" : ""}
      </span>
      <span>{live.about.saved && !live.unsynced ? "Saved" : "Not saved"}</span>
      <span className={css.space} />
      {counts ? <span>{number.format(counts.words)} words</span> : null}
      {counts ? <span className={css.wide}>~{number.format(counts.tokens)} tokens</span> : null}
      {selected > 0 ? <span className={css.wide}>{number.format(selected)} selected</span> : null}
      <span title="Line and column">
        {line}:{column}
      </span>
      <span className={css.wide}>{formatOf(path)}</span>
      <span className={css.wide} title="How lines end">
        {newlines}
      </span>
    </footer>
  );
}
