import { type FormEvent, type ReactNode, useState } from "react";
import type { Schemas } from "@/api/client";
import { Button } from "@/ui/Button";
import { Field, Labelled } from "@/ui/Small";
import { Choice, type Options } from "./Choice";
import { type NewModel, nameFor } from "./models";
import css from "./models.module.css";

type Provider = Schemas["ModelRequest"]["provider"];

const PROVIDERS: Options<Provider> = [
  ["anthropic", "Anthropic (Claude)"],
  ["openai", "OpenAI (GPT)"],
  ["google", "Google (Gemini)"],
  ["compatible", "Another server (OpenAI's protocol)"],
];
const KEY_PAGES: Record<Provider, string> = {
  anthropic: "https://console.anthropic.com/settings/keys",
  openai: "https://platform.openai.com/api-keys",
  google: "https://aistudio.google.com/apikey",
  compatible: "",
};
const KEPT = {
  keyring: "It is stored in your system's keyring",
  file: "It is stored in a file on this computer that only you can read",
};

interface AddModelProps {
  models: readonly Schemas["ModelShape"][];
  keysGoTo: keyof typeof KEPT;
  busy: boolean;
  onAdd: (name: string, model: NewModel) => Promise<boolean>;
}

/** Add a model by its key. The key is sent once and then forgotten here. */
export function AddModel({ models, keysGoTo, busy, onAdd }: AddModelProps): ReactNode {
  const [provider, setProvider] = useState<Provider>("anthropic");
  const [key, setKey] = useState("");
  const [model, setModel] = useState("");
  const [address, setAddress] = useState("");
  const other = provider === "compatible";
  const ready = other ? model.trim() !== "" && address.trim() !== "" : key.trim() !== "";
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!ready || busy) return;
    const wanted = { provider, model: model.trim(), base_url: address.trim(), ...(key.trim() && { key: key.trim() }) };
    setKey("");
    const named = model.trim() ? nameFor(model, models) : provider;
    if (await onAdd(named, wanted)) {
      setModel("");
      setAddress("");
    }
  };
  const page = KEY_PAGES[provider];
  return (
    <form className={css.section} onSubmit={(event) => void submit(event)}>
      <h3>Add a model</h3>
      <div className={css.fields}>
        <Choice label="Provider" options={PROVIDERS} value={provider} onChange={setProvider} />
        {other ? (
          <Labelled label="Address">
            <Field
              value={address}
              onChange={(event) => setAddress(event.target.value)}
              placeholder="http://localhost:8000/v1"
            />
          </Labelled>
        ) : null}
        <Labelled label={other ? "API key (if it needs one)" : "API key"}>
          <Field type="password" value={key} onChange={(event) => setKey(event.target.value)} />
        </Labelled>
        <Labelled label={other ? "Model" : "Model (optional)"}>
          <Field
            value={model}
            onChange={(event) => setModel(event.target.value)}
            placeholder={other ? "as the server names it" : "a good one is chosen"}
          />
        </Labelled>
      </div>
      <p className={css.note}>
        {KEPT[keysGoTo]}, never in a folder, and never shown again.{" "}
        {page ? (
          <a href={page} target="_blank" rel="noreferrer">
            Get a key
          </a>
        ) : null}
      </p>
      <Button type="submit" look="primary" disabled={!ready || busy}>
        Add and test
      </Button>
    </form>
  );
}
