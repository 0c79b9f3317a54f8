import type { ReactNode } from "react";
import { openDocument } from "@/state/documents";
import { pluralize } from "@/ui/format";
import { Badge, Empty } from "@/ui/Small";
import css from "./panels.module.css";
import type { SearchAnswer, SearchRequest } from "./search";

const BEFORE = 12;

/** The results by document; a click goes to the line. */
export function SearchResults({ found, asked }: { found: SearchAnswer; asked: SearchRequest }): ReactNode {
  if (found.count === 0) return <Empty>No results for “{asked.query}”.</Empty>;
  return (
    <div>
      <p className={`${css.soft} ${css.row}`} role="status">
        {found.truncated ? "More than " : ""}
        {pluralize(found.count, asked.kind === "semantic" ? "passage" : "line")} in{" "}
        {pluralize(found.documents.length, "document")}
      </p>
      {found.note ? <p className={`${css.soft} ${css.row}`}>{found.note}</p> : null}
      {found.documents.map(({ path, lines }) => (
        <section key={path} aria-label={path}>
          <h3 className={css.row}>
            <span className={css.text}>{path}</span> <Badge>{lines.length}</Badge>
          </h3>
          {lines.map(({ line, column, length, text, text_start }) => (
            <button
              type="button"
              key={`${line} ${column}`}
              className={`${css.row} ${css.match}`}
              onClick={() => void openDocument(path, { line: line + 1, column, length })}
            >
              <span className={css.lineNumber}>{line + 1}</span>
              {asked.kind === "semantic" ? (
                <span className={css.passage}>{text}</span>
              ) : (
                <Marked text={text} column={column - text_start} length={length} />
              )}
            </button>
          ))}
        </section>
      ))}
    </div>
  );
}

function Marked({ text, column, length }: { text: string; column: number; length: number }): ReactNode {
  // Columns are in code points, as everywhere on the server.
  const points = [...text];
  const from = Math.max(0, column - BEFORE);
  return (
    <span className={css.text}>
      {from > 0 ? "…" : ""}
      {points.slice(from, column).join("")}
      {length > 0 ? <mark>{points.slice(column, column + length).join("")}</mark> : null}
      {points.slice(column + length).join("")}
    </span>
  );
}
