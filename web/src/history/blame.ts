/** Who wrote which line, from the server, grouped into passages for reading. */

import { queryOptions } from "@tanstack/react-query";
import { type Schemas, server, unwrap } from "@/api/client";
import type { Turn } from "./turns";

export interface BlamedLines {
  /** Counted from 1. */
  start: number;
  text: string[];
  turn: Turn | undefined;
}

export const blameQuery = (path: string) =>
  queryOptions({
    queryKey: ["turns", "blame", path],
    queryFn: () => unwrap(server.GET("/api/blame", { params: { query: { path } } })),
  });

/** Lines end as on the server: at "\r\n", "\n" or a lone "\r". */
const BREAK = /\r\n|\n|\r/;

export function groupBlame({ text, blame, turns }: Schemas["BlameResponse"]): BlamedLines[] {
  const lines = text.split(BREAK);
  const known = new Map(turns.map((turn) => [turn.turn, turn]));
  return blame.map(({ start_line, lines: count, turn }) => ({
    start: start_line,
    text: lines.slice(start_line - 1, start_line - 1 + count),
    turn: turn === null ? undefined : known.get(turn),
  }));
}
