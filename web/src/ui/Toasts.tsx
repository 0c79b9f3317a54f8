import { X } from "lucide-react";
import { Toast } from "radix-ui";
import type { ReactNode } from "react";
import { dismissToast, useStore } from "@/state/store";
import { Button, IconButton } from "./Button";
import css from "./ui.module.css";

const SECONDS = { plain: 6, bad: 12 };

/** Messages in a corner, for a while; announced to screen readers. */
export function Toasts(): ReactNode {
  const toasts = useStore((store) => store.toasts);
  return (
    <Toast.Provider swipeDirection="right">
      {toasts.map(({ id, text, tone, action }) => (
        <Toast.Root
          key={id}
          className={css.toast}
          data-tone={tone}
          duration={SECONDS[tone] * 1000}
          onOpenChange={(opened) => opened || dismissToast(id)}
        >
          <Toast.Description>{text}</Toast.Description>
          <div className={css.toastActs}>
            {action ? (
              <Toast.Action asChild altText={action.label}>
                <Button small onClick={action.run}>
                  {action.label}
                </Button>
              </Toast.Action>
            ) : null}
            <Toast.Close asChild>
              <IconButton label="Close">
                <X size={14} />
              </IconButton>
            </Toast.Close>
          </div>
        </Toast.Root>
      ))}
      <Toast.Viewport className={css.toasts} />
    </Toast.Provider>
  );
}
