/** Context passages for the agent: pinned ones stay with the session, others go with the next request only. */

import { server, unwrap } from "@/api/client";
import { refresh } from "@/api/queries";
import { attempt } from "@/state/documents";
import { type LooseRow, useStore } from "@/state/store";
import { ensureSession, getComposer, updateComposer } from "./actions";
import { estimateTokens } from "./descriptions";
import type { Row, Session } from "./queries";

export interface ContextRow extends LooseRow {
  pinned: boolean;
}

export function listRows(shown: Session | undefined, loose: readonly LooseRow[]): ContextRow[] {
  const pinned = (shown?.context_rows ?? []).map((row: Row) => ({ ...row, pinned: true }));
  return [...pinned, ...loose.map((row) => ({ ...row, pinned: false }))];
}

export function formatPlace({ file_path, start_line, end_line }: LooseRow): string {
  if (start_line === null) return file_path;
  return `${file_path}:${start_line}${end_line !== null && end_line !== start_line ? `–${end_line}` : ""}`;
}

/** The approximate cost of a row: its own text, or the document that it names. */
export function estimateCost(row: LooseRow, sizes: ReadonlyMap<string, number>): number {
  return estimateTokens(row.content.length || (sizes.get(row.file_path) ?? 0));
}

export function addRow(row: Omit<LooseRow, "id">): void {
  const { session: id } = useStore.getState();
  const { rows } = getComposer(id);
  const known = rows.some(
    (other) => formatPlace(other) === formatPlace({ ...row, id: "" }) && other.content === row.content,
  );
  if (!known) updateComposer(id, { rows: [...rows, { ...row, id: `ctx_${crypto.randomUUID()}` }] });
}

const withoutPin = ({ pinned: _, ...row }: ContextRow): LooseRow => row;

export async function removeRow(row: ContextRow): Promise<boolean> {
  const id = useStore.getState().session;
  if (!row.pinned || !id) {
    updateComposer(id, { rows: getComposer(id).rows.filter((other) => other.id !== row.id) });
    return true;
  }
  const params = { path: { session_id: id, row_id: row.id } };
  const done = await attempt(() =>
    unwrap(server.DELETE("/api/agent/sessions/{session_id}/context/{row_id}", { params })),
  );
  refresh("job");
  return done;
}

export async function togglePin(row: ContextRow): Promise<void> {
  if (row.pinned) {
    const id = useStore.getState().session;
    if (await removeRow(row)) updateComposer(id, { rows: [...getComposer(id).rows, withoutPin(row)] });
    return;
  }
  await attempt(async () => {
    const id = await ensureSession();
    const { file_path, start_line, end_line, content } = row;
    const body = { id: row.id, kind: "selection", file_path, start_line, end_line, content, pinned: true };
    await unwrap(
      server.POST("/api/agent/sessions/{session_id}/context", { params: { path: { session_id: id } }, body }),
    );
    updateComposer(id, { rows: getComposer(id).rows.filter((other) => other.id !== row.id) });
  });
  refresh("job");
}

/** Move a row up or down, among those of its kind. */
export async function moveRow(rows: readonly ContextRow[], row: ContextRow, by: -1 | 1): Promise<void> {
  const alike = rows.filter((other) => other.pinned === row.pinned);
  const at = alike.findIndex((other) => other.id === row.id);
  const order = alike.toSpliced(at, 1).toSpliced(at + by, 0, row);
  const id = useStore.getState().session;
  if (!row.pinned || !id) return updateComposer(id, { rows: order.map(withoutPin) });
  const params = { path: { session_id: id } };
  const body = { order: order.map((other) => other.id) };
  await attempt(() => unwrap(server.PUT("/api/agent/sessions/{session_id}/context", { params, body })));
  refresh("job");
}
