import type { Editor } from "@tiptap/core";
import { useCallback, useSyncExternalStore } from "react";

/** Something told by the editor's state, as it is by now. A plain value: what does not change draws nothing anew. */
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
