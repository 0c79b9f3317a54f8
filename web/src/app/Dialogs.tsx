import { lazy, type ReactNode, Suspense } from "react";
import { show, useStore } from "@/state/store";
import { CloseDialog } from "./dialogs/CloseDialog";
import { NewDialog } from "./dialogs/NewDialog";
import { RenameDialog } from "./dialogs/RenameDialog";
import { SecretDialog } from "./dialogs/SecretDialog";
import { TrashDialog } from "./dialogs/TrashDialog";
import { WelcomeDialog } from "./dialogs/WelcomeDialog";

const SettingsDialog = lazy(() =>
  import("./dialogs/SettingsDialog").then((found) => ({ default: found.SettingsDialog })),
);
const HelpDialog = lazy(() => import("./dialogs/HelpDialog").then((found) => ({ default: found.HelpDialog })));
const FileDialog = lazy(() => import("./dialogs/FileDialog").then((found) => ({ default: found.FileDialog })));
const ChangesDialog = lazy(() => import("@/history/ChangesDialog").then((found) => ({ default: found.ChangesDialog })));
const ModelsDialog = lazy(() => import("./dialogs/ModelsDialog").then((found) => ({ default: found.ModelsDialog })));
const MacrosDialog = lazy(() => import("@/agent/MacrosDialog").then((found) => ({ default: found.MacrosDialog })));
const TurnDialog = lazy(() => import("@/history/TurnDialog").then((found) => ({ default: found.TurnDialog })));

const onClose = () => show({ dialog: null });

/** The open dialog, if any. */
export function Dialogs(): ReactNode {
  const dialog = useStore((store) => store.dialog);
  return <Suspense fallback={null}>{dialog ? renderDialog(dialog) : null}</Suspense>;
}

function renderDialog(dialog: NonNullable<ReturnType<typeof useStore.getState>["dialog"]>): ReactNode {
  switch (dialog.kind) {
    case "new":
      return <NewDialog folder={dialog.folder} onClose={onClose} />;
    case "rename":
      return <RenameDialog path={dialog.path} onClose={onClose} />;
    case "trash":
      return <TrashDialog paths={dialog.paths} onClose={onClose} />;
    case "close":
      return <CloseDialog tabId={dialog.tabId} path={dialog.path} onClose={onClose} />;
    case "secret":
      return <SecretDialog path={dialog.path} place={dialog.place} onClose={onClose} />;
    case "settings":
      return <SettingsDialog onClose={onClose} />;
    case "changes":
      return <ChangesDialog onClose={onClose} />;
    case "help":
      return <HelpDialog onClose={onClose} />;
    case "file":
      return <FileDialog path={dialog.path} onClose={onClose} />;
    case "models":
      return <ModelsDialog onClose={onClose} />;
    case "macros":
      return <MacrosDialog onClose={onClose} />;
    case "turn":
      return <TurnDialog turn={dialog.turn} onClose={onClose} />;
    case "welcome":
      return <WelcomeDialog onClose={onClose} />;
  }
}
