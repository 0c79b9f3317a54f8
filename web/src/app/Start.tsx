import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect } from "react";
import { treeQuery, workspaceQuery } from "@/api/queries";
import { openDocument } from "@/state/documents";
import { show, useStore } from "@/state/store";
import { Button } from "@/ui/Button";
import { formatKeys } from "./commands";
import css from "./Start.module.css";

const FEW = 6;

/** Shown if no document is open: ways to open one. */
export function Start(): ReactNode {
  const { data: workspace } = useQuery(workspaceQuery);
  const { data: entries } = useQuery(treeQuery);
  const welcomed = useStore((store) => store.welcomed);
  useEffect(() => {
    if (!welcomed) show({ dialog: { kind: "welcome" }, welcomed: true });
  }, [welcomed]);
  const recent = (entries ?? [])
    .filter(({ kind }) => kind === "file")
    .sort((one, other) => other.modified.localeCompare(one.modified))
    .slice(0, FEW);
  return (
    <div className={css.start}>
      <h2>{workspace?.name}</h2>
      {recent.length > 0 ? (
        <>
          <p>Recently changed</p>
          <ul>
            {recent.map(({ path }) => (
              <li key={path}>
                <button type="button" onClick={() => void openDocument(path)}>
                  {path}
                </button>
              </li>
            ))}
          </ul>
        </>
      ) : (
        <p>This folder is empty.</p>
      )}
      <div className={css.acts}>
        <Button look="primary" onClick={() => show({ dialog: { kind: "new", folder: "" } })}>
          New document
        </Button>
        <Button onClick={() => show({ palette: "files" })}>
          Go to document <kbd>{formatKeys("Mod+P")}</kbd>
        </Button>
      </div>
    </div>
  );
}
