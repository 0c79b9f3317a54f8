import { type ReactNode, useSyncExternalStore } from "react";
import type { LiveView } from "@/live/liveDocument";
import { switchView } from "@/rich/documentViews";
import type { DocumentView } from "@/state/store";
import type { Facts } from "./facts";
import { formatOf } from "./language";
import css from "./StatusBar.module.css";

interface StatusBarProps {
  path: string;
  live: LiveView;
  facts: Pick<Facts, "subscribe" | "current">;
  /** Whether something typed is not in the document's text yet. */
  pending: boolean;
  /** Shown at the end. */
  children?: ReactNode;
}

const STATUS = { connecting: "Connecting…", live: "Live", offline: "Offline", gone: "Unavailable" } as const;
// How fast most people read prose silently.
const WORDS_PER_MINUTE = 230;
const number = new Intl.NumberFormat("en");

/** The document's status: whether others see it, whether it is saved, and its size. */
export function StatusBar({ path, live, facts, pending, children }: StatusBarProps): ReactNode {
  const { line, column, selected, newlines, counts } = useSyncExternalStore(facts.subscribe, facts.current);
  const storedLocally = live.status === "offline" && (live.unsynced || pending);
  return (
    <footer className={css.bar}>
      <span className={css.status} data-status={live.status} role="status">
        {STATUS[live.status]}
        {storedLocally ? ": what you type is kept in this browser" : ""}
      </span>
      <span>{live.about.saved && !live.unsynced && !pending ? "Saved" : "Unsaved"}</span>
      <span className={css.facts}>
        <span title="Line and column">
          {line}:{column}
        </span>
        {selected > 0 ? <span>{number.format(selected)} selected</span> : null}
        {counts ? <span>{number.format(counts.words)} words</span> : null}
        {counts && counts.words >= WORDS_PER_MINUTE ? (
          <span title="Reading time">{number.format(Math.round(counts.words / WORDS_PER_MINUTE))} min read</span>
        ) : null}
        {counts ? <span>~{number.format(counts.tokens)} tokens</span> : null}
        <span>{formatOf(path)}</span>
        <span title="Line endings">{newlines}</span>
      </span>
      {children}
    </footer>
  );
}

const NAMES: Record<DocumentView, string> = { rich: "Rich", source: "Source", compare: "Compare" };

interface ViewSwitchProps {
  path: string;
  shown: DocumentView;
  /** The views available for this document. */
  views: readonly DocumentView[];
}

/** Switch the view of a document; each document remembers its own. */
export function ViewSwitch({ path, shown, views }: ViewSwitchProps): ReactNode {
  return (
    <fieldset className={css.views} aria-label="View">
      {views.map((view) => (
        <button key={view} type="button" aria-pressed={view === shown} onClick={() => void switchView(path, view)}>
          {NAMES[view]}
        </button>
      ))}
    </fieldset>
  );
}
