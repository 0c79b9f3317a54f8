import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { providersQuery } from "@/api/queries";
import { show, useStore } from "@/state/store";
import { agentOf, updateComposer } from "./actions";
import { Picker } from "./Picker";

/** What the chosen agent program lets a person choose, and the commands that it knows. It says so with its first
 * request in this folder. */
export function AgentOptions(): ReactNode {
  const name = useStore((store) => agentOf(store.agentModel));
  const all = useStore((store) => store.agentOptions);
  const { data } = useQuery({ ...providersQuery, enabled: name !== "" });
  const agent = data?.agents.find((each) => each.name === name);
  if (!agent) return null;
  const chosen = all[name] ?? {};
  const choose = (id: string, value: string) => show({ agentOptions: { ...all, [name]: { ...chosen, [id]: value } } });
  return (
    <>
      {agent.options.map((option) => (
        <Picker
          key={option.id}
          label={`${option.name} of ${name}`}
          value={chosen[option.id] ?? option.current}
          options={option.values.map(({ value, name: label }) => ({ value, label, hint: "" }))}
          onPick={(value) => choose(option.id, value)}
        />
      ))}
      {agent.commands.length ? (
        <Picker
          label={`Commands of ${name}`}
          value=""
          options={[
            { value: "", label: "/", hint: "Commands" },
            ...agent.commands.map((each) => ({ value: each.name, label: `/${each.name}`, hint: each.description })),
          ]}
          onPick={(command) => updateComposer(useStore.getState().session, { text: command ? `/${command} ` : "" })}
        />
      ) : null}
    </>
  );
}
