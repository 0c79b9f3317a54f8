import { MergeView } from "@codemirror/merge";
import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { replaceDifference } from "@/editor/binding";
import { editorFor, viewExtensions } from "@/editor/extensions";
import type { Facts } from "@/editor/facts";
import type { Session } from "@/live/session";
import css from "./CompareView.module.css";
import { baseOf, type Draft, placeHunks } from "./hunkPlaces";

interface CompareViewProps {
  path: string;
  session: Session;
  facts: Facts;
  readOnly: boolean;
  draft: Draft;
  onSave: () => void;
}

/** Side by side: the accepted text, read-only, and the current text, editable. */
export function CompareView({ path, session, facts, readOnly, draft, onSave }: CompareViewProps): ReactNode {
  const host = useRef<HTMLDivElement>(null);
  const [merge, setMerge] = useState<MergeView | null>(null);

  useEffect(() => {
    if (!host.current) return;
    const { doc, extensions } = editorFor(path, session, onSave);
    const made = new MergeView({
      parent: host.current,
      a: {
        doc,
        extensions: [
          viewExtensions(path, doc.length),
          EditorState.readOnly.of(true),
          ariaLabel(`${path}, as accepted`),
        ],
      },
      b: {
        doc,
        extensions: [extensions, EditorState.readOnly.of(readOnly), ariaLabel(`Text of ${path}`), facts.track()],
      },
      gutter: true,
      diffConfig: { scanLimit: 500, timeout: 200 },
    });
    setMerge(made);
    return () => {
      facts.stop();
      setMerge(null);
      made.destroy();
    };
  }, [path, session, facts, readOnly, onSave]);

  useEffect(() => {
    if (!merge) return;
    const text = merge.b.state.doc;
    const { placed, whole } = placeHunks(
      draft.hunks.filter(({ kind }) => kind !== "moved"),
      text,
    );
    if (!whole) return; // it was made for an older text; a new one will follow
    const old = merge.a.state.doc.toString();
    const base = baseOf(text, placed);
    if (old !== base) merge.a.dispatch({ changes: replaceDifference(old, base) });
  }, [merge, draft]);

  return (
    <div className={css.compare}>
      <div className={css.heads} aria-hidden>
        <span>Accepted</span>
        <span>Now</span>
      </div>
      <div className={css.merge} ref={host} />
    </div>
  );
}

function ariaLabel(label: string) {
  return EditorView.contentAttributes.of({ "aria-label": label });
}
