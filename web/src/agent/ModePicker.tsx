import { useQuery } from "@tanstack/react-query";
import { Check } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import type { ReactNode } from "react";
import { workspaceQuery } from "@/api/queries";
import { type AgentMode, show, useStore } from "@/state/store";
import ui from "@/ui/ui.module.css";
import css from "./agent.module.css";
import { type Option, Picker } from "./Picker";
import { asksToEdit, rulesQuery, setAskToEdit } from "./rules";

const MODES: readonly Option[] = [
  { value: "read", label: "Read", hint: "Answers questions, changes nothing" },
  { value: "propose", label: "Propose", hint: "You accept or reject each change" },
  { value: "apply", label: "Apply", hint: "Writes when it finishes, and you can undo; asks before deleting" },
  { value: "merge", label: "Merge", hint: "Writes when it finishes, merged with what you typed meanwhile" },
];

/** When the disk is written. A folder's own settings may allow less; then its jobs say so. */
export function ModePicker(): ReactNode {
  const chosen = useStore((store) => store.agentMode);
  const { data } = useQuery(workspaceQuery);
  const usual = data?.mode ?? "propose";
  return (
    <Picker
      label="Mode"
      value={chosen ?? usual}
      options={MODES}
      onPick={(mode) => show({ agentMode: mode === usual ? null : (mode as AgentMode) })}
      more={<AskFirst />}
      foot={data ? `The default mode of this folder is “${usual}”. Its settings may not allow a wider one.` : null}
    />
  );
}

/** A rule for every mode: no edit is made or proposed before the person has agreed to it. */
function AskFirst(): ReactNode {
  const { data: rules } = useQuery({ ...rulesQuery, refetchOnMount: "always" });
  return (
    <DropdownMenu.CheckboxItem
      className={`${ui.menuItem} ${css.option} ${css.apart}`}
      checked={asksToEdit(rules ?? [])}
      disabled={!rules}
      onCheckedChange={(ask) => void setAskToEdit(ask)}
      onSelect={(event) => event.preventDefault()}
    >
      <span>
        <b>Ask before editing</b>
        <span className={css.soft}>In this folder and in every mode, until you turn it off</span>
      </span>
      <DropdownMenu.ItemIndicator>
        <Check size={15} aria-hidden />
      </DropdownMenu.ItemIndicator>
    </DropdownMenu.CheckboxItem>
  );
}
