import type { ReactNode } from "react";
import { showAs } from "@/rich/turning";
import type { DocumentView } from "@/state/store";
import css from "./StatusBar.module.css";

const NAMES: Record<DocumentView, string> = { rich: "Rich", source: "Source", compare: "Compare" };

interface ViewSwitchProps {
  path: string;
  shown: DocumentView;
  /** Those that this document can be shown in. */
  views: readonly DocumentView[];
}

/** Show a document in one way or another; each document keeps its own. */
export function ViewSwitch({ path, shown, views }: ViewSwitchProps): ReactNode {
  return (
    <fieldset className={css.views} aria-label="View">
      {views.map((view) => (
        <button key={view} type="button" aria-pressed={view === shown} onClick={() => void showAs(path, view)}>
          {NAMES[view]}
        </button>
      ))}
    </fieldset>
  );
}
