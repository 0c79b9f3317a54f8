/** The server as the rich view needs it: it alone reads and writes markdown. */

import type { JSONContent } from "@tiptap/core";
import createClient from "openapi-fetch";
import { type Schemas, told } from "@/api/client";
import type { paths } from "@/api/schema";

export type Lines = Schemas["BlockLines"];

export interface Reading {
  doc: JSONContent;
  /** The lines of each block, from 0, half-open. */
  blocks: Lines[];
}

export interface Writing {
  markdown: string;
  blocks: Lines[];
}

export interface Asking {
  parse(markdown: string): Promise<Reading>;
  serialise(doc: JSONContent, before: string): Promise<Writing>;
}

// A client of its own: these questions change nothing, and need not be remembered by the server as writes are.
const server = createClient<paths>({ baseUrl: globalThis.location?.origin ?? "http://localhost" });

// Longer than the longest document takes: a server that says nothing for this time is away.
const PATIENCE_MS = 30_000;

export const asking: Asking = {
  async parse(markdown) {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const { doc, blocks } = await told(server.POST("/api/rich/parse", { body: { markdown }, signal }));
    return { doc: doc as JSONContent, blocks };
  },
  async serialise(doc, before) {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    return await told(server.POST("/api/rich/serialise", { body: { doc, before }, signal }));
  },
};
