import { useQuery } from "@tanstack/react-query";
import { TriangleAlert, X } from "lucide-react";
import { type ReactNode, useState } from "react";
import { workspaceQuery } from "@/api/queries";
import { IconButton } from "@/ui/Button";
import css from "./Notices.module.css";

/** What the person should know about the folder: a recovery, a conflict copy, settings that cannot be read. */
export function Notices(): ReactNode {
  const { data } = useQuery(workspaceQuery);
  const [seen, setSeen] = useState<ReadonlySet<string>>(new Set());
  const notices = data?.notices.filter((notice) => !seen.has(notice)) ?? [];
  if (notices.length === 0) return null;
  return (
    <ul className={css.notices} aria-label="Notices">
      {notices.map((notice) => (
        <li key={notice}>
          <TriangleAlert size={14} aria-hidden />
          <span>{notice}</span>
          <IconButton label="Dismiss" onClick={() => setSeen(new Set([...seen, notice]))}>
            <X size={14} />
          </IconButton>
        </li>
      ))}
    </ul>
  );
}
