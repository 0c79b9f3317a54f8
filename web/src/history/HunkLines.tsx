import { memo, type ReactNode } from "react";
import css from "./history.module.css";
import { type DiffLine, linesOf, marked } from "./patch";

/** A hunk, line by line: removed red, added green, the changed words in them stronger. */
export const HunkLines = memo(function HunkLines({ patch }: { patch: string }): ReactNode {
  return (
    <span className={css.hunk}>
      {marked(linesOf(patch)).map((line, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a turn never change
        <span key={at} className={css.line} data-kind={line.kind}>
          <span className={css.number}>{line.new ?? line.old}</span>
          <span className={css.sign}>{SIGNS[line.kind]}</span>
          <span className={css.lineText}>{parts(line)}</span>
        </span>
      ))}
    </span>
  );
});

const SIGNS = { same: " ", added: "+", removed: "−" };

function parts({ text, marks, kind }: DiffLine): ReactNode {
  const Mark = kind === "added" ? "ins" : "del";
  const shown: ReactNode[] = [];
  let at = 0;
  for (const [from, to] of marks) {
    shown.push(text.slice(at, from), <Mark key={from}>{text.slice(from, to)}</Mark>);
    at = to;
  }
  return [...shown, text.slice(at)];
}
