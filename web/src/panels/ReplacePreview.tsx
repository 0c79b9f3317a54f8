import type { ReactNode } from "react";
import css from "./ReplacePreview.module.css";

interface Preview {
  path: string;
  matches: number;
  lines: { line: number; before: string; after: string }[];
}

export function ReplacePreview({ previews }: { previews: readonly Preview[] }): ReactNode {
  return (
    <div className={css.all}>
      {previews.map(({ path, matches, lines }) => (
        <section key={path}>
          <h3>{path}</h3>
          {lines.map(({ line, before, after }) => (
            <p key={line}>
              <del>{before}</del>
              <ins>{after}</ins>
            </p>
          ))}
          {matches > lines.length ? <p>and {matches - lines.length} more</p> : null}
        </section>
      ))}
    </div>
  );
}
