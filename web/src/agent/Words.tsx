import { lazy, type ReactNode, Suspense } from "react";
import css from "./agent.module.css";

const Markdown = lazy(() => import("./Markdown").then((found) => ({ default: found.Markdown })));

/** The agent's words. While they come they are told politely to those who listen; until the reader is there, as text. */
export function Words({ text, live = false }: { text: string; live?: boolean }): ReactNode {
  return (
    <div className={css.words} data-live={live} {...(live ? { "aria-live": "polite", "aria-busy": true } : {})}>
      <Suspense fallback={<p className={css.raw}>{text}</p>}>
        <Markdown text={text} />
      </Suspense>
    </div>
  );
}
