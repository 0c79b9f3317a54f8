import { EditorSelection, EditorState, Prec } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { Session } from "@/live/session";
import { withApplied } from "@/review/appliedHunks";
import { decideHunk, decideUnit, splitHunk } from "@/review/decisions";
import { goToHunk, reviewKeys } from "@/review/hunkNavigation";
import { type Draft, type Hunk, isOpen } from "@/review/hunkPlaces";
import { findSplit } from "@/review/hunkSplit";
import { reviewMarks } from "@/review/marks";
import { goToNextDocument, withTurn } from "@/review/otherDocuments";
import { cursorLineIn, dropHunk, hunksField, pinHunk, setHunks } from "@/review/reviewState";
import { listUnits } from "@/review/reviewUnits";
import { decideApplied } from "@/review/useApplied";
import { isTyping } from "@/review/useArrivals";
import { type Place, show, useStore } from "@/state/store";
import { askBubble } from "./askBubble";
import { cursorPrompt } from "./cursorPrompt";
import { colourOf } from "./cursors";
import css from "./DocumentPane.module.css";
import { editorFor } from "./extensions";
import type { Facts } from "./facts";
import { toRange } from "./places";
import { reportSelection } from "./selectionReport";

interface SourceEditorProps {
  path: string;
  session: Session;
  facts: Facts;
  readOnly: boolean;
  draft: Draft | null;
  /** What was written at once, and can be kept or undone. */
  applied: readonly Hunk[];
  byTurn: boolean;
  /** The name that others see at the person's cursor. */
  name: string;
  onSave: () => void;
  onConflict: (hunk: Hunk) => void;
  onView: (view: EditorView | null) => void;
}

interface LeftPlace {
  selection: EditorSelection;
  scroll: ReturnType<EditorView["scrollSnapshot"]>;
  focused: boolean;
}

/** The cursor position in each document, for when the person returns to its tab, or its editor is created again. */
const places = new Map<string, LeftPlace>();

/** The editable text of a document, with its review. */
export function SourceEditor(props: SourceEditorProps): ReactNode {
  const { path, session, facts, readOnly, draft, applied, name, onView } = props;
  const host = useRef<HTMLDivElement>(null);
  const [view, setView] = useState<EditorView | null>(null);
  // The editor always calls the latest callbacks, without being created again.
  const given = useRef(props);
  given.current = props;

  // Before the page changes: a removed element no longer has the focus.
  useLayoutEffect(() => {
    if (!host.current) return;
    const made = createEditor(host.current, path, session, facts, readOnly, given);
    setView(made);
    onView(made);
    return () => {
      // It may have another name by now.
      const { selection } = made.state;
      places.set(given.current.path, { selection, scroll: made.scrollSnapshot(), focused: made.hasFocus });
      facts.stop();
      onView(null);
      setView(null);
      made.destroy();
    };
  }, [path, session, facts, readOnly, onView]);

  useEffect(() => {
    session.awareness.setLocalStateField("user", { name, color: colourOf(session.doc.clientID) });
  }, [session, name]);
  useHunks(view, draft, applied);
  useArrival(view, path, draft, applied);
  useGoToPlace(view, path);
  return <div className={css.editor} ref={host} />;
}

function createEditor(
  parent: HTMLElement,
  path: string,
  session: Session,
  facts: Facts,
  readOnly: boolean,
  given: { current: SourceEditorProps },
): EditorView {
  const { doc, extensions } = editorFor(path, session, () => given.current.onSave());
  const place = places.get(path);
  const fits = place?.selection.ranges.every(({ to }) => to <= doc.length);
  const state = EditorState.create({
    doc,
    selection: place && fits ? place.selection : EditorSelection.single(0),
    extensions: [
      extensions,
      Prec.high(keymap.of([...reviewKeys])),
      reviewMarks({
        decide: (act, hunk) => {
          const { draft, byTurn } = given.current;
          if (hunk.applied !== undefined) return decideApplied(act, given.current.path, hunk);
          if (!draft) return;
          if (!byTurn) view.dispatch({ effects: dropHunk.of(hunk.hunk_id) });
          void decideHunk(act, draft, hunk, byTurn);
        },
        settle: (hunk) => given.current.onConflict(hunk),
        showTurn: (turn) => show({ dialog: { kind: "turn", turn } }),
        units: (hunk) => withTurn(listUnits(view.state.doc, view.state.field(hunksField), hunk), hunk),
        decideUnit: (act, unit) => {
          const { draft } = given.current;
          if (!draft) return;
          view.dispatch({ effects: unit.hunks.map(({ hunk_id }) => dropHunk.of(hunk_id)) });
          void decideUnit(act, draft, unit);
        },
        refine: (hunk) => {
          const placed = view.state.field(hunksField).find((each) => each.hunk.hunk_id === hunk.hunk_id);
          if (placed) show({ prompt: cursorPrompt(view, given.current.path, placed) });
        },
        goOn: (step) => goToNextDocument(given.current.path, step),
        split: (hunk) => void splitHunk(path, hunk, findSplit(hunk.working, cursorLineIn(view, hunk))),
        get byTurn() {
          return given.current.byTurn;
        },
      }),
      reportSelection(path),
      askBubble(),
      EditorState.readOnly.of(readOnly),
      EditorView.contentAttributes.of({ "aria-label": `Text of ${path}`, spellcheck: "true" }),
      facts.track(),
    ],
  });
  const view: EditorView = new EditorView({
    state,
    parent,
    ...(place && fits ? { scrollTo: place.scroll } : {}),
  });
  if (place?.focused && document.activeElement === document.body) view.focus();
  return view;
}

/** Goes where the search, the outline or anything else sends the person, and confirms it. */
function useGoToPlace(view: EditorView | null, path: string): void {
  const goingTo = useStore((store) => store.goingTo);
  useEffect(() => {
    if (!view || goingTo?.path !== path) return;
    goToPlace(view, goingTo);
    show({ goingTo: null });
  }, [view, goingTo, path]);
}

function goToPlace(view: EditorView, place: Place): void {
  const { from, to } = toRange(view.state.doc, place);
  view.dispatch({
    selection: { anchor: from, head: to },
    effects: EditorView.scrollIntoView(from, { y: "center" }),
  });
  view.focus();
}

const NONE: Hunk[] = [];

/** Shows a review in an editor. Nothing is marked in a document that is decided as a whole. */
function useHunks(view: EditorView | null, draft: Draft | null, applied: readonly Hunk[]): void {
  const hunks = draft && draft.kind !== "created" ? draft.hunks : NONE;
  useEffect(() => {
    if (!view || (hunks.length + applied.length === 0 && view.state.field(hunksField).length === 0)) return;
    view.dispatch({ effects: setHunks.of(withApplied(hunks, applied, view.state.doc)) });
  }, [view, hunks, applied]);
}

/** Shows the first change of a turn that has just arrived, and its bar; the cursor stays where the person types. */
function useArrival(view: EditorView | null, path: string, draft: Draft | null, applied: readonly Hunk[]): void {
  const arrived = useStore((store) => store.arrived);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the changes are shown by then
  useEffect(() => {
    if (!view || arrived?.path !== path) return;
    const first = view.state.field(hunksField).find(({ hunk }) => isOpen(hunk) && hunk.turn === arrived.turn);
    if (!first) return;
    show({ arrived: null });
    if (arrived.focus) return goToHunk(view, first, false);
    if (isTyping()) return;
    const effects = [EditorView.scrollIntoView(first.from, { y: "nearest", yMargin: 80 })];
    view.dispatch({ effects: [...effects, pinHunk.of(first.hunk.hunk_id)] });
  }, [view, path, arrived, draft, applied]);
}
