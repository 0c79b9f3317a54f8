import { lazy, type ReactNode, Suspense, useEffect, useSyncExternalStore } from "react";
import { Group, Panel, Separator, useDefaultLayout } from "react-resizable-panels";
import { AgentStatus } from "@/agent/AgentStatus";
import { AskAtCursor } from "@/agent/AskAtCursor";
import { SidePanelView } from "@/panels/SidePanelView";
import { ReviewSummary } from "@/review/ReviewSummary";
import { useArrivals } from "@/review/useArrivals";
import { setFront, watchWindowUse } from "@/state/front";
import { isNarrow, onNarrow } from "@/state/narrow";
import { show, useStore } from "@/state/store";
import { Button } from "@/ui/Button";
import { Documents } from "./Documents";
import css from "./Layout.module.css";
import { Notices } from "./Notices";
import { Rail } from "./Rail";
import { TopBar } from "./TopBar";
import { useTabs } from "./useTabs";

const AgentSidebar = lazy(() => import("@/agent/AgentSidebar").then((found) => ({ default: found.AgentSidebar })));

/** The window: the rail, a panel, the documents, the agent. A narrow screen shows one of them at a time. */
export function Layout(): ReactNode {
  const side = useStore((store) => store.side);
  const agentOpen = useStore((store) => store.agentOpen);
  const focusMode = useStore((store) => store.focusMode);
  const narrow = useNarrow();
  const { front } = useTabs();
  useFront();
  useArrivals(front?.path);
  const ids = ["side", "documents", "agent"].filter((id) => (id === "side" ? side : id !== "agent" || agentOpen));
  const saved = useDefaultLayout({ id: "redraft", panelIds: narrow ? ["documents"] : ids });
  const agent = (
    <Suspense fallback={null}>
      <AgentSidebar />
    </Suspense>
  );
  if (focusMode && front) {
    return (
      <div className={css.window}>
        <div className={css.leave}>
          <Button small look="quiet" onClick={() => show({ focusMode: false })}>
            Leave focus mode <kbd>Alt+Z</kbd>
          </Button>
        </div>
        <div className={css.only}>
          <Documents alone />
        </div>
      </div>
    );
  }
  const pane = side ? <SidePanelView panel={side} /> : agentOpen ? agent : null;
  return (
    <div className={css.window}>
      <TopBar />
      <Notices />
      <ReviewSummary front={front?.path} />
      <div className={css.body}>
        <Rail narrow={narrow} />
        {narrow ? (
          <>
            {/* Kept while another pane is shown: the place in the text stays. */}
            <div className={css.only} hidden={pane !== null} style={pane ? { display: "none" } : undefined}>
              <Documents />
            </div>
            {pane ? <div className={css.only}>{pane}</div> : null}
          </>
        ) : (
          <Group className={css.panels ?? ""} orientation="horizontal" {...saved}>
            {side ? (
              <>
                <Panel id="side" className={css.panel ?? ""} defaultSize={260} minSize={180} maxSize="45%">
                  <SidePanelView panel={side} />
                </Panel>
                <Separator className={css.separator ?? ""} aria-label="Resize panel" />
              </>
            ) : null}
            <Panel id="documents" className={css.panel ?? ""} minSize={280}>
              <Documents />
            </Panel>
            {agentOpen ? (
              <>
                <Separator className={css.separator ?? ""} aria-label="Resize agent panel" />
                <Panel id="agent" className={css.panel ?? ""} defaultSize={360} minSize={260} maxSize="55%">
                  {agent}
                </Panel>
              </>
            ) : null}
          </Group>
        )}
      </div>
      <AgentStatus />
      <AskAtCursor />
    </div>
  );
}

/** Tells the server what is in front of the person, if this window was the last one used. */
function useFront(): void {
  const { front } = useTabs();
  const selection = useStore((store) => store.selection);
  const tabId = front?.tab_id;
  const chosen = selection && selection.path === front?.path ? selection : null;
  useEffect(watchWindowUse, []);
  useEffect(() => {
    setFront(tabId === undefined ? null : { tabId, selection: chosen });
  }, [tabId, chosen]);
}

/** Whether there is space for only one column. */
function useNarrow(): boolean {
  return useSyncExternalStore(onNarrow, isNarrow);
}
