import type { Editor } from "@tiptap/core";
import { Toolbar } from "radix-ui";
import type { ReactNode } from "react";
import { formatKeys } from "@/app/commands";
import { IconButton } from "@/ui/Button";
import { focusEditor } from "../editorFocus";
import type { EditorAction } from "./actions";
import { useEditorValue } from "./useEditorValue";

/** A toolbar button for one action; pressed if the cursor is in what it makes. */
export function ActionButton({ editor, act }: { editor: Editor; act: EditorAction }): ReactNode {
  const on = useEditorValue(editor, () => act.isOn?.(editor) ?? false);
  return (
    <Toolbar.Button asChild>
      <IconButton
        label={act.label}
        {...(act.keys ? { keys: formatKeys(act.keys) } : {})}
        {...(act.isOn ? { on } : {})}
        // Keep the selection: the action is about it.
        onMouseDown={(event) => event.preventDefault()}
        onClick={() => {
          focusEditor(editor);
          act.run(editor);
        }}
      >
        <act.icon size={16} />
      </IconButton>
    </Toolbar.Button>
  );
}
