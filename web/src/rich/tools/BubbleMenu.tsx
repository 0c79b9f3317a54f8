import { type Editor, posToDOMRect } from "@tiptap/core";
import { TextSelection } from "@tiptap/pm/state";
import { Sparkles } from "lucide-react";
import { Popover, Toolbar } from "radix-ui";
import { type ReactNode, useMemo, useState } from "react";
import { formatKeys } from "@/app/commands";
import { askAtCursor } from "@/state/textFocus";
import { Button } from "@/ui/Button";
import { ActionButton } from "./ActionButton";
import { MARKS } from "./actions";
import { useTools } from "./state";
import css from "./tools.module.css";
import { useEditorValue } from "./useEditorValue";

/** Whether words are selected, in a focused editor, where they can be formatted. */
function hasSelectedWords(editor: Editor): boolean {
  const { selection, doc } = editor.state;
  if (!(selection instanceof TextSelection) || selection.empty || !editor.isEditable) return false;
  if (selection.$from.parent.type.spec.code || !editor.view.hasFocus()) return false;
  return doc.textBetween(selection.from, selection.to, " ").trim() !== "";
}

/** The most frequent actions on selected words, beside them. */
export function BubbleMenu({ editor }: { editor: Editor }): ReactNode {
  const shown = useEditorValue(editor, () => hasSelectedWords(editor));
  const where = useEditorValue(editor, () => `${editor.state.selection.from}-${editor.state.selection.to}`);
  const [dismissed, setDismissed] = useState("");
  const busy = useTools(editor, (state) => state.find || state.link);
  const anchor = useMemo(
    () => ({
      current: {
        getBoundingClientRect: () => {
          const { from, to } = editor.state.selection;
          return posToDOMRect(editor.view, from, to);
        },
      },
    }),
    [editor],
  );
  if (!shown || busy || dismissed === where) return null;
  return (
    <Popover.Root open>
      <Popover.Anchor virtualRef={anchor} />
      <Popover.Portal>
        <Popover.Content
          asChild
          side="top"
          sideOffset={6}
          collisionPadding={8}
          updatePositionStrategy="always"
          onOpenAutoFocus={(event) => event.preventDefault()}
          onCloseAutoFocus={(event) => event.preventDefault()}
          onEscapeKeyDown={() => setDismissed(where)}
        >
          <Toolbar.Root role="toolbar" className={css.bubble} aria-label="Format the selection">
            <Toolbar.Button asChild>
              <Button
                look="quiet"
                small
                className={css.ask ?? ""}
                title={`Ask the agent (${formatKeys("Mod+J")})`}
                onMouseDown={(event) => event.preventDefault()}
                onClick={askAtCursor}
              >
                <Sparkles size={14} aria-hidden /> Ask the agent
              </Button>
            </Toolbar.Button>
            {MARKS.map((act) => (
              <ActionButton key={act.id} editor={editor} act={act} />
            ))}
          </Toolbar.Root>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}
