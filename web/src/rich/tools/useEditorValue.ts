import type { Editor } from "@tiptap/core";
import { useCallback, useSyncExternalStore } from "react";

/** A value derived from the editor's current state. A plain value: if it does not change, nothing is redrawn. */
export function useEditorValue<T extends string | number | boolean>(editor: Editor, read: () => T): T {
  const listen = useCallback(
    (changed: () => void) => {
      editor.on("transaction", changed);
      editor.on("focus", changed);
      editor.on("blur", changed);
      return () => {
        editor.off("transaction", changed);
        editor.off("focus", changed);
        editor.off("blur", changed);
      };
    },
    [editor],
  );
  return useSyncExternalStore(listen, read);
}
