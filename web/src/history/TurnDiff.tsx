import { type ReactNode, useState } from "react";
import type { Schemas } from "@/api/client";
import { open } from "@/state/documents";
import { Button } from "@/ui/Button";
import { Empty } from "@/ui/Small";
import { HunkLines } from "./HunkLines";
import css from "./history.module.css";
import { sizeOf } from "./patch";
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
          path={document.path}
          patch={document.patch}
          hunks={detail.hunks.filter((hunk) => hunk.file_path === document.path)}
          tickable={detail.turn.state !== "proposed" && detail.hunks.some((hunk) => hunk.file_path === document.path)}
          {...{ ticked, onTick, clashes }}
        />
      ))}
    </>
  );
}

interface DocumentDiffProps extends Omit<TurnDiffProps, "detail"> {
  path: string;
  patch: string;
  hunks: readonly Hunk[];
  /** What still waits is decided in the review instead. */
  tickable: boolean;
}

function DocumentDiff({ path, patch, hunks, ticked, onTick, clashes, tickable }: DocumentDiffProps): ReactNode {
  const [shown, setShown] = useState(MANY);
  const { added, removed } = sizeOf([patch]);
  const all = hunks.length > 0 && hunks.every((hunk) => ticked.has(hunk.hunk_id));
  return (
    <section className={css.document} aria-label={path}>
      <header className={css.documentHead}>
        <input
          type="checkbox"
          aria-label={`All of ${path}`}
          checked={all}
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
      </header>
      {hunks.length === 0 ? <HunkLines patch={patch} /> : null}
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
            <HunkLines patch={hunk.patch} />
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
