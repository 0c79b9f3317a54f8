import type { ReactNode } from "react";
import { type Prose, show, type Theme, useStore } from "@/state/store";
import { Button } from "@/ui/Button";
import { Modal } from "@/ui/Modal";
import { Labelled } from "@/ui/Small";
import ui from "@/ui/ui.module.css";
import css from "./dialogs.module.css";
import { FolderSettings } from "./FolderSettings";
import { KeptRules } from "./KeptRules";

const THEMES: readonly [Theme, string][] = [
  ["system", "As the system has it"],
  ["light", "Light"],
  ["dark", "Dark"],
];
const FONTS: readonly [Prose, string][] = [
  ["mono", "Monospaced"],
  ["serif", "Serif"],
  ["sans", "Sans serif"],
];

/** How this window looks, and what holds in this folder. */
export function SettingsDialog({ onClose }: { onClose: () => void }): ReactNode {
  const theme = useStore((store) => store.theme);
  const prose = useStore((store) => store.prose);
  const autosave = useStore((store) => store.autosave);
  return (
    <Modal title="Settings" onClose={onClose} acts={<Button onClick={onClose}>Close</Button>}>
      <fieldset className={css.group}>
        <legend>This window</legend>
        <Labelled label="Theme">
          <select className={ui.field} value={theme} onChange={(event) => show({ theme: event.target.value as Theme })}>
            {THEMES.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        </Labelled>
        <Labelled label="Font of the text">
          <select className={ui.field} value={prose} onChange={(event) => show({ prose: event.target.value as Prose })}>
            {FONTS.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        </Labelled>
        <label className={css.check}>
          <input type="checkbox" checked={autosave} onChange={(event) => show({ autosave: event.target.checked })} />
          Save by itself, shortly after I stop typing
        </label>
        <p className={ui.hint}>Not while changes of the agent's wait in the document.</p>
      </fieldset>
      <FolderSettings />
      <KeptRules />
    </Modal>
  );
}
