import { Dialog } from "radix-ui";
import type { ReactNode } from "react";
import css from "./ui.module.css";

interface ModalProps {
  title: string;
  text?: ReactNode;
  wide?: boolean;
  onClose: () => void;
  /** Move the focus elsewhere once the dialog is closed; false lets it return. */
  onClosed?: () => boolean;
  children?: ReactNode;
  /** The buttons at the bottom. */
  acts?: ReactNode;
}

/** A dialog: the focus stays in it, Escape closes it, and the focus returns to where it was. */
export function Modal({ title, text, wide = false, onClose, onClosed, children, acts }: ModalProps): ReactNode {
  const described = text ? {} : { "aria-describedby": undefined };
  return (
    <Dialog.Root open onOpenChange={(opened) => opened || onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className={css.overlay} />
        <Dialog.Content
          className={`${css.dialog} ${wide ? css.wide : ""}`}
          {...described}
          onCloseAutoFocus={(event) => onClosed?.() && event.preventDefault()}
        >
          <Dialog.Title className={css.dialogTitle}>{title}</Dialog.Title>
          {text ? <Dialog.Description className={css.dialogText}>{text}</Dialog.Description> : null}
          {children}
          {acts ? <div className={css.dialogActs}>{acts}</div> : null}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
