import type { EditorView } from "@codemirror/view";
import { useQuery } from "@tanstack/react-query";
import {
  lazy,
  type ReactNode,
  Suspense,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import { lockQuery } from "@/agent/queries";
import { tabsQuery, workspaceQuery } from "@/api/queries";
import type { LiveDocument, LiveView } from "@/live/liveDocument";
import { liveDocument } from "@/live/registry";
import type { Session } from "@/live/session";
import { AppliedBanner } from "@/review/AppliedBanner";
import { ChangeBanner } from "@/review/ChangeBanner";
import { CompareView } from "@/review/CompareView";
import { ConflictDialog } from "@/review/ConflictDialog";
import { stepToHunk } from "@/review/hunkNavigation";
import type { Hunk } from "@/review/hunkPlaces";
import { useApplied } from "@/review/useApplied";
import { useReview } from "@/review/useReview";
import { chosenView, switchView } from "@/rich/documentViews";
import type { RichViewHandle } from "@/rich/RichView";
import { listKeys } from "@/rich/unwrittenKeys";
import { saveDocument } from "@/state/documents";
import { type DocumentView, show, useStore } from "@/state/store";
import { registerText, watchOpening } from "@/state/textFocus";
import { Button } from "@/ui/Button";
import { Empty } from "@/ui/Small";
import { cursorPrompt } from "./cursorPrompt";
import css from "./DocumentPane.module.css";
import { Facts } from "./facts";
import { formatOf } from "./language";
import { lastPlaces } from "./lastPlaces";
import { SourceEditor } from "./SourceEditor";
import { StatusBar, ViewSwitch } from "./StatusBar";
import { useTypewriter } from "./useTypewriter";

const RichView = lazy(() => import("@/rich/RichView"));

interface DocumentPaneProps {
  path: string;
  tabId: string;
}

/** The document in front: the banner about agents' changes, its text, and its status. */
export function DocumentPane({ path, tabId }: DocumentPaneProps): ReactNode {
  const document = useMemo(() => liveDocument(path), [path]);
  const live = useLive(document);
  const { data: workspace } = useQuery(workspaceQuery);
  const { data: lock } = useQuery(lockQuery);
  const prose = useStore((store) => store.prose);
  const chosen = useStore((store) => chosenView(store, path, document.session?.text.length ?? 0));
  const draft = useReview(path, live.about, chosen === "compare");
  const shown = viewOf(path, chosen, draft !== null);
  const [facts] = useState(() => new Facts());
  const [conflict, setConflict] = useState<Hunk | null>(null);
  const [pending, setPending] = useState(false);
  const [view, setView] = useView(path);
  const rich = useRef<RichViewHandle>(null);
  const save = useSave(path, tabId);
  useAutosave(live, save);

  const byTurn = workspace?.review === "turn";
  const lockMessage = lock?.locked ? lock.message : "";
  const readOnly = live.status === "gone" || workspace?.caller.role === "viewer" || lockMessage !== "";
  const toNext = useCallback(
    (wanted?: (hunk: Hunk) => boolean) => {
      if (shown === "compare") void switchView(path, "source");
      else if (shown === "rich") rich.current?.step(1, wanted);
      else if (view) stepToHunk(view, 1, wanted);
    },
    [path, shown, view],
  );
  const toText = useCallback(() => (shown === "rich" ? rich.current?.focus() : view?.focus()), [shown, view]);
  const ask = useCallback(() => {
    if (shown === "rich") rich.current?.ask();
    else if (view) show({ prompt: cursorPrompt(view, path) });
  }, [path, shown, view]);
  const step = useCallback(
    (direction: number) => {
      if (shown === "rich") rich.current?.step(direction);
      else if (view && shown === "source") stepToHunk(view, direction);
    },
    [shown, view],
  );
  useEffect(
    () => registerText({ path, focus: toText, ask: readOnly ? () => {} : ask, step }),
    [path, toText, ask, readOnly, step],
  );
  const pane = useRef<HTMLElement>(null);
  useTypewriter(
    pane,
    useStore((store) => store.typewriter),
  );
  useEffect(() => (pane.current ? watchOpening(pane.current, path) : undefined), [path]);
  const applied = useApplied(path);
  const { session } = document;
  const editing = { path, session, facts, readOnly, draft, applied, onSave: save };
  const reviewing = { byTurn, name: workspace?.caller.name ?? "You", onConflict: setConflict };
  useRestoredTyping(path, session);
  useReturn(document, tabId);

  return (
    <section
      ref={pane}
      className={css.pane}
      data-prose={formatOf(path) === "Markdown" || formatOf(path) === "Text" ? prose : "mono"}
      data-document={path}
      aria-label={path}
    >
      {draft?.pending ? <ChangeBanner draft={draft} byTurn={byTurn} onView={toNext} /> : null}
      <AppliedBanner path={path} hunks={applied} onView={toNext} />
      {live.status === "gone" ? (
        <p className={css.problem}>
          {live.problem}{" "}
          {live.secret && workspace?.caller.at_home ? (
            <Button small onClick={() => show({ dialog: { kind: "secret", path } })}>
              Open…
            </Button>
          ) : null}
        </p>
      ) : null}
      {lockMessage ? <p className={css.problem}>{lockMessage}</p> : null}
      <div className={css.text}>
        {session === null ? (
          <Empty>{live.status === "gone" ? "Nothing to show." : live.problem || "Opening…"}</Empty>
        ) : shown === "compare" && draft ? (
          <CompareView key={live.generation} {...editing} session={session} draft={draft} />
        ) : shown === "rich" ? (
          <Suspense fallback={<Empty>Opening…</Empty>}>
            <RichView
              key={live.generation}
              {...editing}
              {...reviewing}
              session={session}
              stepping={rich}
              onPending={setPending}
            />
          </Suspense>
        ) : (
          <SourceEditor key={live.generation} {...editing} {...reviewing} session={session} onView={setView} />
        )}
      </div>
      <StatusBar path={path} live={live} facts={facts} pending={pending}>
        <ViewSwitch path={path} shown={shown} views={viewsOf(path, draft !== null)} />
      </StatusBar>
      {conflict ? (
        <ConflictDialog path={path} hunk={conflict} onClose={() => setConflict(null)} onSettled={toText} />
      ) : null}
    </section>
  );
}

/** The views available for a document; a single one is not offered. */
function viewsOf(path: string, comparing: boolean): DocumentView[] {
  const rich = formatOf(path) === "Markdown";
  return [...(rich ? (["rich"] as const) : []), "source", ...(comparing ? (["compare"] as const) : [])];
}

function viewOf(path: string, chosen: DocumentView, comparing: boolean): DocumentView {
  return viewsOf(path, comparing).includes(chosen) ? chosen : "source";
}

/** The source editor in front; its cursor position is remembered when it closes. */
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

/** Restores what a rich editor could not write before its page was closed. */
function useRestoredTyping(path: string, session: Session | null): void {
  useEffect(() => {
    if (session && listKeys(path).length > 0)
      void import("@/rich/unwritten").then(({ restoreUnwritten }) => restoreUnwritten(path));
  }, [path, session]);
}

/** Shows a deleted document again once it is back, for example after an undo. */
function useReturn(document: LiveDocument, tabId: string): void {
  const { data: tabs } = useQuery(tabsQuery);
  const there = tabs?.some((tab) => tab.tab_id === tabId && tab.version !== null) ?? false;
  useEffect(() => {
    if (there) document.retry();
  }, [document, there]);
}

/** Saves the document in front. */
function useSave(path: string, tabId: string): () => Promise<void> {
  return useCallback(async () => {
    await saveDocument(tabId, path);
  }, [path, tabId]);
}

const AFTER_MS = 1500;

/** Autosave after a pause in typing; not while something is pending. */
function useAutosave({ about, unsynced, status }: LiveView, save: () => Promise<void>): void {
  const wanted = useStore((store) => store.autosave);
  // Another text is another version, which restarts the pause.
  const due = wanted && status === "live" && !unsynced && !about.saved && about.pending === 0 ? about.version : null;
  useEffect(() => {
    if (due === null) return;
    const soon = setTimeout(() => void save(), AFTER_MS);
    return () => clearTimeout(soon);
  }, [due, save]);
}

/** The current facts about a live document. */
function useLive(document: LiveDocument): LiveView {
  return useSyncExternalStore(document.subscribe, document.view);
}
