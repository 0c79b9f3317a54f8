import { useQuery } from "@tanstack/react-query";
import { DropdownMenu } from "radix-ui";
import type { ReactNode } from "react";
import type { Schemas } from "@/api/client";
import { providersQuery } from "@/api/queries";
import { show, useStore } from "@/state/store";
import ui from "@/ui/ui.module.css";
import { AGENT } from "./actions";
import { formatSpent, toSpent } from "./descriptions";
import { type Option, Picker } from "./Picker";
import { spentTodayQuery } from "./queries";

const OFFLINE: Option = {
  value: "offline",
  label: "Offline assistant",
  hint: "Follows rules, needs no API key, sends nothing anywhere",
};

/** Which model answers. If none is set up, it says so, and how to get one. */
export function ModelPicker(): ReactNode {
  const chosen = useStore((store) => store.agentModel);
  const { data } = useQuery(providersQuery);
  const { data: days } = useQuery(spentTodayQuery);
  if (!data) return null;
  const options = modelsOf(data);
  const known = options.some((option) => option.value === chosen);
  const spent = days?.[0];
  const today = spent ? formatSpent(toSpent(spent)) : "";
  return (
    <Picker
      label="Model"
      value={known ? chosen : (options[0]?.value ?? "")}
      options={options}
      onPick={(model) => show({ agentModel: model })}
      more={
        <DropdownMenu.Item className={ui.menuItem ?? ""} onSelect={() => show({ dialog: { kind: "models" } })}>
          Set up models…
        </DropdownMenu.Item>
      }
      foot={
        <>
          {data.models.length === 0 ? <p>No model is set up: the offline assistant answers by rules.</p> : null}
          {spent && today ? (
            <p>
              {today} on {spent.name}
            </p>
          ) : null}
        </>
      }
    />
  );
}

function modelsOf(found: Schemas["ProvidersResponse"]): Option[] {
  const programs = found.agents.map(({ name }) => ({
    value: `${AGENT}${name}`,
    label: name,
    hint: "Agent program, in a private view of this folder",
  }));
  return [...namedModels(found), ...programs];
}

function namedModels({ models, default: usual }: Schemas["ProvidersResponse"]): Option[] {
  const named = models.map(({ name, kind, model }) => ({
    value: name,
    label: model || name,
    hint: model && model !== name ? `${name}, ${kind}` : kind,
  }));
  if (usual.provider === "offline") return [{ ...OFFLINE, value: "" }, ...named];
  const first = { value: "", label: usual.model || usual.provider, hint: "Default in your settings" };
  return [first, ...named, OFFLINE];
}
