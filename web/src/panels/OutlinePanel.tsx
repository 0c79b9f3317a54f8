import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { outlineQuery } from "@/api/queries";
import { openDocument } from "@/state/documents";
import { useStore } from "@/state/store";
import { Empty } from "@/ui/Small";
import { backlinksQuery } from "./backlinks";
import css from "./panels.module.css";

interface Section {
  title: string;
  level: number;
  line_start: number;
  children?: Section[];
}

function flatten(sections: readonly Section[], depth = 0): { section: Section; depth: number }[] {
  return sections.flatMap((section) => [{ section, depth }, ...flatten(section.children ?? [], depth + 1)]);
}

/** The sections of the document in front; a click goes there. */
export function OutlinePanel(): ReactNode {
  const active = useStore((store) => store.active);
  return (
    <>
      <header className={css.head}>
        <h2 className={css.title}>Outline</h2>
      </header>
      {active ? (
        <>
          <Sections path={active} />
          <Backlinks path={active} />
        </>
      ) : (
        <Empty>Open a document to see its sections.</Empty>
      )}
    </>
  );
}

/** The lines of other documents that link to this one. */
function Backlinks({ path }: { path: string }): ReactNode {
  const { data } = useQuery(backlinksQuery(path));
  if (!data?.length) return null;
  return (
    <nav className={css.backlinks} aria-label="Links to this document">
      <h3 className={css.title}>Linked from</h3>
      {data.map((link) => (
        <button
          type="button"
          key={`${link.path} ${link.line}`}
          className={css.row}
          title={link.text.trim()}
          onClick={() => void openDocument(link.path, { line: link.line + 1 })}
        >
          <span className={css.text}>{link.path}</span>
        </button>
      ))}
    </nav>
  );
}

function Sections({ path }: { path: string }): ReactNode {
  const { data, error } = useQuery(outlineQuery(path));
  const found = flatten((data?.outline ?? []) as unknown as Section[]);
  if (error) return <Empty>{error.message}</Empty>;
  if (data && found.length === 0) return <Empty>{data.note ?? "This document has no sections."}</Empty>;
  return (
    <nav className={css.scroll} aria-label="Sections">
      {found.map(({ section, depth }) => (
        <button
          type="button"
          key={`${section.line_start} ${section.title}`}
          className={css.row}
          style={{ paddingLeft: 14 + depth * 14 }}
          onClick={() => void openDocument(path, { line: section.line_start + 1 })}
        >
          <span className={css.text}>{section.title}</span>
        </button>
      ))}
    </nav>
  );
}
