/** The passages that go to the agent: pinned ones stay with the session, loose ones go with the next request alone. */

import { server, told } from "@/api/client";
import { refresh } from "@/api/queries";
import { attempt } from "@/state/documents";
import { type LooseRow, useStore } from "@/state/store";
import { compose, composerOf, session } from "./acts";
import type { Row, Session } from "./queries";
import { tokensIn } from "./words";

export interface ContextRow extends LooseRow {
  pinned: boolean;
}

export function rowsOf(shown: Session | undefined, loose: readonly LooseRow[]): ContextRow[] {
  const pinned = (shown?.context_rows ?? []).map((row: Row) => ({ ...row, pinned: true }));
  return [...pinned, ...loose.map((row) => ({ ...row, pinned: false }))];
}

export function placeOf({ file_path, start_line, end_line }: LooseRow): string {
  if (start_line === null) return file_path;
  return `${file_path}:${start_line}${end_line !== null && end_line !== start_line ? `–${end_line}` : ""}`;
}

/** What a row costs, roughly: its own text, or that of the document it names. */
export function costOf(row: LooseRow, sizes: ReadonlyMap<string, number>): number {
  return tokensIn(row.content.length || (sizes.get(row.file_path) ?? 0));
}

export function addRow(row: Omit<LooseRow, "id">): void {
  const { session: id } = useStore.getState();
  const { rows } = composerOf(id);
  const known = rows.some((other) => placeOf(other) === placeOf({ ...row, id: "" }) && other.content === row.content);
  if (!known) compose(id, { rows: [...rows, { ...row, id: `ctx_${crypto.randomUUID()}` }] });
}

const bare = ({ pinned: _, ...row }: ContextRow): LooseRow => row;

export async function remove(row: ContextRow): Promise<boolean> {
  const id = useStore.getState().session;
  if (!row.pinned || !id) {
    compose(id, { rows: composerOf(id).rows.filter((other) => other.id !== row.id) });
    return true;
  }
  const params = { path: { session_id: id, row_id: row.id } };
  const done = await attempt(() =>
    told(server.DELETE("/api/agent/sessions/{session_id}/context/{row_id}", { params })),
  );
  refresh("job");
  return done;
}

export async function togglePin(row: ContextRow): Promise<void> {
  if (row.pinned) {
    const id = useStore.getState().session;
    if (await remove(row)) compose(id, { rows: [...composerOf(id).rows, bare(row)] });
    return;
  }
  await attempt(async () => {
    const id = await session();
    const { file_path, start_line, end_line, content } = row;
    const body = { id: row.id, kind: "selection", file_path, start_line, end_line, content, pinned: true };
    await told(server.POST("/api/agent/sessions/{session_id}/context", { params: { path: { session_id: id } }, body }));
    compose(id, { rows: composerOf(id).rows.filter((other) => other.id !== row.id) });
  });
  refresh("job");
}

/** One place up or down, among those of its kind. */
export async function move(rows: readonly ContextRow[], row: ContextRow, by: -1 | 1): Promise<void> {
  const alike = rows.filter((other) => other.pinned === row.pinned);
  const at = alike.findIndex((other) => other.id === row.id);
  const order = alike.toSpliced(at, 1).toSpliced(at + by, 0, row);
  const id = useStore.getState().session;
  if (!row.pinned || !id) return compose(id, { rows: order.map(bare) });
  const params = { path: { session_id: id } };
  const body = { order: order.map((other) => other.id) };
  await attempt(() => told(server.PUT("/api/agent/sessions/{session_id}/context", { params, body })));
  refresh("job");
}
