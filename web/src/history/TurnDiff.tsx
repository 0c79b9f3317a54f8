import { type ReactNode, useMemo, useState } from "react";
import type { Schemas } from "@/api/client";
import { openDocument } from "@/state/documents";
import { Button } from "@/ui/Button";
import { Empty } from "@/ui/Small";
import { HunkLines } from "./HunkLines";
import css from "./history.module.css";
import { countUnchanged, linesOf, sizeOf, unitsOf, wordsOf } from "./patch";
import { describeFile } from "./planned";
import type { Clash, Hunk } from "./turns";

interface TurnDiffProps {
  detail: Schemas["TurnDetail"];
  ticked: ReadonlySet<string>;
  onTick: (ids: readonly string[], on: boolean) => void;
  clashes: readonly Clash[];
}

/** More hunks than these are drawn only on request. */
const MANY = 100;

/** What a turn did, document by document; hunks can be selected to be undone. */
export function TurnDiff({ detail, ticked, onTick, clashes }: TurnDiffProps): ReactNode {
  if (detail.turn.pruned)
    return <Empty>This turn is older than the history keeps: its changes are no longer stored.</Empty>;
  const documents = detail.documents.filter((document) => document.patch);
  const files = detail.files.filter(({ action }) => action !== "modified");
  if (documents.length + files.length === 0) return <Empty>This turn changed no text.</Empty>;
  return (
    <>
      {files.length > 0 ? (
        <ul className={css.files} aria-label="Whole documents">
          {files.map((file) => (
            <li key={file.path}>{describeFile(file)}</li>
          ))}
        </ul>
      ) : null}
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
  /** The turn's hunks, in any document. */
  all: readonly Hunk[];
  /** Pending ones are decided in the review instead. */
  tickable: boolean;
}

function DocumentDiff({ document, all, ticked, onTick, clashes, tickable }: DocumentDiffProps): ReactNode {
  const [shown, setShown] = useState(MANY);
  const { path, patch } = document;
  const { added, removed } = sizeOf([patch]);
  const unchanged = countUnchanged(document);
  const hunks = useMemo(() => all.filter((hunk) => hunk.file_path === path), [all, path]);
  const units = useMemo(
    () =>
      unitsOf(
        hunks.map((hunk) => hunk.patch),
        patch,
      ),
    [hunks, patch],
  );
  const lines = useMemo(() => (hunks.length ? [] : linesOf(patch)), [hunks, patch]);
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
        <button type="button" className={css.path} onClick={() => void openDocument(path)}>
          {path}
        </button>
        <span className={css.added}>+{added}</span> <span className={css.removed}>−{removed}</span>
        {unchanged === null ? null : <span>{unchanged} unchanged</span>}
      </header>
      {hunks.length === 0 ? <HunkLines lines={lines} /> : null}
      {units.slice(0, shown).map(({ first, count, lines: its }) => {
        const tick = (hunk: Hunk, at: number, children: ReactNode) => (
          <HunkTick
            key={hunk.hunk_id}
            name={`Hunk ${first + at + 1} of ${path}: ${wordsOf(hunk.patch)}`}
            {...{ hunk, tickable, ticked, onTick, clashes }}
          >
            {children}
          </HunkTick>
        );
        const [only, ...others] = hunks.slice(first, first + count);
        if (!only) return null;
        if (others.length === 0) return tick(only, 0, <HunkLines lines={its} />);
        // Their lines can only be read together; each is decided separately.
        return (
          <div key={only.hunk_id} className={css.several}>
            <HunkLines lines={its} />
            {[only, ...others].map((hunk, at) => tick(hunk, at, <span>{wordsOf(hunk.patch)}</span>))}
          </div>
        );
      })}
      {units.length > shown ? (
        <Button small onClick={() => setShown(shown + MANY)}>
          Show more ({units.length - shown} left)
        </Button>
      ) : null}
    </section>
  );
}

interface HunkTickProps extends Omit<DocumentDiffProps, "document" | "all"> {
  hunk: Hunk;
  name: string;
  children: ReactNode;
}

/** One hunk to undo, and why it could not be. */
function HunkTick({ hunk, name, tickable, ticked, onTick, clashes, children }: HunkTickProps): ReactNode {
  const { hunk_id: id } = hunk;
  const reasons = new Set(clashes.filter((clash) => clash.hunk_id === id).map(({ reason }) => reason));
  return (
    <label className={css.tick}>
      <input
        type="checkbox"
        hidden={!tickable}
        aria-label={name}
        checked={ticked.has(id)}
        onChange={(event) => onTick([id], event.target.checked)}
      />
      <span className={css.tickBody}>
        {children}
        {[...reasons].map((reason) => (
          <span key={reason} className={css.clash} role="alert">
            Not undone: {reason}.
          </span>
        ))}
      </span>
    </label>
  );
}
