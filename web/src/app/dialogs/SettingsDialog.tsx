import type { ReactNode } from "react";
import { type Prose, show, type Theme, useStore } from "@/state/store";
import { Button } from "@/ui/Button";
import { Modal } from "@/ui/Modal";
import ui from "@/ui/ui.module.css";
import { Choice, type Options } from "./Choice";
import css from "./dialogs.module.css";
import { FolderSettings } from "./FolderSettings";
import { SavedRules } from "./SavedRules";

const THEMES: Options<Theme> = [
  ["system", "System"],
  ["light", "Light"],
  ["dark", "Dark"],
];
const FONTS: Options<Prose> = [
  ["mono", "Monospaced"],
  ["serif", "Serif"],
  ["sans", "Sans serif"],
];

const VIEWS: Options<"rich" | "source"> = [
  ["rich", "Rich text"],
  ["source", "Source"],
];

/** How this window looks, and the settings of this folder. */
export function SettingsDialog({ onClose }: { onClose: () => void }): ReactNode {
  const theme = useStore((store) => store.theme);
  const prose = useStore((store) => store.prose);
  const autosave = useStore((store) => store.autosave);
  const firstView = useStore((store) => store.firstView);
  const typewriter = useStore((store) => store.typewriter);
  return (
    <Modal title="Settings" onClose={onClose} acts={<Button onClick={onClose}>Close</Button>}>
      <fieldset className={css.group}>
        <legend>This window</legend>
        <Choice label="Theme" options={THEMES} value={theme} onChange={(theme) => show({ theme })} />
        <Choice label="Text font" options={FONTS} value={prose} onChange={(prose) => show({ prose })} />
        <Choice
          label="Markdown opens as"
          options={VIEWS}
          value={firstView}
          onChange={(firstView) => show({ firstView })}
        />
        <label className={css.check}>
          <input
            type="checkbox"
            checked={typewriter}
            onChange={(event) => show({ typewriter: event.target.checked })}
          />
          Keep the line you write in the middle (typewriter scrolling)
        </label>
        <label className={css.check}>
          <input type="checkbox" checked={autosave} onChange={(event) => show({ autosave: event.target.checked })} />
          Autosave
        </label>
        <p className={ui.hint}>
          Saves shortly after you stop typing, but not while the document has changes to review.
        </p>
      </fieldset>
      <FolderSettings />
      <SavedRules />
    </Modal>
  );
}
