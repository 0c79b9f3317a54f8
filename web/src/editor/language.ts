/** How the editor parses a document, by its name: as a whole, or only the visible part if it is very long. */

import { json, jsonLanguage } from "@codemirror/lang-json";
import { markdown, markdownLanguage } from "@codemirror/lang-markdown";
import { yaml, yamlLanguage } from "@codemirror/lang-yaml";
import type { Extension } from "@codemirror/state";
import { findFence, findIndentContext, highlightNearby } from "./nearby";
import { words } from "./theme";

export type Format = "Markdown" | "JSON" | "YAML" | "Text";

// Above this (a book of 120,000 words), keeping the parse up to date sometimes costs a key more than a frame.
const MAX_PARSED = 750_000;

const ENDINGS: Record<string, Format> = {
  md: "Markdown",
  markdown: "Markdown",
  mdx: "Markdown",
  json: "JSON",
  yaml: "YAML",
  yml: "YAML",
};

export function formatOf(path: string): Format {
  return ENDINGS[path.slice(path.lastIndexOf(".") + 1).toLowerCase()] ?? "Text";
}

const WHOLE: Record<Format, () => Extension> = {
  Markdown: () => markdown({ base: markdownLanguage, completeHTMLTags: false }),
  JSON: json,
  YAML: yaml,
  Text: () => [],
};

const IN_SIGHT: Record<Format, () => Extension> = {
  Markdown: () => highlightNearby(markdownLanguage.parser, findFence, words),
  JSON: () => highlightNearby(jsonLanguage.parser, findIndentContext, words),
  YAML: () => highlightNearby(yamlLanguage.parser, findIndentContext, words),
  Text: () => [],
};

export function language(path: string, length: number): Extension {
  return (length > MAX_PARSED ? IN_SIGHT : WHOLE)[formatOf(path)]();
}
