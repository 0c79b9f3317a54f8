import type { Hunk } from "./placing";

/** A text for a hunk, as the document writes its lines: a field in a page knows only one kind of line break. */
export function settledText(chosen: string, { base, proposed, working }: Hunk): string {
  const [newline = "\n"] = /\r\n?|\n/.exec(working || base || proposed) ?? [];
  const ends = [working, base, proposed].some((text) => /[\r\n]$/.test(text));
  const text = chosen !== "" && ends && !/[\r\n]$/.test(chosen) ? `${chosen}\n` : chosen;
  return text.replace(/\r\n?|\n/g, newline);
}
