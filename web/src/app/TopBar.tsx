import { useQuery } from "@tanstack/react-query";
import { Search } from "lucide-react";
import type { ReactNode } from "react";
import { workspaceQuery } from "@/api/queries";
import { show, useStore } from "@/state/store";
import { Badge } from "@/ui/Small";
import { formatKeys } from "./commands";
import css from "./TopBar.module.css";

const MODES: Record<string, string> = {
  read: "Agents can only read",
  propose: "You review every change",
  apply: "Changes apply at once, with undo",
  merge: "Changes merge at once",
};

/** The folder's name, the search for documents, and what agents may do here. */
export function TopBar(): ReactNode {
  const { data } = useQuery(workspaceQuery);
  const connected = useStore((store) => store.connected);
  return (
    <header className={css.bar}>
      <h1 className={css.name}>
        <img src="/icon.svg" alt="" width={18} height={18} /> {data?.name ?? "Redraft"}
      </h1>
      <button
        type="button"
        aria-label={`Go to document ${formatKeys("Mod+P")}`}
        className={css.find}
        onClick={() => show({ palette: "files" })}
      >
        <Search size={14} /> <span>Go to document</span> <kbd>{formatKeys("Mod+P")}</kbd>
      </button>
      <p className={css.standing} role="status">
        {connected ? null : <Badge tone="warn">Offline: typing is kept in this browser</Badge>}
        {data?.caller.role === "viewer" ? <Badge>Read only</Badge> : null}
        {data ? <span className={css.mode}>{MODES[data.mode] ?? data.mode}</span> : null}
      </p>
    </header>
  );
}
