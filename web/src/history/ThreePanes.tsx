import { Chunk } from "@codemirror/merge";
import { EditorState, type Range, Text } from "@codemirror/state";
import { Decoration, EditorView, lineNumbers } from "@codemirror/view";
import { type ReactNode, useEffect, useRef } from "react";
import { nonce } from "@/app/nonce";
import css from "./history.module.css";

interface ThreePanesProps {
  now: string;
  before: string;
  turn: string;
}

/** Three texts side by side; what differs from the middle one, the state before, is marked in the others. */
export function ThreePanes({ now, before, turn }: ThreePanesProps): ReactNode {
  const places = useRef<(HTMLDivElement | null)[]>([]);
  useEffect(() => {
    const [left, middle, right] = places.current;
    if (!left || !middle || !right) return;
    const base = Text.of(before.split("\n"));
    const [current, made] = [now, turn].map((text) => Text.of(text.split("\n"))) as [Text, Text];
    const [toNow, toTurn] = [Chunk.build(base, current), Chunk.build(base, made)];
    const sideA = [...toNow, ...toTurn].map(({ fromA, toA }): [number, number] => [fromA, toA]);
    const panes = [
      pane(left, current, "The document now", toNow.map(sideB), css.lineAdded ?? ""),
      pane(middle, base, "The document before the turn", sideA, css.lineRemoved ?? ""),
      pane(right, made, "What the turn made of it", toTurn.map(sideB), css.lineAdded ?? ""),
    ];
    const stop = together(panes);
    return () => {
      stop();
      for (const each of panes) each.destroy();
    };
  }, [now, before, turn]);
  return (
    <div className={css.panes}>
      {["Now", "Before this turn", "As the turn made it"].map((title, at) => (
        <section key={title} className={css.pane} aria-label={title}>
          <h3>{title}</h3>
          <div
            ref={(place) => {
              places.current[at] = place;
            }}
          />
        </section>
      ))}
    </div>
  );
}

const sideB = ({ fromB, toB }: Chunk): [number, number] => [fromB, toB];

function pane(
  parent: HTMLElement,
  doc: Text,
  label: string,
  ranges: readonly [number, number][],
  look: string,
): EditorView {
  const line = Decoration.line({ class: look });
  const starts = new Set<number>();
  for (const [from, to] of ranges) {
    for (let at = from; at < to && at <= doc.length; ) {
      const found = doc.lineAt(at);
      starts.add(found.from);
      at = found.to + 1;
    }
  }
  const marks: Range<Decoration>[] = [...starts].sort((one, other) => one - other).map((at) => line.range(at));
  const extensions = [
    EditorView.cspNonce.of(nonce()),
    EditorState.readOnly.of(true),
    EditorView.editable.of(false),
    EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
    EditorView.lineWrapping,
    lineNumbers(),
    EditorView.decorations.of(Decoration.set(marks)),
  ];
  return new EditorView({ parent, state: EditorState.create({ doc, extensions }) });
}

/** Who scrolls one, scrolls all: by the same share of their heights. */
function together(panes: readonly EditorView[]): () => void {
  let leading: HTMLElement | null = null;
  const follow = ({ currentTarget }: Event) => {
    const moved = currentTarget as HTMLElement;
    if (leading && leading !== moved) return;
    leading = moved;
    const share = moved.scrollTop / Math.max(1, moved.scrollHeight - moved.clientHeight);
    for (const { scrollDOM } of panes) {
      if (scrollDOM !== moved) scrollDOM.scrollTop = share * (scrollDOM.scrollHeight - scrollDOM.clientHeight);
    }
    requestAnimationFrame(() => {
      leading = null;
    });
  };
  for (const { scrollDOM } of panes) scrollDOM.addEventListener("scroll", follow);
  return () => {
    for (const { scrollDOM } of panes) scrollDOM.removeEventListener("scroll", follow);
  };
}
