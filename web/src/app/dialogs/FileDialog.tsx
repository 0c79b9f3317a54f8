import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { treeQuery } from "@/api/queries";
import { isPicture } from "@/state/documents";
import { Button } from "@/ui/Button";
import { Modal } from "@/ui/Modal";
import css from "./file.module.css";

/** A file that is no text: a picture is shown, of any other it is said what it is. */
export function FileDialog({ path, onClose }: { path: string; onClose: () => void }): ReactNode {
  const { data: entries } = useQuery(treeQuery);
  const [broken, setBroken] = useState(false);
  const entry = entries?.find((each) => each.path === path);
  const picture = isPicture(path) && !broken;
  const ending = path.slice(path.lastIndexOf(".") + 1).toUpperCase();
  return (
    <Modal
      title={path.slice(path.lastIndexOf("/") + 1)}
      wide={picture}
      onClose={onClose}
      acts={<Button onClick={onClose}>Close</Button>}
    >
      {picture ? (
        <img
          className={css.picture}
          src={`/api/images?path=${encodeURIComponent(path)}`}
          alt={path}
          onError={() => setBroken(true)}
        />
      ) : (
        <p>
          {entry?.kind === "link" ? "A link" : `A file of the kind ${ending}`}
          {entry ? `, ${sizeOf(entry.size)}` : ""}. It is not text, so it cannot be edited here. Open it with another
          program, in the folder at <b>{path}</b>.
        </p>
      )}
    </Modal>
  );
}

function sizeOf(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 1e6 ? `${Math.round(bytes / 1000)} KB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
