import { useQuery } from "@tanstack/react-query";
import { CaseSensitive, WholeWord } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { Button, IconButton } from "@/ui/Button";
import { Empty, Field } from "@/ui/Small";
import css from "./panels.module.css";
import { ReplaceBar } from "./ReplaceBar";
import { SearchResults } from "./SearchResults";
import { describeProblem, type SearchRequest, searchQuery } from "./search";

const KINDS = [
  { kind: "exact", label: "Words" },
  { kind: "regex", label: "Pattern" },
  { kind: "semantic", label: "Meaning" },
] as const;

const NOTHING = { query: "", kind: "exact", matchCase: false, wholeWord: false, glob: "" } as const;

const ABOUT = {
  exact: "Search the text of every document in this folder.",
  regex: "Search every line with a regular expression, such as chapter \\d+.",
  semantic:
    "Describe a passage in your own words, such as “they meet in the rain”. You see the best matches of all documents.",
};
const AFTER_MS = 80;
// A search by meaning is expensive: it waits until typing pauses.
const MEANING_AFTER_MS = 350;

/** Search all documents by words, pattern or meaning; matches of words or a pattern can be replaced. */
export function SearchPanel(): ReactNode {
  const [asked, setAsked] = useState<SearchRequest>(NOTHING);
  const settled = useDebounced(asked, asked.kind === "semantic" ? MEANING_AFTER_MS : AFTER_MS);
  const { data, error, isFetching } = useQuery(searchQuery(settled));
  const change = (part: Partial<SearchRequest>) => setAsked({ ...asked, ...part });
  const found = asked.query === "" ? undefined : data;
  return (
    <>
      <header className={css.head}>
        <h2 className={css.title}>Search</h2>
      </header>
      <search className={css.controls}>
        <Field
          type="search"
          aria-label="Search all documents"
          placeholder="Search"
          autoFocus
          value={asked.query}
          onChange={(event) => change({ query: event.target.value })}
        />
        <Field
          aria-label="Files to include"
          placeholder="Files to include, such as story/**"
          value={asked.glob}
          onChange={(event) => change({ glob: event.target.value })}
        />
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
        {asked.kind === "semantic" ? null : <ReplaceBar asked={asked} found={found} />}
      </search>
      <div className={css.scroll} aria-busy={isFetching}>
        {error ? <Empty>{describeProblem(error)}</Empty> : null}
        {found && !error ? <SearchResults found={found} asked={settled} /> : null}
        {asked.query ? null : <Empty>{ABOUT[asked.kind]}</Empty>}
      </div>
    </>
  );
}

/** A value once it has not changed for a while. */
function useDebounced<T>(value: T, afterMs: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const soon = setTimeout(() => setSettled(value), afterMs);
    return () => clearTimeout(soon);
  }, [value, afterMs]);
  return settled;
}
