import type { Editor } from "@tiptap/core";
import { Popover } from "radix-ui";
import { type ReactNode, useEffect, useMemo, useRef } from "react";
import { LISTBOX, optionId } from "./slash";
import { useTools } from "./state";
import css from "./tools.module.css";

/** What can be inserted, beside the slash. The focus stays in the text, and its keys select here. */
export function SlashMenu({ editor }: { editor: Editor }): ReactNode {
  const slash = useTools(editor, (state) => state.slash);
  const chosen = useRef<HTMLDivElement>(null);
  const anchor = useMemo(
    () => ({ current: { getBoundingClientRect: () => slash?.place() ?? new DOMRect() } }),
    [slash],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: the selected item scrolls into view whenever it changes
  useEffect(() => {
    chosen.current?.scrollIntoView({ block: "nearest" });
  }, [slash?.at, slash?.items]);
  if (!slash) return null;
  return (
    <Popover.Root open>
      <Popover.Anchor virtualRef={anchor} />
      <Popover.Portal>
        <Popover.Content
          className={css.slash}
          id={LISTBOX}
          role="listbox"
          aria-label="Insert"
          side="bottom"
          align="start"
          sideOffset={4}
          collisionPadding={8}
          onOpenAutoFocus={(event) => event.preventDefault()}
          onCloseAutoFocus={(event) => event.preventDefault()}
          onEscapeKeyDown={slash.close}
        >
          {slash.items.map((act, at) => (
            <div
              key={act.id}
              id={optionId(act)}
              ref={at === slash.at ? chosen : null}
              role="option"
              tabIndex={-1}
              aria-selected={at === slash.at}
              className={css.option}
              onMouseDown={(event) => {
                event.preventDefault();
                slash.choose(act);
              }}
            >
              <act.icon size={16} aria-hidden /> {act.label}
            </div>
          ))}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}
