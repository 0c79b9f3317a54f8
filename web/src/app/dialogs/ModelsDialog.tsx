import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Schemas } from "@/api/client";
import { client, workspaceQuery } from "@/api/queries";
import { Button } from "@/ui/Button";
import { Modal } from "@/ui/Modal";
import { Badge } from "@/ui/Small";
import ui from "@/ui/ui.module.css";
import { AddModel } from "./AddModel";
import { foundServersQuery, modelsQuery, type NewModel, nameFor, useModelChanges } from "./models";
import css from "./models.module.css";

type Model = Schemas["ModelShape"];

const KEYS: Record<Model["key"], string> = {
  keyring: "key in the system's keyring",
  file: "key in a private file on this computer",
  environment: "key from the environment",
  missing: "no key",
  none: "needs no key",
};

/** The models that can answer: add one with a key or from a server on this computer, test it, choose it, remove it. */
export function ModelsDialog({ onClose }: { onClose: () => void }): ReactNode {
  const { data: workspace } = useQuery(workspaceQuery);
  const admin = workspace?.caller.role === "admin";
  return (
    <Modal
      title="Models"
      text="The model that is in use answers in the agent panel, in all your folders. Without one, the offline assistant answers by rules."
      onClose={onClose}
      acts={<Button onClick={onClose}>Close</Button>}
    >
      {admin ? <Models /> : workspace ? <p>Only the owner of this folder or an admin can set up models.</p> : null}
    </Modal>
  );
}

function Models(): ReactNode {
  const { data } = useQuery(modelsQuery);
  const { results, busy, problem, test, change, add } = useModelChanges();
  const models = data?.models ?? [];
  return (
    <div className={css.page}>
      {models.length > 0 ? (
        <ul className={css.models} aria-label="Your models">
          {models.map((model) => (
            <li key={model.name}>
              <div className={css.row}>
                <span className={css.about}>
                  <b>{model.name}</b> {model.in_use ? <Badge tone="added">In use</Badge> : null}
                  <span className={ui.hint}>
                    {[model.model, model.address, KEYS[model.key]].filter(Boolean).join(" · ")}
                  </span>
                </span>
                {model.in_use ? null : (
                  <Button
                    small
                    aria-label={`Use ${model.name}`}
                    disabled={busy !== ""}
                    onClick={() => void change("use", model.name)}
                  >
                    Use
                  </Button>
                )}
                <Button
                  small
                  aria-label={`Test ${model.name}`}
                  disabled={busy !== ""}
                  onClick={() => void test(model.name)}
                >
                  {busy === model.name ? "Testing…" : "Test"}
                </Button>
                {model.editable ? (
                  <Button
                    small
                    aria-label={`Remove ${model.name}`}
                    disabled={busy !== ""}
                    onClick={() => void change("remove", model.name)}
                  >
                    Remove
                  </Button>
                ) : null}
              </div>
              <Result result={results[model.name]} local={model.local} />
            </li>
          ))}
        </ul>
      ) : data ? (
        <p>No model is set up yet.</p>
      ) : null}
      {problem ? (
        <p className={css.problem} role="alert">
          {problem}
        </p>
      ) : null}
      {data ? <AddModel models={models} keysGoTo={data.keys_go_to} busy={busy !== ""} onAdd={add} /> : null}
      <FoundServers models={models} busy={busy !== ""} onAdd={add} />
    </div>
  );
}

/** What the model answered to a test, and what that cost. */
function Result({ result, local }: { result: Schemas["ModelTestShape"] | undefined; local: boolean }): ReactNode {
  return (
    <div role="status">
      {result ? (
        <p className={css.result} data-ok={result.ok}>
          {result.ok ? <q>{result.text}</q> : result.text}
          {result.ok ? (
            <span className={ui.hint}>
              {result.model} · {local ? "free, on this computer" : priceOf(result.price_usd)} ·{" "}
              {result.seconds.toFixed(1)} s
            </span>
          ) : null}
        </p>
      ) : null}
    </div>
  );
}

function priceOf(price: string | null): string {
  return price === null ? "price not known" : `$${Number(price).toPrecision(2)} for this answer`;
}

interface FoundServersProps {
  models: readonly Model[];
  busy: boolean;
  onAdd: (name: string, model: NewModel) => Promise<boolean>;
}

/** Model servers that run on this computer, with what they offer. */
function FoundServers({ models, busy, onAdd }: FoundServersProps): ReactNode {
  const { data: servers, isFetching } = useQuery(foundServersQuery);
  return (
    <section className={css.section}>
      <h3>On this computer</h3>
      {servers?.map((server) => (
        <div key={server.base_url}>
          <p className={ui.hint}>
            {server.name} runs at {server.base_url}
            {server.models.length === 0 ? " and has no model yet." : ":"}
          </p>
          <div className={css.found}>
            {server.models.map((model) => (
              <Button
                key={model}
                small
                disabled={busy || models.some((one) => one.model === model && server.base_url.startsWith(one.address))}
                onClick={() =>
                  void onAdd(nameFor(model, models), { provider: "compatible", model, base_url: server.base_url })
                }
              >
                Use {model}
              </Button>
            ))}
          </div>
        </div>
      ))}
      {servers?.length === 0 ? (
        <p className={ui.hint}>No model server runs here. Start Ollama, LM Studio or llama.cpp, then look again.</p>
      ) : null}
      <Button small disabled={isFetching} onClick={() => void client.refetchQueries({ queryKey: ["found servers"] })}>
        {isFetching ? "Looking…" : "Look again"}
      </Button>
    </section>
  );
}
