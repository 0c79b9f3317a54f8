import type { ComponentProps, ReactNode } from "react";
import css from "./ui.module.css";

export function Empty({ children }: { children: ReactNode }): ReactNode {
  return <p className={css.empty}>{children}</p>;
}

export type Tone = "plain" | "agent" | "warn" | "added" | "removed";

export function Badge({ tone = "plain", children }: { tone?: Tone; children: ReactNode }): ReactNode {
  return (
    <span className={css.badge} data-tone={tone}>
      {children}
    </span>
  );
}

export function Field({ className = "", ...rest }: ComponentProps<"input">): ReactNode {
  return <input className={`${css.field} ${className}`} spellCheck={false} autoComplete="off" {...rest} />;
}

export function Labelled({ label, hint, children }: { label: string; hint?: string; children: ReactNode }): ReactNode {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is the child
    <label>
      <span className={css.label}>{label}</span>
      {children}
      {hint ? <span className={css.hint}>{hint}</span> : null}
    </label>
  );
}
