import { lazy, type ReactNode, Suspense } from "react";
import type { SidePanel } from "@/state/store";
import { FilesPanel } from "./FilesPanel";
import { OutlinePanel } from "./OutlinePanel";
import css from "./panels.module.css";
import { SearchPanel } from "./SearchPanel";

const HistoryPanel = lazy(() => import("./HistoryPanel").then((found) => ({ default: found.HistoryPanel })));
const TrashPanel = lazy(() => import("./TrashPanel").then((found) => ({ default: found.TrashPanel })));

const PANELS: Record<SidePanel, { title: string; body: () => ReactNode }> = {
  files: { title: "Files", body: FilesPanel },
  search: { title: "Search", body: SearchPanel },
  outline: { title: "Outline", body: OutlinePanel },
  history: { title: "History", body: () => <HistoryPanel /> },
  trash: { title: "Trash", body: () => <TrashPanel /> },
};

/** The open side panel. */
export function SidePanelView({ panel }: { panel: SidePanel }): ReactNode {
  const { title, body: Body } = PANELS[panel];
  return (
    <section className={css.panel} aria-label={title}>
      <Suspense fallback={null}>
        <Body />
      </Suspense>
    </section>
  );
}
