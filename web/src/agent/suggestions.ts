/** Suggestions for a first request, based on the existing documents. The offline assistant understands all of them; one
 * of them always leads to changes to review. */

export interface Suggestion {
  ask: string;
  why: string;
}

const PROSE = /\.(?:md|markdown|txt)$/i;
const TASKS = /(?:^|\/)(?:to-?do|tasks?)[^/]*\.(?:md|txt)$/i;
const WORD = /(?<![\p{L}\p{N}])\p{Lu}\p{Ll}{2,}(?![\p{L}\p{N}])/gu;
/** Inside a sentence a capital means a name; two in a row are the name of something else. */
const INSIDE = /[\p{Ll},;:|] $/u;
const BESIDE = /^ \p{Lu}|\p{Lu}\p{Ll}* $/u;
const CALENDAR =
  /^(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|January|February|March|April|May|June|July|August|September|October|November|December)$/;
const NEW_NAMES = ["Marta", "Robin", "Noor"];

/** The documents that are prose: the one in front first, then the longest. */
export function listProse(documents: readonly { path: string; size: number }[], front?: string | null): string[] {
  const prose = documents.filter(({ path }) => PROSE.test(path) && (path === front || !/readme/i.test(path)));
  const rank = ({ path, size }: { path: string; size: number }) => (path === front ? Number.POSITIVE_INFINITY : size);
  return prose.sort((one, other) => rank(other) - rank(one)).map(({ path }) => path);
}

/** The most frequent name: a capitalised word that never occurs in lower case, and also occurs inside a sentence. */
export function findName(text: string): string | null {
  const counts = new Map<string, { all: number; inside: number }>();
  for (const { 0: word, index } of text.matchAll(WORD)) {
    const [before, after] = [
      text.slice(Math.max(0, index - 30), index),
      text.slice(index + word.length, index + word.length + 2),
    ];
    if (BESIDE.test(before) || BESIDE.test(after) || CALENDAR.test(word)) continue;
    const known = counts.get(word) ?? { all: 0, inside: 0 };
    counts.set(word, { all: known.all + 1, inside: known.inside + Number(INSIDE.test(before)) });
  }
  const names = [...counts].filter(([word, { all, inside }]) => all > 1 && inside && !hasPlain(text, word));
  return names.sort(([, one], [, other]) => other.all - one.all)[0]?.[0] ?? null;
}

function hasPlain(text: string, word: string): boolean {
  return new RegExp(`(?<![\\p{L}])${word.toLowerCase()}(?![\\p{L}])`, "u").test(text);
}

export function listSuggestions(
  documents: readonly { path: string; size: number }[],
  text: string,
  front?: string | null,
): Suggestion[] {
  const [first] = listProse(documents, front);
  if (!first) return [{ ask: "Create today's note", why: "a first document to review" }];
  const todo = documents.find(({ path }) => TASKS.test(path));
  return [
    { ask: `Summarise ${first} in 3 sentences`, why: "read only" },
    suggestChange(first, findName(text), text),
    todo
      ? { ask: "What is still open?", why: `searches ${todo.path}` }
      : { ask: `Show style figures for ${first}`, why: "read only" },
  ];
}

function suggestChange(document: string, name: string | null, text: string): Suggestion {
  const other = NEW_NAMES.find((each) => !text.includes(each));
  if (name && other) return { ask: `Rename ${name} to ${other} everywhere`, why: "changes to review" };
  return { ask: `Append "To be continued." to ${document}`, why: "a change to review" };
}

export interface QuickAction {
  label: string;
  ask: (path: string) => string;
  /** Whether it needs a model; the offline assistant is none. */
  needsModel?: boolean;
  /** Whether it is about prose, or, if false, about anything else; otherwise it fits every document. */
  prose?: boolean;
}

const QUICK_ACTIONS: readonly QuickAction[] = [
  { label: "Summarise", ask: (path) => `Summarise ${path} in 5 sentences`, prose: true },
  { label: "Tighten", ask: (path) => `Tighten ${path}: same meaning, fewer words`, needsModel: true, prose: true },
  {
    label: "Fix spelling",
    ask: (path) => `Fix the spelling and grammar in ${path}, nothing else`,
    needsModel: true,
    prose: true,
  },
  { label: "Table of contents", ask: (path) => `Make a table of contents for ${path}`, prose: true },
  { label: "Style figures", ask: (path) => `Show style figures for ${path}`, prose: true },
  { label: "People and places", ask: (path) => `List the people and places in ${path}`, prose: true },
  { label: "Explain", ask: (path) => `Explain ${path}`, needsModel: true, prose: false },
  { label: "Find mistakes", ask: (path) => `Look for mistakes in ${path}`, needsModel: true, prose: false },
  { label: "What changed?", ask: () => "What changed?" },
];

/** The quick actions that fit a document, and that whoever answers understands. */
export function listQuickActions(path: string, offline: boolean): readonly QuickAction[] {
  const prose = PROSE.test(path);
  return QUICK_ACTIONS.filter(
    (action) => !(offline && action.needsModel) && (action.prose === undefined || action.prose === prose),
  );
}
