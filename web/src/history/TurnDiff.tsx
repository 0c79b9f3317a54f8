import { type ReactNode, useMemo, useState } from "react";
import type { Schemas } from "@/api/client";
import { open } from "@/state/documents";
import { Button } from "@/ui/Button";
import { Empty } from "@/ui/Small";
import { HunkLines } from "./HunkLines";
import css from "./history.module.css";
import { linesOf, linesOfHunks, sizeOf, unchangedIn } from "./patch";
import type { Clash, Hunk } from "./turns";

interface TurnDiffProps {
  detail: Schemas["TurnDetail"];
  ticked: ReadonlySet<string>;
  onTick: (ids: readonly string[], on: boolean) => void;
  clashes: readonly Clash[];
}

/** More hunks than these are drawn only when asked for. */
const MANY = 100;

/** What a turn did, document by document; each hunk can be ticked to be taken back. */
export function TurnDiff({ detail, ticked, onTick, clashes }: TurnDiffProps): ReactNode {
  if (detail.turn.pruned) return <Empty>This turn is older than the history is kept: only its line is left.</Empty>;
  const documents = detail.documents.filter((document) => document.patch);
  if (documents.length === 0) return <Empty>No text was changed by this turn.</Empty>;
  return (
    <>
      {documents.map((document) => (
        <DocumentDiff
          key={document.path}
          document={document}
          all={detail.hunks}
          tickable={detail.turn.state !== "proposed" && detail.hunks.some((hunk) => hunk.file_path === document.path)}
          {...{ ticked, onTick, clashes }}
        />
      ))}
    </>
  );
}

interface DocumentDiffProps extends Omit<TurnDiffProps, "detail"> {
  document: Schemas["TurnPatchShape"];
  /** The turn's, in whatever document. */
  all: readonly Hunk[];
  /** What still waits is decided in the review instead. */
  tickable: boolean;
}

function DocumentDiff({ document, all, ticked, onTick, clashes, tickable }: DocumentDiffProps): ReactNode {
  const [shown, setShown] = useState(MANY);
  const { path, patch } = document;
  const { added, removed } = sizeOf([patch]);
  const unchanged = unchangedIn(document);
  const hunks = useMemo(() => all.filter((hunk) => hunk.file_path === path), [all, path]);
  const lines = useMemo(
    () => (hunks.length ? linesOfHunks(hunks.map((hunk) => hunk.patch)) : [linesOf(patch)]),
    [hunks, patch],
  );
  const whole = hunks.length > 0 && hunks.every((hunk) => ticked.has(hunk.hunk_id));
  return (
    <section className={css.document} aria-label={path}>
      <header className={css.documentHead}>
        <input
          type="checkbox"
          aria-label={`All of ${path}`}
          checked={whole}
          hidden={!tickable}
          onChange={(event) =>
            onTick(
              hunks.map((hunk) => hunk.hunk_id),
              event.target.checked,
            )
          }
        />
        <button type="button" className={css.path} onClick={() => void open(path)}>
          {path}
        </button>
        <span className={css.added}>+{added}</span> <span className={css.removed}>−{removed}</span>
        {unchanged === null ? null : <span>{unchanged} unchanged</span>}
      </header>
      {hunks.length === 0 ? <HunkLines lines={lines[0] ?? []} /> : null}
      {hunks.slice(0, shown).map((hunk, at) => (
        <label key={hunk.hunk_id} className={css.tick}>
          <input
            type="checkbox"
            hidden={!tickable}
            aria-label={`Hunk ${at + 1} of ${path}`}
            checked={ticked.has(hunk.hunk_id)}
            onChange={(event) => onTick([hunk.hunk_id], event.target.checked)}
          />
          <span className={css.tickBody}>
            <HunkLines lines={lines[at] ?? []} />
            {clashes
              .filter((clash) => clash.hunk_id === hunk.hunk_id)
              .map((clash) => (
                <span key={clash.reason} className={css.clash} role="alert">
                  It stays: {clash.reason}.
                </span>
              ))}
          </span>
        </label>
      ))}
      {hunks.length > shown ? (
        <Button small onClick={() => setShown(shown + MANY)}>
          Show more ({hunks.length - shown} left)
        </Button>
      ) : null}
    </section>
  );
}
