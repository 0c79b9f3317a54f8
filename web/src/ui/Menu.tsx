import { ContextMenu, DropdownMenu } from "radix-ui";
import { Fragment, type ReactNode, useRef, useState } from "react";
import css from "./ui.module.css";

/** One menu item; `null` draws a separator. */
export type MenuEntry = { label: string; keys?: string; disabled?: boolean; run: () => void } | null;

interface MenuProps {
  entries: MenuEntry[];
  children: ReactNode;
}

interface ButtonMenuProps extends MenuProps {
  /** Where the focus goes after a choice; by default back to the button. */
  onChosen?: () => void;
}

/** A menu below a button, which is its child. */
export function Menu({ entries, children, onChosen }: ButtonMenuProps): ReactNode {
  const [open, setOpen] = useState(false);
  const chosen = useRef(false);
  const change = (opened: boolean) => {
    setOpen(opened);
    if (opened) chosen.current = false;
    // As soon as the menu lets go of the focus: the next key must not be lost.
    else if (chosen.current && onChosen) queueMicrotask(onChosen);
  };
  return (
    <DropdownMenu.Root open={open} onOpenChange={change}>
      <DropdownMenu.Trigger asChild>{children}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          className={css.menu}
          align="end"
          sideOffset={4}
          onCloseAutoFocus={(event) => chosen.current && onChosen && event.preventDefault()}
        >
          {entries.map((entry, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: menu entries do not move while it is open
            <Fragment key={at}>
              {entry ? (
                <DropdownMenu.Item
                  className={css.menuItem}
                  disabled={entry.disabled ?? false}
                  onSelect={() => {
                    chosen.current = true;
                    entry.run();
                  }}
                >
                  {entry.label} {entry.keys ? <kbd>{entry.keys}</kbd> : null}
                </DropdownMenu.Item>
              ) : (
                <DropdownMenu.Separator className={css.menuLine} />
              )}
            </Fragment>
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

/** The same for a right click on its child, or the menu key. */
export function RightClick({ entries, children }: MenuProps): ReactNode {
  return (
    <ContextMenu.Root>
      <ContextMenu.Trigger asChild>{children}</ContextMenu.Trigger>
      <ContextMenu.Portal>
        <ContextMenu.Content className={css.menu}>
          {entries.map((entry, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: menu entries do not move while it is open
            <Fragment key={at}>
              {entry ? (
                <ContextMenu.Item className={css.menuItem} disabled={entry.disabled ?? false} onSelect={entry.run}>
                  {entry.label} {entry.keys ? <kbd>{entry.keys}</kbd> : null}
                </ContextMenu.Item>
              ) : (
                <ContextMenu.Separator className={css.menuLine} />
              )}
            </Fragment>
          ))}
        </ContextMenu.Content>
      </ContextMenu.Portal>
    </ContextMenu.Root>
  );
}
