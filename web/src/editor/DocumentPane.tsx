import type { EditorView } from "@codemirror/view";
import { useQuery } from "@tanstack/react-query";
import { lazy, type ReactNode, Suspense, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { lockQuery } from "@/agent/queries";
import { workspaceQuery } from "@/api/queries";
import { liveDocument } from "@/live/registry";
import type { Session } from "@/live/session";
import { useLive } from "@/live/useLive";
import { ChangeBanner } from "@/review/ChangeBanner";
import { CompareView } from "@/review/CompareView";
import { ConflictDialog } from "@/review/ConflictDialog";
import type { Hunk } from "@/review/placing";
import { stepInText } from "@/review/stepping";
import { useReview } from "@/review/useReview";
import { namesOf } from "@/rich/kept";
import type { Stepping } from "@/rich/RichView";
import { showAs } from "@/rich/turning";
import { type DocumentView, useStore } from "@/state/store";
import { Empty } from "@/ui/Small";
import css from "./DocumentPane.module.css";
import { Facts } from "./facts";
import { formatOf } from "./language";
import { lastPlaces } from "./lastPlaces";
import { SourceEditor } from "./SourceEditor";
import { StatusBar } from "./StatusBar";
import { useAutosave } from "./useAutosave";
import { useSave } from "./useSave";
import { ViewSwitch } from "./ViewSwitch";

const RichView = lazy(() => import("@/rich/RichView"));

interface DocumentPaneProps {
  path: string;
  tabId: string;
}

/** The document in front: what agents did to it, its text, and how it stands. */
export function DocumentPane({ path, tabId }: DocumentPaneProps): ReactNode {
  const document = useMemo(() => liveDocument(path), [path]);
  const live = useLive(document);
  const { data: workspace } = useQuery(workspaceQuery);
  const { data: lock } = useQuery(lockQuery);
  const prose = useStore((store) => store.prose);
  const chosen = useStore((store) => store.views[path] ?? "source");
  const draft = useReview(path, live.about, chosen === "compare");
  const shown = viewOf(path, chosen, draft !== null);
  const [facts] = useState(() => new Facts());
  const [conflict, setConflict] = useState<Hunk | null>(null);
  const [pending, setPending] = useState(false);
  const [view, setView] = useView(path);
  const rich = useRef<Stepping>(null);
  const save = useSave(path, tabId);
  useAutosave(live, save);

  const byTurn = workspace?.review === "turn";
  const held = lock?.locked ? lock.message : "";
  const readOnly = live.status === "gone" || workspace?.caller.role === "viewer" || held !== "";
  const toNext = useCallback(() => {
    if (shown === "compare") void showAs(path, "source");
    else if (shown === "rich") rich.current?.step(1);
    else if (view) stepInText(view, 1);
  }, [path, shown, view]);
  const { session } = document;
  const pane = { path, session, facts, readOnly, draft, onSave: save };
  const reviewing = { byTurn, name: workspace?.caller.name ?? "You", onConflict: setConflict };
  useTakingUp(path, session);

  return (
    <section className={css.pane} data-prose={prose} aria-label={path}>
      {draft?.pending ? <ChangeBanner draft={draft} byTurn={byTurn} onView={toNext} /> : null}
      {live.status === "gone" ? <p className={css.problem}>{live.problem}</p> : null}
      {held ? <p className={css.problem}>{held}</p> : null}
      <div className={css.text}>
        {session === null ? (
          <Empty>{live.status === "gone" ? "There is nothing to show." : live.problem || "Opening…"}</Empty>
        ) : shown === "compare" && draft ? (
          <CompareView key={live.generation} {...pane} session={session} draft={draft} />
        ) : shown === "rich" ? (
          <Suspense fallback={<Empty>Opening…</Empty>}>
            <RichView
              key={live.generation}
              {...pane}
              {...reviewing}
              session={session}
              stepping={rich}
              onPending={setPending}
            />
          </Suspense>
        ) : (
          <SourceEditor key={live.generation} {...pane} {...reviewing} session={session} onView={setView} />
        )}
      </div>
      <StatusBar path={path} live={live} facts={facts} pending={pending}>
        <ViewSwitch path={path} shown={shown} views={viewsOf(path, draft !== null)} />
      </StatusBar>
      {conflict ? <ConflictDialog path={path} hunk={conflict} onClose={() => setConflict(null)} /> : null}
    </section>
  );
}

/** The views that a document can be shown in; one alone is no choice. */
function viewsOf(path: string, comparing: boolean): DocumentView[] {
  const rich = formatOf(path) === "Markdown";
  return [...(rich ? (["rich"] as const) : []), "source", ...(comparing ? (["compare"] as const) : [])];
}

function viewOf(path: string, chosen: DocumentView, comparing: boolean): DocumentView {
  return viewsOf(path, comparing).includes(chosen) ? chosen : "source";
}

/** The source editor in front; where the cursor was in it is remembered when it goes. */
function useView(path: string): [EditorView | null, (view: EditorView | null) => void] {
  const [view, setView] = useState<EditorView | null>(null);
  const last = useRef<EditorView | null>(null);
  const taken = useCallback(
    (next: EditorView | null) => {
      if (last.current && !next) {
        const { doc, selection } = last.current.state;
        const line = doc.lineAt(selection.main.head);
        lastPlaces.set(path, {
          line: line.number - 1,
          column: selection.main.head - line.from,
          view: "source",
          focused: last.current.hasFocus,
        });
      }
      last.current = next;
      setView(next);
    },
    [path],
  );
  return [view, taken];
}

/** Brings in what a rich editor could not write before its page was closed. */
function useTakingUp(path: string, session: Session | null): void {
  useEffect(() => {
    if (session && namesOf(path).length > 0) void import("@/rich/keeping").then(({ takeUp }) => takeUp(path));
  }, [path, session]);
}
