/** The server's API for the rich view: only the server parses and writes markdown. */

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

// A separate client: these requests change nothing, and the server need not store them like writes.
const server = createClient<paths>({ baseUrl: globalThis.location?.origin ?? "http://localhost" });

// Longer than the longest document takes: a server that is silent for this time is unreachable.
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
