/** How a document is read by the editor, by its name; a very long one is plain text, which costs nothing to keep up. */

import { json } from "@codemirror/lang-json";
import { markdown, markdownLanguage } from "@codemirror/lang-markdown";
import { yaml } from "@codemirror/lang-yaml";
import type { Extension } from "@codemirror/state";

export type Format = "Markdown" | "JSON" | "YAML" | "Text";

// Above this (a book of 120,000 words) keeping the parse up with the typing costs a key more than a frame now and then.
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

export function language(path: string, length: number): Extension {
  if (length > MAX_PARSED) return [];
  switch (formatOf(path)) {
    case "Markdown":
      return markdown({ base: markdownLanguage, completeHTMLTags: false });
    case "JSON":
      return json();
    case "YAML":
      return yaml();
    default:
      return [];
  }
}
