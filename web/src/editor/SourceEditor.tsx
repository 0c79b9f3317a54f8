import { EditorSelection, EditorState, Prec } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { Session } from "@/live/session";
import { decideHunk, splitHunk } from "@/review/deciding";
import { reviewMarks } from "@/review/marks";
import type { Draft, Hunk } from "@/review/placing";
import { dropHunk, lineWithin } from "@/review/reviewState";
import { cutAt } from "@/review/splitting";
import { reviewKeys } from "@/review/stepping";
import { useHunks } from "@/review/useHunks";
import { show } from "@/state/store";
import { colourOf } from "./cursors";
import css from "./DocumentPane.module.css";
import { typing } from "./extensions";
import type { Facts } from "./facts";
import { selecting } from "./selecting";
import { useGoingTo } from "./useGoingTo";

interface SourceEditorProps {
  path: string;
  session: Session;
  facts: Facts;
  readOnly: boolean;
  draft: Draft | null;
  byTurn: boolean;
  /** The name others see at the person's cursor. */
  name: string;
  onSave: () => void;
  onConflict: (hunk: Hunk) => void;
  onView: (view: EditorView | null) => void;
}

interface Left {
  selection: EditorSelection;
  scroll: ReturnType<EditorView["scrollSnapshot"]>;
  focused: boolean;
}

/** Where the person was in each document, for when they come back to its tab, or its editor is made anew. */
const places = new Map<string, Left>();

/** The text of a document, to type into, with its review. */
export function SourceEditor(props: SourceEditorProps): ReactNode {
  const { path, session, facts, readOnly, draft, name, onView } = props;
  const host = useRef<HTMLDivElement>(null);
  const [view, setView] = useState<EditorView | null>(null);
  // What the editor calls is what was given last, without making the editor anew.
  const given = useRef(props);
  given.current = props;

  // Before the page is changed: what is taken off it has no focus any more.
  useLayoutEffect(() => {
    if (!host.current) return;
    const made = editor(host.current, path, session, facts, readOnly, given);
    setView(made);
    onView(made);
    return () => {
      // By now it may have another name.
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
  useHunks(view, draft);
  useGoingTo(view, path);
  return <div className={css.editor} ref={host} />;
}

function editor(
  parent: HTMLElement,
  path: string,
  session: Session,
  facts: Facts,
  readOnly: boolean,
  given: { current: SourceEditorProps },
): EditorView {
  const { doc, extensions } = typing(path, session, () => given.current.onSave());
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
          if (!draft) return;
          if (!byTurn) view.dispatch({ effects: dropHunk.of(hunk.hunk_id) });
          void decideHunk(act, draft, hunk, byTurn);
        },
        settle: (hunk) => given.current.onConflict(hunk),
        showTurn: (turn) => show({ dialog: { kind: "turn", turn } }),
        split: (hunk) => void splitHunk(path, hunk, cutAt(hunk.working, lineWithin(view, hunk))),
        get byTurn() {
          return given.current.byTurn;
        },
      }),
      selecting(path),
      EditorState.readOnly.of(readOnly),
      EditorView.contentAttributes.of({ "aria-label": `Text of ${path}`, spellcheck: "true" }),
      facts.following(),
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
