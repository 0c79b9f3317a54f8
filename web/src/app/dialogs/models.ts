/** The models as the server has them, and changing them. */

import { queryOptions } from "@tanstack/react-query";
import { useState } from "react";
import { errorMessage, type Schemas, server, unwrap } from "@/api/client";
import { client, providersQuery } from "@/api/queries";

export type NewModel = Pick<Schemas["ModelRequest"], "provider" | "model" | "base_url" | "key">;
type Test = Schemas["ModelTestShape"];

export const modelsQuery = queryOptions({
  queryKey: ["models"],
  queryFn: () => unwrap(server.GET("/api/models")),
  staleTime: 0,
});

export const foundServersQuery = queryOptions({
  queryKey: ["found servers"],
  queryFn: async () => (await unwrap(server.GET("/api/models/found"))).servers,
  staleTime: 0,
});

/** A short name for a model, which no other has. */
export function nameFor(model: string, models: readonly Schemas["ModelShape"][]): string {
  const short = model.slice(model.lastIndexOf("/") + 1).toLowerCase();
  const name =
    short
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-+|-+$/g, "")
      .slice(0, 36) || "model";
  const taken = new Set(models.filter((one) => one.model !== model).map((one) => one.name));
  let unique = name;
  for (let number = 2; taken.has(unique) || unique === "offline"; number += 1) unique = `${name}-${number}`;
  return unique;
}

interface ModelChanges {
  /** What each model answered when it was last tested here. */
  results: Record<string, Test>;
  /** The model that is being changed or tested; "" for none. */
  busy: string;
  problem: string;
  test: (name: string) => Promise<void>;
  change: (act: "use" | "remove", name: string) => Promise<void>;
  add: (name: string, model: NewModel) => Promise<boolean>;
}

/** Change and test models, one at a time. */
export function useModelChanges(): ModelChanges {
  const [results, setResults] = useState<Record<string, Test>>({});
  const [busy, setBusy] = useState("");
  const [problem, setProblem] = useState("");

  const attempt = async (name: string, act: () => Promise<unknown>): Promise<boolean> => {
    setBusy(name);
    setProblem("");
    try {
      await act();
      return true;
    } catch (error) {
      setProblem(errorMessage(error));
      return false;
    } finally {
      setBusy("");
    }
  };
  const params = (name: string) => ({ params: { path: { name } } });
  const test = async (name: string) => {
    await attempt(name, async () => {
      const result = await unwrap(server.POST("/api/models/{name}/test", params(name)));
      setResults((others) => ({ ...others, [name]: result }));
    });
  };
  const change = async (act: "use" | "remove", name: string) => {
    await attempt(name, async () => {
      const path = params(name);
      const asked =
        act === "use" ? server.POST("/api/models/{name}/use", path) : server.DELETE("/api/models/{name}", path);
      keep(await unwrap(asked));
    });
  };
  const add = async (name: string, body: NewModel) => {
    const added = await attempt(name, async () =>
      keep(await unwrap(server.PUT("/api/models/{name}", { ...params(name), body: { native_tools: true, ...body } }))),
    );
    if (added) await test(name);
    return added;
  };
  return { results, busy, problem, test, change, add };
}

function keep(models: Schemas["ModelsResponse"]): void {
  client.setQueryData(modelsQuery.queryKey, models);
  void client.invalidateQueries({ queryKey: providersQuery.queryKey });
}
