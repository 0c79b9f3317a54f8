import { useQuery } from "@tanstack/react-query";
import { FilePlus2, ListVideo, Play } from "lucide-react";
import type { ReactNode } from "react";
import { providersQuery } from "@/api/queries";
import { show, useStore } from "@/state/store";
import { sendNow } from "./actions";
import css from "./agent.module.css";
import { macrosQuery, runMacro } from "./macros";
import { listQuickActions } from "./suggestions";

/** Frequent requests that fit the document in front. Each runs at once, and so do macros, unless they need values. */
export function QuickActions(): ReactNode {
  const active = useStore((store) => store.active);
  const model = useStore((store) => store.agentModel);
  const { data } = useQuery(providersQuery);
  const { data: macros = [] } = useQuery(macrosQuery);
  const offline = model === "offline" || (model === "" && data?.default.provider === "offline");
  const usable = listQuickActions(active ?? "", offline);
  const own = macros.filter(({ saved, values }) => saved && values.length === 0);
  const run = async (name: string) => {
    if (await runMacro(name, {})) seeMacros();
  };
  if (!active) return null;
  return (
    <ul className={css.chips} aria-label="Quick actions">
      {usable.map((action) => (
        <li key={action.label}>
          <button type="button" className={css.chip} onClick={() => sendNow(action.ask(active))}>
            {action.label}
          </button>
        </li>
      ))}
      <li>
        <button type="button" className={css.chip} onClick={() => show({ dialog: { kind: "new", folder: "" } })}>
          <FilePlus2 size={12} aria-hidden /> New from template
        </button>
      </li>
      {own.map(({ name }) => (
        <li key={name}>
          <button type="button" className={css.chip} onClick={() => void run(name)}>
            <Play size={12} aria-hidden /> {name}
          </button>
        </li>
      ))}
      <li>
        <button type="button" className={css.chip} onClick={seeMacros}>
          <ListVideo size={12} aria-hidden /> Macros
        </button>
      </li>
    </ul>
  );
}

const seeMacros = () => show({ dialog: { kind: "macros" } });
