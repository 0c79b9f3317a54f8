import { memo, type ReactNode } from "react";
import css from "./history.module.css";
import { type DiffLine, groupLines, markWords } from "./patch";

/** Line by line, with the numbers before and after: removed red, added green, changed words emphasised. Lines that
 * changed together form a group. */
export const HunkLines = memo(function HunkLines({ lines }: { lines: readonly DiffLine[] }): ReactNode {
  return (
    <span className={css.hunk}>
      {groupLines(markWords(lines)).map((group, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a change do not move
        <span key={at} className={css.lines} data-changed={group.changed}>
          {group.lines.map((line) => (
            <span key={`${line.old} ${line.new}`} className={css.line} data-kind={line.kind}>
              <span className={css.number}>{line.old}</span>
              <span className={css.number}>{line.new}</span>
              <span className={css.sign}>{SIGNS[line.kind]}</span>
              <span className={css.lineText}>{parts(line)}</span>
            </span>
          ))}
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
    if (from === to) continue; // words that only the other side has
    shown.push(text.slice(at, from), <Mark key={from}>{text.slice(from, to)}</Mark>);
    at = to;
  }
  return [...shown, text.slice(at)];
}
