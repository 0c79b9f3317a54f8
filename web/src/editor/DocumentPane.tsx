import type { EditorView } from "@codemirror/view";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useCallback, useMemo, useState } from "react";
import { workspaceQuery } from "@/api/queries";
import { liveDocument } from "@/live/registry";
import { useLive } from "@/live/useLive";
import { ChangeBanner } from "@/review/ChangeBanner";
import { CompareView } from "@/review/CompareView";
import { ConflictDialog } from "@/review/ConflictDialog";
import type { Hunk } from "@/review/placing";
import { stepInText } from "@/review/stepping";
import { useReview } from "@/review/useReview";
import { show, useStore } from "@/state/store";
import { Empty } from "@/ui/Small";
import css from "./DocumentPane.module.css";
import { Facts } from "./facts";
import { SourceEditor } from "./SourceEditor";
import { StatusBar } from "./StatusBar";
import { useAutosave } from "./useAutosave";
import { useSave } from "./useSave";

interface DocumentPaneProps {
  path: string;
  tabId: string;
}

/** The document in front: what agents did to it, its text, and how it stands. */
export function DocumentPane({ path, tabId }: DocumentPaneProps): ReactNode {
  const document = useMemo(() => liveDocument(path), [path]);
  const live = useLive(document);
  const { data: workspace } = useQuery(workspaceQuery);
  const shown = useStore((store) => store.views[path] ?? "source");
  const prose = useStore((store) => store.prose);
  const draft = useReview(path, live.about, shown === "compare");
  const [facts] = useState(() => new Facts());
  const [view, setView] = useState<EditorView | null>(null);
  const [conflict, setConflict] = useState<Hunk | null>(null);
  const save = useSave(path, tabId);
  useAutosave(live, save);

  const byTurn = workspace?.review === "turn";
  const readOnly = live.status === "gone" || workspace?.caller.role === "viewer";
  const toNext = useCallback(() => {
    if (shown === "compare") show({ views: { ...useStore.getState().views, [path]: "source" } });
    else if (view) stepInText(view, 1);
  }, [path, shown, view]);
  const { session } = document;
  const pane = { path, session, facts, readOnly, draft, onSave: save };

  return (
    <section className={css.pane} data-prose={prose} aria-label={path}>
      {draft?.pending ? <ChangeBanner draft={draft} byTurn={byTurn} onView={toNext} /> : null}
      {live.status === "gone" ? <p className={css.problem}>{live.problem}</p> : null}
      <div className={css.text}>
        {session === null ? (
          <Empty>{live.status === "gone" ? "There is nothing to show." : live.problem || "Opening…"}</Empty>
        ) : shown === "compare" && draft ? (
          <CompareView key={live.generation} {...pane} session={session} draft={draft} />
        ) : (
          <SourceEditor
            key={live.generation}
            {...pane}
            session={session}
            byTurn={byTurn}
            name={workspace?.caller.name ?? "You"}
            onConflict={setConflict}
            onView={setView}
          />
        )}
      </div>
      <StatusBar path={path} live={live} facts={facts} />
      {conflict ? <ConflictDialog path={path} hunk={conflict} onClose={() => setConflict(null)} /> : null}
    </section>
  );
}
