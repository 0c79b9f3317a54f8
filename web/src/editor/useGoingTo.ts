import { EditorView } from "@codemirror/view";
import { useEffect } from "react";
import { type Place, show, useStore } from "@/state/store";
import { rangeOf } from "./places";

/** Goes where the search, the outline or anybody else sends the person, and says that it is there. */
export function useGoingTo(view: EditorView | null, path: string): void {
  const goingTo = useStore((store) => store.goingTo);
  useEffect(() => {
    if (!view || goingTo?.path !== path) return;
    go(view, goingTo);
    show({ goingTo: null });
  }, [view, goingTo, path]);
}

function go(view: EditorView, place: Place): void {
  const { from, to } = rangeOf(view.state.doc, place);
  view.dispatch({
    selection: { anchor: from, head: to },
    effects: EditorView.scrollIntoView(from, { y: "center" }),
  });
  view.focus();
}
