import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { type Schemas, server, told } from "@/api/client";
import { askAnew, client, providersQuery, refresh, settingsQuery, workspaceQuery } from "@/api/queries";
import { attempt } from "@/state/documents";
import { say } from "@/state/store";
import ui from "@/ui/ui.module.css";
import { Choice, type Options } from "./Choice";
import css from "./dialogs.module.css";

type Change = Schemas["SettingsChange"];

const MODES: Options<NonNullable<Change["mode"]>> = [
  ["read", "They only read"],
  ["propose", "They propose, I accept or reject"],
  ["apply", "They write at once, I can undo it"],
  ["merge", "They write at once, merged with my typing"],
];
const REVIEWS: Options<NonNullable<Change["review"]>> = [
  ["hunk", "Change by change"],
  ["turn", "All of a turn together"],
];
const MEANINGS: Options<NonNullable<Change["embeddings"]>> = [
  ["wordllama", "Fast (wordllama)"],
  ["minilm", "Finds better, slower (minilm)"],
  ["off", "Off"],
];

/** What agents may do here, and how the person decides on it. */
export function FolderSettings(): ReactNode {
  const { data: settings } = useQuery(settingsQuery);
  const { data: workspace } = useQuery(workspaceQuery);
  const { data: providers } = useQuery(providersQuery);
  // What is chosen is seen at once, and for good once it is written.
  const [wished, setWished] = useState<Change>({});
  if (!settings) return null;
  const { mode, review, embeddings, lock, confirm_files } = { ...settings, ...wished } as typeof settings;
  const change = async (wish: Change) => {
    setWished((others) => ({ ...others, ...wish }));
    await write(wish);
    const written = Object.keys(wish);
    setWished((others) => Object.fromEntries(Object.entries(others).filter(([name]) => !written.includes(name))));
  };
  return (
    <fieldset className={css.group} disabled={workspace?.caller.role !== "admin"}>
      <legend>Agents</legend>
      <Choice label="What they change" options={MODES} value={mode} onChange={(mode) => void change({ mode })} />
      <Choice label="I decide" options={REVIEWS} value={review} onChange={(review) => void change({ review })} />
      <Choice
        label="Search by meaning"
        options={MEANINGS}
        value={embeddings}
        onChange={(embeddings) => void change({ embeddings })}
      />
      <label className={css.check}>
        <input type="checkbox" checked={lock} onChange={(event) => void change({ lock: event.target.checked })} />
        Nobody types while the agent in the sidebar works
      </label>
      <p className={ui.hint}>
        A turn that writes more than {confirm_files} files asks first.
        {providers ? ` ${nameOf(providers.default)} answers in the sidebar.` : ""} This holds for all your folders; a
        folder's own settings may be stricter.
      </p>
    </fieldset>
  );
}

function nameOf({ provider, model }: Schemas["Answering"]): string {
  return provider === "offline" ? "The offline assistant" : `${provider} ${model}`;
}

/** Write it into the person's settings; what holds then is what the folder's own leave of it. */
async function write(wish: Change): Promise<void> {
  await attempt(async () => {
    const holds = await told(server.PUT("/api/settings", { body: wish }));
    client.setQueryData(settingsQuery.queryKey, holds);
    const names = Object.keys(wish) as (keyof typeof holds & keyof Change)[];
    if (names.some((name) => holds[name] !== wish[name]))
      say("It is in your settings; here this folder's own, or your environment's, are stricter.");
  });
  refresh("notice", "job");
  await askAnew({ queryKey: settingsQuery.queryKey }); // answers of two changes may have crossed
}
