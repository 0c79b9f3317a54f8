import { useQuery } from "@tanstack/react-query";
import { ArchiveRestore } from "lucide-react";
import { type ReactNode, useState } from "react";
import { errorMessage, Failure, type Schemas, server, unwrap } from "@/api/client";
import { refresh, trashQuery, treeQuery } from "@/api/queries";
import history from "@/history/history.module.css";
import { RestoreDialog } from "@/history/RestoreDialog";
import { openDocument } from "@/state/documents";
import { showToast } from "@/state/store";
import { Button, IconButton } from "@/ui/Button";
import { formatAge } from "@/ui/format";
import { Empty } from "@/ui/Small";
import css from "./panels.module.css";

type Trashed = Schemas["TrashedShape"];

/** Deleted documents, latest first. If one's path is taken, it can be restored under another name. */
export function TrashPanel(): ReactNode {
  const { data, error, refetch } = useQuery(trashQuery);
  const [taken, setTaken] = useState<Trashed | null>(null);
  const { data: tree } = useQuery(treeQuery);
  const isTaken = (path: string) => tree?.some((entry) => entry.path === path) ?? false;
  const bringBack = async (found: Trashed, to?: string) => {
    try {
      await unwrap(server.POST("/api/trash/restore", { body: { path: found.path, turn: found.turn, to: to ?? null } }));
      setTaken(null);
      showToast(`${to ?? found.path} restored.`);
      refresh("turn", "tree");
      await openDocument(to ?? found.path);
    } catch (failure) {
      if (failure instanceof Failure && failure.code === "already_exists" && to === undefined) setTaken(found);
      else showToast(errorMessage(failure), { tone: "bad" });
    }
  };
  return (
    <>
      <header className={css.head}>
        <h2 className={css.title}>Trash</h2>
      </header>
      <div className={css.scroll}>
        {error ? (
          <Empty>
            {errorMessage(error)} <Button onClick={() => void refetch()}>Retry</Button>
          </Empty>
        ) : null}
        {data?.length === 0 ? <Empty>The trash is empty. Deleted documents appear here.</Empty> : null}
        <ul aria-label="Deleted documents">
          {data?.map((found) => (
            <li key={`${found.turn} ${found.path}`} className={history.trashed}>
              <span className={history.turnText}>
                <span className={history.turnTitle}>{found.path}</span>
                <span className={history.turnMeta}>
                  {formatAge(new Date(found.deleted * 1000))} · by {found.author} · {formatBytes(found.size)}
                </span>
              </span>
              <IconButton
                label={`Restore ${found.path}`}
                onClick={() => (isTaken(found.path) ? setTaken(found) : void bringBack(found))}
              >
                <ArchiveRestore size={15} />
              </IconButton>
            </li>
          ))}
        </ul>
      </div>
      {taken ? (
        <RestoreDialog path={taken.path} onClose={() => setTaken(null)} onRestore={(to) => void bringBack(taken, to)} />
      ) : null}
    </>
  );
}

function formatBytes(size: number): string {
  return size < 1024 ? `${size} bytes` : `${(size / 1024).toFixed(size < 10_240 ? 1 : 0)} KB`;
}
