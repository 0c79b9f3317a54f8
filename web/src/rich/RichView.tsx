import { Text } from "@codemirror/state";
import { type ReactNode, type Ref, useEffect, useImperativeHandle, useLayoutEffect, useRef, useState } from "react";
import { errorMessage } from "@/api/client";
import { colourOf } from "@/editor/cursors";
import type { Facts } from "@/editor/facts";
import type { Session } from "@/live/session";
import { decideHunk, decideUnit, splitHunk } from "@/review/decisions";
import { type Draft, type Hunk, placeHunks } from "@/review/hunkPlaces";
import { findSplit } from "@/review/hunkSplit";
import { goToNextDocument, withTurn } from "@/review/otherDocuments";
import { listUnits, type ReviewUnit } from "@/review/reviewUnits";
import { decideApplied } from "@/review/useApplied";
import { show } from "@/state/store";
import { Button } from "@/ui/Button";
import { Empty } from "@/ui/Small";
import { markdownApi, type ParsedMarkdown } from "./markdownApi";
import "./bridge";
import { cursorPrompt } from "./cursorPrompt";
import { cursors, showCursors } from "./cursors";
import { LONGEST, switchView } from "./documentViews";
import { linesOf } from "./lines";
import css from "./RichView.module.css";
import { RichEditor } from "./richEditor";
import { trackFacts } from "./richFacts";
import { dropHunks, reviewExtensions, stepToHunk, stretchOfHunk } from "./richReview";
import { RichTools } from "./tools";
import { rememberPlace, restorePlace, useGoToPlace } from "./usePlaces";
import { useRichReview } from "./useRichReview";

// Laying out all of a longer text takes the browser long.
const MANY = 100_000;

export interface RichViewProps {
  path: string;
  session: Session;
  facts: Facts;
  readOnly: boolean;
  draft: Draft | null;
  /** What was written at once, and can be kept or undone. */
  applied: readonly Hunk[];
  byTurn: boolean;
  name: string;
  onConflict: (hunk: Hunk) => void;
  stepping: Ref<RichViewHandle>;
  onPending: (pending: boolean) => void;
}

/** Go from hunk to hunk. */
export interface RichViewHandle {
  step(direction: number, wanted?: (hunk: Hunk) => boolean): void;
  focus(): void;
  /** Ask the agent about what is at the cursor. */
  ask(): void;
}

/** A markdown document in the rich view, editable. */
export default function RichView(props: RichViewProps): ReactNode {
  const { path, session } = props;
  const [opening, setOpening] = useState<{ text: string; reading: ParsedMarkdown } | null>(null);
  const [problem, setProblem] = useState("");
  const long = session.text.length > LONGEST;
  useEffect(() => {
    if (long) return;
    let ended = false;
    let again: ReturnType<typeof setTimeout> | undefined;
    const open = async () => {
      const text = session.text.toString();
      try {
        const reading = await markdownApi.parse(text);
        if (!ended) setOpening({ text, reading });
      } catch (error) {
        if (ended) return;
        setProblem(errorMessage(error));
        again = setTimeout(open, 1000);
      }
    };
    void open();
    return () => {
      ended = true;
      clearTimeout(again);
    };
  }, [session, long]);
  if (opening) return <RichPage {...props} {...opening} />;
  if (!long) return <Empty>{problem || "Opening…"}</Empty>;
  return (
    <div className={css.tooLong}>
      <p>This document is too long for the rich view. The limit is 2,000,000 characters.</p>
      <Button onClick={() => void switchView(path, "source")}>Show source</Button>
    </div>
  );
}

interface RichPageProps extends RichViewProps {
  text: string;
  reading: ParsedMarkdown;
}

function RichPage(props: RichPageProps): ReactNode {
  const { path, session, name, readOnly, draft, applied, stepping, text } = props;
  const host = useRef<HTMLDivElement>(null);
  const { editing, problem, settled } = useRichEditor(host, props);
  useRichReview(editing, draft, applied, settled);
  useGoToPlace(editing, path, settled);
  useEffect(() => {
    session.awareness.setLocalStateField("user", { name, color: colourOf(session.doc.clientID) });
  }, [session, name]);
  useImperativeHandle(stepping, () => ({
    step: (by, wanted) =>
      void (editing && stepToHunk(editing.editor.view, by, (step) => goToNextDocument(path, step), wanted)),
    focus: () => editing?.editor.view.focus(),
    ask: () => editing && show({ prompt: cursorPrompt(editing) }),
  }));
  return (
    <div className={css.view}>
      {editing && !readOnly ? <RichTools editor={editing.editor} path={path} /> : null}
      {problem ? (
        <p className={css.problem} role="status">
          {problem}
        </p>
      ) : null}
      <div className={css.scroll} data-scroller>
        <div className={text.length > MANY ? `${css.page} ${css.long}` : css.page} ref={host} />
      </div>
    </div>
  );
}

interface EditorState {
  editing: RichEditor | null;
  problem: string;
  /** The text that the editor shows; null while it shows another. */
  settled: string | null;
}

/** A rich editor in an element, while that exists. */
function useRichEditor(host: { current: HTMLDivElement | null }, props: RichPageProps): EditorState {
  const { path, session, facts, text, reading, onPending } = props;
  const [editing, setEditing] = useState<RichEditor | null>(null);
  const [problem, setProblem] = useState("");
  const [settled, setSettled] = useState<string | null>(text);
  // The editor always calls the latest callbacks, without being created again.
  const given = useRef(props);
  given.current = props;
  // Before the page changes: a removed element no longer has the focus.
  useLayoutEffect(() => {
    if (!host.current) return;
    const extensions = [...reviewExtensions(reviewActions(given, () => made)), cursors];
    const onChange = (error: unknown) => {
      setProblem(error ? errorMessage(error) : "");
      setSettled(made.sync.settled ? made.sync.text : null);
      onPending(made.sync.pending);
    };
    const { path, readOnly } = given.current;
    const page = { host: host.current, path, session, readOnly, text, reading, extensions, onChange };
    const made: RichEditor = new RichEditor(page);
    setEditing(made);
    setSettled(made.sync.settled ? text : null);
    restorePlace(made);
    const ends = [trackFacts(made, facts), showCursors(made)];
    return () => {
      rememberPlace(made);
      for (const end of ends) end();
      setEditing(null);
      onPending(false);
      made.end();
    };
  }, [host, session, facts, text, reading, onPending]);
  useEffect(() => editing?.rename(path), [editing, path]);
  useEffect(() => editing?.allow(!props.readOnly), [editing, props.readOnly]);
  return { editing, problem, settled };
}

/** What the bars and the keys of a review do. */
function reviewActions(given: { current: RichViewProps }, editing: () => RichEditor) {
  return {
    decide: (act: "accept" | "reject", hunk: Hunk) => {
      const { draft, byTurn } = given.current;
      if (hunk.applied !== undefined) return decideApplied(act, given.current.path, hunk);
      if (!draft) return;
      if (!byTurn) dropHunks(editing().editor.view, [hunk.hunk_id]);
      void decideHunk(act, draft, hunk, byTurn);
    },
    units: (hunk: Hunk) => {
      const text = Text.of(linesOf(editing().sync.text));
      const changes = given.current.draft?.hunks.filter(({ kind }) => kind === "modified") ?? [];
      return withTurn(listUnits(text, placeHunks(changes, text).placed, hunk), hunk);
    },
    decideUnit: (act: "accept" | "reject", unit: ReviewUnit) => {
      const { draft } = given.current;
      if (!draft) return;
      const ids = unit.hunks.map(({ hunk_id }) => hunk_id);
      dropHunks(editing().editor.view, ids);
      void decideUnit(act, draft, unit);
    },
    refine: (hunk: Hunk) => {
      const words = stretchOfHunk(editing().editor.view, hunk.hunk_id);
      if (words) show({ prompt: cursorPrompt(editing(), { ...words, words: hunk.working || hunk.base }) });
    },
    goOn: (step: number) => goToNextDocument(given.current.path, step),
    settle: (hunk: Hunk) => given.current.onConflict(hunk),
    showTurn: (turn: number) => show({ dialog: { kind: "turn", turn } }),
    split: (hunk: Hunk) => void splitHunk(given.current.path, hunk, findSplit(hunk.working)),
    get byTurn() {
      return given.current.byTurn;
    },
  };
}
