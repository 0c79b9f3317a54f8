/** The server's API for the rich view: only the server parses and writes markdown. */

import type { JSONContent } from "@tiptap/core";
import createClient from "openapi-fetch";
import { type Schemas, unwrap } from "@/api/client";
import type { paths } from "@/api/schema";

export type BlockLines = Schemas["BlockLines"];

/** Says that a request is about a part of a longer text. */
export type DocumentPart = Schemas["DocumentPart"];

export interface ParsedMarkdown {
  doc: JSONContent;
  /** The lines of each block, from 0, half-open. */
  blocks: BlockLines[];
  /** What a part of this text needs to know of the rest. */
  context: string;
}

export interface SerialisedMarkdown extends ParsedMarkdown {
  markdown: string;
}

export interface MarkdownApi {
  parse(markdown: string, part?: DocumentPart): Promise<ParsedMarkdown>;
  serialise(doc: JSONContent, before: string, part?: DocumentPart): Promise<SerialisedMarkdown>;
}

// A separate client: these requests change nothing, and the server need not store them like writes.
const server = createClient<paths>({ baseUrl: globalThis.location?.origin ?? "http://localhost" });

// Longer than the longest document takes: a server that is silent for this time is unreachable.
const PATIENCE_MS = 30_000;

export const markdownApi: MarkdownApi = {
  async parse(markdown, part) {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const made = await unwrap(server.POST("/api/rich/parse", { body: { markdown, part: part ?? null }, signal }));
    return { ...made, doc: made.doc as JSONContent };
  },
  async serialise(doc, before, part) {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const made = await unwrap(
      server.POST("/api/rich/serialise", { body: { doc, before, part: part ?? null }, signal }),
    );
    return { ...made, doc: made.doc as JSONContent };
  },
};
