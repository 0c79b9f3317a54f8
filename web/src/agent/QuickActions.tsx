import { useQuery } from "@tanstack/react-query";
import { FilePlus2 } from "lucide-react";
import type { ReactNode } from "react";
import { providersQuery } from "@/api/queries";
import { show, useStore } from "@/state/store";
import { suggest } from "./acts";
import css from "./agent.module.css";
import { QUICK_ACTIONS } from "./suggestions";

/** Requests that come up often, for the document in front: each goes into the composer, to be sent or changed. */
export function QuickActions(): ReactNode {
  const active = useStore((store) => store.active);
  const model = useStore((store) => store.agentModel);
  const { data } = useQuery(providersQuery);
  const offline = model === "offline" || (model === "" && data?.default.provider === "offline");
  const usable = QUICK_ACTIONS.filter((action) => !(offline && action.needsModel));
  if (!active) return null;
  return (
    <ul className={css.chips} aria-label="Quick actions">
      {usable.map((action) => (
        <li key={action.label}>
          <button type="button" className={css.chip} onClick={() => suggest(action.ask(active))}>
            {action.label}
          </button>
        </li>
      ))}
      <li>
        <button type="button" className={css.chip} onClick={() => show({ dialog: { kind: "new", folder: "" } })}>
          <FilePlus2 size={12} aria-hidden /> From a template
        </button>
      </li>
    </ul>
  );
}
