/** The server as the rich view needs it: it alone reads and writes markdown. */

import type { JSONContent } from "@tiptap/core";
import createClient from "openapi-fetch";
import { type Schemas, unwrap } from "@/api/client";
import type { paths } from "@/api/schema";

export type BlockLines = Schemas["BlockLines"];

export interface ParsedMarkdown {
  doc: JSONContent;
  /** The lines of each block, from 0, half-open. */
  blocks: BlockLines[];
}

export interface SerialisedMarkdown {
  markdown: string;
  blocks: BlockLines[];
}

export interface MarkdownApi {
  parse(markdown: string): Promise<ParsedMarkdown>;
  serialise(doc: JSONContent, before: string): Promise<SerialisedMarkdown>;
}

// A client of its own: these questions change nothing, and need not be remembered by the server as writes are.
const server = createClient<paths>({ baseUrl: globalThis.location?.origin ?? "http://localhost" });

// Longer than the longest document takes: a server that says nothing for this time is away.
const PATIENCE_MS = 30_000;

export const markdownApi: MarkdownApi = {
  async parse(markdown) {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const { doc, blocks } = await unwrap(server.POST("/api/rich/parse", { body: { markdown }, signal }));
    return { doc: doc as JSONContent, blocks };
  },
  async serialise(doc, before) {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    return await unwrap(server.POST("/api/rich/serialise", { body: { doc, before }, signal }));
  },
};
