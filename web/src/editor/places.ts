import type { Text } from "@codemirror/state";
import type { Place } from "@/state/store";

/** A place from the API (a line from 1, a column from 0 and a length, both in characters) as an editor range. */
export function toRange(
  text: Text,
  { line, column = 0, length = 0 }: Omit<Place, "path">,
): { from: number; to: number } {
  const found = text.line(Math.min(Math.max(line, 1), text.lines));
  const from = found.from + units(found.text, column);
  const rest = text.sliceString(from, Math.min(text.length, from + length * 2));
  return { from, to: from + units(rest, length) };
}

/** The length in UTF-16 units of the first characters: one beyond the first 65,536 takes two. */
function units(text: string, characters: number): number {
  let at = 0;
  for (let count = 0; count < characters && at < text.length; count += 1)
    at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return at;
}
