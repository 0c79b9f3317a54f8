/** The agents' tools, called by the person: the same answers, with the person as the author. */

import { server, unwrap } from "./client";

export async function callTool<T>(name: string, given: Record<string, unknown>, agree = false): Promise<T> {
  const asked = server.POST("/api/tools/{name}", {
    params: { path: { name }, query: { agree, by: "person" } },
    body: given,
  });
  return (await unwrap(asked)) as T;
}
