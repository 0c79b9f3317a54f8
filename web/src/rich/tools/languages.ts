/**
 * The languages that are coloured in code blocks: each is loaded when a block first uses it. Any other is shown in one
 * colour. The parsers are those of the source editor if it has them.
 */

import type { Parser } from "@lezer/common";

type Load = () => Promise<Parser>;

const javascript =
  (dialect: string): Load =>
  async () =>
    (await import("@lezer/javascript")).parser.configure({ dialect });

async function stream(mode: Promise<Record<string, unknown>>, name: string): Promise<Parser> {
  const [{ StreamLanguage }, found] = await Promise.all([import("@codemirror/language"), mode]);
  return StreamLanguage.define(found[name] as Parameters<typeof StreamLanguage.define>[0]).parser;
}

const LOADS: Record<string, Load> = {
  javascript: javascript("jsx"),
  typescript: javascript("ts"),
  tsx: javascript("jsx ts"),
  json: async () => (await import("@lezer/json")).parser,
  html: async () => (await import("@lezer/html")).parser,
  css: async () => (await import("@lezer/css")).parser,
  yaml: async () => (await import("@lezer/yaml")).parser,
  python: async () => (await import("@lezer/python")).parser,
  rust: async () => (await import("@lezer/rust")).parser,
  go: async () => (await import("@lezer/go")).parser,
  java: async () => (await import("@lezer/java")).parser,
  cpp: async () => (await import("@lezer/cpp")).parser,
  shell: () => stream(import("@codemirror/legacy-modes/mode/shell"), "shell"),
  sql: () => stream(import("@codemirror/legacy-modes/mode/sql"), "standardSQL"),
  toml: () => stream(import("@codemirror/legacy-modes/mode/toml"), "toml"),
  ruby: () => stream(import("@codemirror/legacy-modes/mode/ruby"), "ruby"),
  diff: () => stream(import("@codemirror/legacy-modes/mode/diff"), "diff"),
};

const ALIASES: Record<string, string> = {
  js: "javascript",
  jsx: "javascript",
  mjs: "javascript",
  cjs: "javascript",
  ts: "typescript",
  jsonc: "json",
  htm: "html",
  xml: "html",
  svg: "html",
  yml: "yaml",
  py: "python",
  python3: "python",
  rs: "rust",
  golang: "go",
  c: "cpp",
  h: "cpp",
  cc: "cpp",
  hpp: "cpp",
  "c++": "cpp",
  sh: "shell",
  bash: "shell",
  zsh: "shell",
  console: "shell",
  rb: "ruby",
  patch: "diff",
};

/** The names to offer to a person. */
export const LANGUAGES = Object.keys(LOADS).sort();

const loaded = new Map<string, Parser>();
const loading = new Map<string, Promise<void>>();

export function languageName(written: string | null): string | null {
  const name = (written ?? "").toLowerCase();
  const known = ALIASES[name] ?? name;
  return Object.hasOwn(LOADS, known) ? known : null;
}

/** The parser of a language, by its own name, if it is loaded. */
export function parserOf(name: string): Parser | undefined {
  return loaded.get(name);
}

/** Load a parser; if that fails, its blocks stay in one colour. */
export function loadParser(name: string): Promise<void> {
  let promise = loading.get(name);
  if (!promise) {
    promise = (LOADS[name]?.() ?? Promise.reject(new Error(name)))
      .then((parser) => void loaded.set(name, parser))
      .catch(() => undefined);
    loading.set(name, promise);
  }
  return promise;
}
