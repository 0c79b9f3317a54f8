import { useQuery } from "@tanstack/react-query";
import { type ComponentProps, memo, type ReactNode, useMemo } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import { treeQuery } from "@/api/queries";
import { openDocument } from "@/state/documents";
import css from "./agent.module.css";
import { type LinkTarget, resolveLink } from "./links";

const PLUGINS = [remarkGfm];

/** Markdown without anything active: no HTML, no pictures, links only to the web and to documents. */
export const Markdown = memo(function Markdown({ text }: { text: string }): ReactNode {
  const { data } = useQuery(treeQuery);
  const components = useMemo(() => parts(new Set(data?.map((entry) => entry.path))), [data]);
  return (
    <ReactMarkdown remarkPlugins={PLUGINS} components={components}>
      {text}
    </ReactMarkdown>
  );
});

function parts(documents: ReadonlySet<string>): Components {
  return {
    a: ({ href = "", children }) => <Leading lead={resolveLink(href, documents)}>{children}</Leading>,
    img: ({ alt }) => <span className={css.picture}>[image{alt ? `: ${alt}` : ""}]</span>,
    code: ({ children }) => {
      const found = typeof children === "string" ? resolveLink(children, documents) : null;
      return found?.to === "document" ? <Leading lead={found}>{children}</Leading> : <code>{children}</code>;
    },
    table: (props: ComponentProps<"table">) => (
      <div className={css.table}>
        <table>{props.children}</table>
      </div>
    ),
  };
}

function Leading({ lead: found, children }: { lead: LinkTarget; children: ReactNode }): ReactNode {
  if (found === null) return <span>{children}</span>;
  if (found.to === "web") {
    return (
      <a href={found.href} target="_blank" rel="noopener noreferrer">
        {children}
      </a>
    );
  }
  const place = found.line ? { line: found.line } : undefined;
  return (
    <button type="button" className={css.link} onClick={() => void openDocument(found.path, place)}>
      {children}
    </button>
  );
}
