import { useQuery } from "@tanstack/react-query";
import { CaseSensitive, WholeWord } from "lucide-react";
import { type ReactNode, useDeferredValue, useState } from "react";
import { sentenceOf } from "@/api/client";
import { useStore } from "@/state/store";
import { Button, IconButton } from "@/ui/Button";
import { Empty, Field } from "@/ui/Small";
import css from "./panels.module.css";
import { ReplaceBar } from "./ReplaceBar";
import { SearchResults } from "./SearchResults";
import { type Asked, searchQuery } from "./searching";

const KINDS = [
  { kind: "exact", label: "Words" },
  { kind: "regex", label: "Pattern" },
  { kind: "semantic", label: "Meaning" },
] as const;

const NOTHING = { query: "", kind: "exact", matchCase: false, wholeWord: false, glob: "" } as const;

/** Search in every document, by words, pattern or meaning; what words or a pattern find can be replaced. */
export function SearchPanel(): ReactNode {
  const active = useStore((store) => store.active);
  const [typed, setAsked] = useState<Omit<Asked, "path">>(NOTHING);
  const asked: Asked = { ...typed, path: typed.kind === "semantic" ? active : null };
  const deferred = useDeferredValue(asked);
  const { data, error, isFetching } = useQuery(searchQuery(deferred));
  const change = (part: Partial<Asked>) => setAsked({ ...typed, ...part });
  return (
    <>
      <header className={css.head}>
        <h2 className={css.title}>Search</h2>
      </header>
      <search className={css.controls}>
        <Field
          type="search"
          aria-label="Search in every document"
          placeholder="Search"
          autoFocus
          value={asked.query}
          onChange={(event) => change({ query: event.target.value })}
        />
        {asked.kind === "semantic" ? (
          <p className={css.soft}>{active ? `In ${active}` : "Open a document to search it by meaning."}</p>
        ) : (
          <Field
            aria-label="Only in these files"
            placeholder="In files such as story/** (all)"
            value={asked.glob}
            onChange={(event) => change({ glob: event.target.value })}
          />
        )}
        <div className={css.switches}>
          {KINDS.map(({ kind, label }) => (
            <Button
              small
              key={kind}
              look={asked.kind === kind ? "primary" : "plain"}
              aria-pressed={asked.kind === kind}
              onClick={() => change({ kind })}
            >
              {label}
            </Button>
          ))}
          {asked.kind === "semantic" ? null : (
            <>
              <IconButton
                label="Match case"
                on={asked.matchCase}
                onClick={() => change({ matchCase: !asked.matchCase })}
              >
                <CaseSensitive size={18} />
              </IconButton>
              <IconButton
                label="Whole words"
                on={asked.wholeWord}
                onClick={() => change({ wholeWord: !asked.wholeWord })}
              >
                <WholeWord size={18} />
              </IconButton>
            </>
          )}
        </div>
        {asked.kind === "semantic" ? null : <ReplaceBar asked={asked} found={data} />}
      </search>
      <div className={css.scroll} aria-busy={isFetching}>
        {error ? <Empty>{sentenceOf(error)}</Empty> : null}
        {data ? <SearchResults found={data} asked={deferred} /> : null}
        {!asked.query && !data ? <Empty>What you look for is found in every document of the folder.</Empty> : null}
      </div>
    </>
  );
}
