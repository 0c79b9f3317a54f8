import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { workspaceQuery } from "@/api/queries";
import { type AgentMode, show, useStore } from "@/state/store";
import { type Option, Picker } from "./Picker";

const MODES: readonly Option[] = [
  { value: "read", label: "Read", hint: "Looks and answers, changes nothing" },
  { value: "propose", label: "Propose", hint: "You accept or reject each change" },
  { value: "apply", label: "Apply", hint: "Writes at the end, with undo; asks before deleting" },
  { value: "merge", label: "Merge", hint: "Writes at the end, merged with what you typed meanwhile" },
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
      foot={data ? `This folder starts in “${usual}”. Its settings may forbid a wider mode.` : null}
    />
  );
}
