import { Tooltip } from "radix-ui";
import type { ComponentProps, ReactNode } from "react";
import css from "./ui.module.css";

type Look = "plain" | "primary" | "danger" | "quiet";

interface ButtonProps extends ComponentProps<"button"> {
  look?: Look;
  small?: boolean;
}

export function Button({ look = "plain", small = false, className = "", ...rest }: ButtonProps): ReactNode {
  const names = [css.button, look === "plain" ? "" : css[look], small ? css.small : "", className];
  return <button type="button" className={names.filter(Boolean).join(" ")} {...rest} />;
}

interface IconButtonProps extends Omit<ComponentProps<"button">, "children"> {
  /** What it does, for the tooltip and the accessible name. */
  label: string;
  keys?: string;
  on?: boolean;
  children: ReactNode;
}

export function IconButton({ label, keys, on, className = "", children, ...rest }: IconButtonProps): ReactNode {
  const pressed = on === undefined ? {} : { "aria-pressed": on, "data-on": on };
  return (
    <Tooltip.Root>
      <Tooltip.Trigger asChild>
        <button type="button" aria-label={label} className={`${css.icon} ${className}`} {...pressed} {...rest}>
          {children}
        </button>
      </Tooltip.Trigger>
      <Tooltip.Portal>
        <Tooltip.Content className={css.tip} sideOffset={4}>
          {label}
          {keys ? ` (${keys})` : ""}
        </Tooltip.Content>
      </Tooltip.Portal>
    </Tooltip.Root>
  );
}
