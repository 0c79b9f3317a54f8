import { Chunk } from "@codemirror/merge";
import { EditorState, type Range, Text } from "@codemirror/state";
import { Decoration, EditorView, lineNumbers } from "@codemirror/view";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { errorMessage } from "@/api/client";
import { nonce } from "@/app/nonce";
import { Empty, Labelled } from "@/ui/Small";
import ui from "@/ui/ui.module.css";
import css from "./history.module.css";
import { compareQuery } from "./turns";

/** A document three times: as it is now, before the turn, and after the turn. */
export function Compare({ turn, paths }: { turn: number; paths: readonly string[] }): ReactNode {
  const [path, setPath] = useState(paths[0] ?? "");
  const { data, error } = useQuery({ ...compareQuery(turn, path), enabled: path !== "" });
  if (!path) return <Empty>This turn changed no documents.</Empty>;
  return (
    <>
      {paths.length > 1 ? (
        <Labelled label="Document">
          <select className={ui.field} value={path} onChange={(event) => setPath(event.target.value)}>
            {paths.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </Labelled>
      ) : null}
      {error ? <Empty>{errorMessage(error)}</Empty> : null}
      {data ? (
        <>
          {data.current_file === data.checkpoint_base ? (
            <p className={css.remark}>Nothing of this turn remains: the document is as it was before.</p>
          ) : null}
          <ThreePanes key={path} now={data.current_file} before={data.checkpoint_base} turn={data.agent_proposed} />
        </>
      ) : null}
    </>
  );
}

interface ThreePanesProps {
  now: string;
  before: string;
  turn: string;
}

/** Three texts side by side; differences from the middle one, the state before, are marked in the others. */
function ThreePanes({ now, before, turn }: ThreePanesProps): ReactNode {
  const places = useRef<(HTMLDivElement | null)[]>([]);
  useEffect(() => {
    const [left, middle, right] = places.current;
    if (!left || !middle || !right) return;
    const base = Text.of(before.split("\n"));
    const [current, made] = [now, turn].map((text) => Text.of(text.split("\n"))) as [Text, Text];
    const [toNow, toTurn] = [Chunk.build(base, current), Chunk.build(base, made)];
    const sideA = [...toNow, ...toTurn].map(({ fromA, toA }): [number, number] => [fromA, toA]);
    const panes = [
      createPane(left, current, "Document now", toNow.map(sideB), css.lineAdded ?? ""),
      createPane(middle, base, "Document before the turn", sideA, css.lineRemoved ?? ""),
      createPane(right, made, "Document after the turn", toTurn.map(sideB), css.lineAdded ?? ""),
    ];
    const stop = scrollTogether(panes);
    return () => {
      stop();
      for (const each of panes) each.destroy();
    };
  }, [now, before, turn]);
  return (
    <div className={css.panes}>
      {["Now", "Before this turn", "After this turn"].map((title, at) => (
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

function createPane(
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

/** Scrolling one scrolls all, by the same share of their heights. */
function scrollTogether(panes: readonly EditorView[]): () => void {
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
