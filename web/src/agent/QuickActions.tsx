import { useQuery } from "@tanstack/react-query";
import { FilePlus2, ListVideo, Play } from "lucide-react";
import type { ReactNode } from "react";
import { providersQuery } from "@/api/queries";
import { show, useStore } from "@/state/store";
import { fillComposer } from "./actions";
import css from "./agent.module.css";
import { macrosQuery, runMacro } from "./macros";
import { QUICK_ACTIONS } from "./suggestions";

/** Frequent requests for the document in front: each is put into the composer, to be sent or changed. Macros run at
 * once, or in their dialog if they need values. */
export function QuickActions(): ReactNode {
  const active = useStore((store) => store.active);
  const model = useStore((store) => store.agentModel);
  const { data } = useQuery(providersQuery);
  const { data: macros = [] } = useQuery(macrosQuery);
  const offline = model === "offline" || (model === "" && data?.default.provider === "offline");
  const usable = QUICK_ACTIONS.filter((action) => !(offline && action.needsModel));
  const own = macros.filter(({ saved, values }) => saved && values.length === 0);
  const run = async (name: string) => {
    if (await runMacro(name, {})) seeMacros();
  };
  if (!active) return null;
  return (
    <ul className={css.chips} aria-label="Quick actions">
      {usable.map((action) => (
        <li key={action.label}>
          <button type="button" className={css.chip} onClick={() => fillComposer(action.ask(active))}>
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
