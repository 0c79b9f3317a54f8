import {
  CircleQuestionMark,
  Files,
  FileText,
  History,
  ListTree,
  Search,
  Settings,
  Sparkles,
  Trash2,
} from "lucide-react";
import type { ReactNode } from "react";
import { type SidePanel, show, useStore } from "@/state/store";
import { IconButton } from "@/ui/Button";
import css from "./Rail.module.css";

const PANELS: readonly { panel: SidePanel; label: string; keys?: string; icon: ReactNode }[] = [
  { panel: "files", label: "Files", keys: "Ctrl+Shift+E", icon: <Files size={18} /> },
  { panel: "search", label: "Search", keys: "Ctrl+Shift+F", icon: <Search size={18} /> },
  { panel: "outline", label: "Outline", keys: "Ctrl+Shift+O", icon: <ListTree size={18} /> },
  { panel: "history", label: "History", keys: "Ctrl+Shift+H", icon: <History size={18} /> },
  { panel: "trash", label: "Trash", icon: <Trash2 size={18} /> },
];

/** The buttons at the edge, one for each panel. On a narrow screen they are a bar that switches between panes. */
export function Rail({ narrow }: { narrow: boolean }): ReactNode {
  const side = useStore((store) => store.side);
  const agentOpen = useStore((store) => store.agentOpen);
  return (
    <nav className={css.rail} aria-label="Panels">
      {narrow ? (
        <IconButton
          label="Text"
          on={side === null && !agentOpen}
          onClick={() => show({ side: null, agentOpen: false })}
        >
          <FileText size={18} />
        </IconButton>
      ) : null}
      {PANELS.map(({ panel, label, keys, icon }) => (
        <IconButton
          key={panel}
          label={label}
          {...(keys ? { keys } : {})}
          on={side === panel}
          onClick={() => show({ side: side === panel ? null : panel, ...(narrow && { agentOpen: false }) })}
        >
          {icon}
        </IconButton>
      ))}
      <span className={css.spring} />
      <IconButton
        label="Agent"
        keys="Ctrl+Shift+A"
        on={agentOpen}
        onClick={() => show({ agentOpen: !agentOpen, ...(narrow && { side: null }) })}
      >
        <Sparkles size={18} />
      </IconButton>
      <IconButton label="Help" keys="?" onClick={() => show({ dialog: { kind: "help" } })}>
        <CircleQuestionMark size={18} />
      </IconButton>
      <IconButton label="Settings" keys="Ctrl+," onClick={() => show({ dialog: { kind: "settings" } })}>
        <Settings size={18} />
      </IconButton>
    </nav>
  );
}
