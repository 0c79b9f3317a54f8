import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { type Schemas, server, unwrap } from "@/api/client";
import { client, providersQuery, refetch, refresh, settingsQuery, workspaceQuery } from "@/api/queries";
import { attempt } from "@/state/documents";
import { show, showToast } from "@/state/store";
import { Button } from "@/ui/Button";
import ui from "@/ui/ui.module.css";
import { Choice, type Options } from "./Choice";
import css from "./dialogs.module.css";

type Change = Schemas["SettingsRequest"];

const MODES: Options<NonNullable<Change["mode"]>> = [
  ["read", "Only read"],
  ["propose", "Propose changes for me to review"],
  ["apply", "Apply changes at once, with undo"],
  ["merge", "Apply changes at once, merged with my typing"],
];
const REVIEWS: Options<NonNullable<Change["review"]>> = [
  ["hunk", "Change by change"],
  ["turn", "Whole turns"],
];
const MEANINGS: Options<NonNullable<Change["embeddings"]>> = [
  ["wordllama", "Fast (wordllama)"],
  ["minilm", "More accurate, slower (minilm)"],
  ["off", "Off"],
];

/** What agents may do here, and how the person decides about it. */
export function FolderSettings(): ReactNode {
  const { data: settings } = useQuery(settingsQuery);
  const { data: workspace } = useQuery(workspaceQuery);
  const { data: providers } = useQuery(providersQuery);
  // Show a choice at once; it is final once it is written.
  const [unsaved, setUnsaved] = useState<Change>({});
  if (!settings) return null;
  const { mode, review, embeddings, lock, confirm_files } = { ...settings, ...unsaved } as typeof settings;
  const change = async (values: Change) => {
    setUnsaved((others) => ({ ...others, ...values }));
    await writeSettings(values);
    const written = Object.keys(values);
    setUnsaved((others) => Object.fromEntries(Object.entries(others).filter(([name]) => !written.includes(name))));
  };
  return (
    <fieldset className={css.group} disabled={workspace?.caller.role !== "admin"}>
      <legend>Agents</legend>
      <Choice label="What agents can do" options={MODES} value={mode} onChange={(mode) => void change({ mode })} />
      <Choice label="Review" options={REVIEWS} value={review} onChange={(review) => void change({ review })} />
      <Choice
        label="Search by meaning"
        options={MEANINGS}
        value={embeddings}
        onChange={(embeddings) => void change({ embeddings })}
      />
      <label className={css.check}>
        <input type="checkbox" checked={lock} onChange={(event) => void change({ lock: event.target.checked })} />
        Lock typing while the agent in the sidebar works
      </label>
      <p className={ui.hint}>
        A turn that writes more than {confirm_files} files asks first.
        {providers ? ` ${modelName(providers.default)} answers in the sidebar.` : ""} These settings apply to all your
        folders; a folder's own settings can be stricter.
      </p>
      <Button small onClick={() => show({ dialog: { kind: "models" } })}>
        Models…
      </Button>
    </fieldset>
  );
}

function modelName({ provider, model }: Schemas["DefaultModelInfo"]): string {
  return provider === "offline" ? "The offline assistant" : `${provider} ${model}`;
}

/** Write it into the person's settings; the folder's own settings may still narrow the result. */
async function writeSettings(values: Change): Promise<void> {
  await attempt(async () => {
    const current = await unwrap(server.PUT("/api/settings", { body: values }));
    client.setQueryData(settingsQuery.queryKey, current);
    const names = Object.keys(values) as (keyof typeof current & keyof Change)[];
    if (names.some((name) => current[name] !== values[name]))
      showToast("Saved in your settings, but this folder's settings or your environment are stricter here.");
  });
  refresh("notice", "job");
  await refetch({ queryKey: settingsQuery.queryKey }); // answers of two changes may have crossed
}
