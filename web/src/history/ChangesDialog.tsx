import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { errorMessage } from "@/api/client";
import { Choice, type Options } from "@/app/dialogs/Choice";
import { openDocument } from "@/state/documents";
import { Button } from "@/ui/Button";
import { Modal } from "@/ui/Modal";
import { Empty } from "@/ui/Small";
import { HunkLines } from "./HunkLines";
import css from "./history.module.css";
import { linesOf, sizeOf } from "./patch";
import { changesQuery, dayStart, describeFile } from "./planned";

const SINCE: Options<"0" | "1" | "7"> = [
  ["0", "this morning"],
  ["1", "yesterday morning"],
  ["7", "a week ago"],
];

/** What changed since yesterday, as one diff, whoever changed it and in however many turns. */
export function ChangesDialog({ onClose }: { onClose: () => void }): ReactNode {
  const [days, setDays] = useState<"0" | "1" | "7">("1");
  const { data, error } = useQuery(changesQuery(dayStart(Number(days))));
  const { added, removed } = sizeOf((data ?? []).map(({ patch }) => patch));
  return (
    <Modal
      title="What changed"
      wide
      text="The documents as they are saved now, compared with how they were then."
      onClose={onClose}
      acts={<Button onClick={onClose}>Close</Button>}
    >
      <Choice label="Since" options={SINCE} value={days} onChange={setDays} />
      {error ? <Empty>{errorMessage(error)}</Empty> : null}
      {data?.length === 0 ? <Empty>Nothing has changed since then.</Empty> : null}
      {data?.length ? (
        <p className={css.meta}>
          {data.length} {data.length === 1 ? "document" : "documents"}, <span className={css.added}>+{added}</span>{" "}
          <span className={css.removed}>−{removed}</span> lines
        </p>
      ) : null}
      {data?.map((file) => (
        <section key={file.path} className={css.document} aria-label={file.path}>
          <header className={css.documentHead}>
            {file.action === "deleted" ? (
              <span className={css.path}>{describeFile(file)}</span>
            ) : (
              <button
                type="button"
                className={css.path}
                onClick={() => {
                  onClose();
                  void openDocument(file.path);
                }}
              >
                {describeFile(file)}
              </button>
            )}
          </header>
          {file.patch ? <HunkLines lines={linesOf(file.patch)} /> : null}
        </section>
      ))}
    </Modal>
  );
}
