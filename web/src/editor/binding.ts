/**
 * Keeps the editor and the shared text in sync: what is typed goes into the shared text, what others do into the
 * editor.
 *
 * `y-codemirror.next` does the same for texts whose newlines are all "\n"; it assumes that positions in both are equal.
 */

import {
  Annotation,
  type ChangeSpec,
  type EditorState,
  StateEffect,
  StateField,
  type Text,
  type Transaction,
  type TransactionSpec,
} from "@codemirror/state";
import { type EditorView, type PluginValue, ViewPlugin, type ViewUpdate } from "@codemirror/view";
import type { YTextEvent, Transaction as YTransaction } from "yjs";
import type { Session } from "@/live/session";
import type { Edit } from "@/live/textMerge";
import { findOddBreaks, hasLone, mapBreaks, type Newlines, readNewlines, toEditor, toShared } from "./newlines";

type Delta = YTextEvent["delta"];

const fromShared = Annotation.define<boolean>();
const broughtBreaks = StateEffect.define<number[]>();
const setNewlines = StateEffect.define<Newlines>();

/** The document's line endings. */
export const newlinesField = StateField.define<Newlines>({
  create: () => ({ newline: "\n", style: "LF", odd: [], fragile: false }),
  update(value, transaction) {
    const added: number[] = [];
    for (const effect of transaction.effects) {
      if (effect.is(setNewlines)) return effect.value;
      if (effect.is(broughtBreaks)) added.push(...effect.value);
    }
    return transaction.docChanged ? mapBreaks(value, transaction.changes, added) : value;
  },
});

/** Whether somebody else made this change. */
export function isOthers(transaction: Transaction): boolean {
  return transaction.annotation(fromShared) === true;
}

/** The initial editor text of a session, and the extension that keeps the two in sync from then on. */
export function bindText(session: Session) {
  const { text, newlines } = readNewlines(session.text.toString());
  return {
    doc: text,
    extensions: [newlinesField.init(() => newlines), ViewPlugin.define((view) => new Binding(view, session))],
  };
}

/** A change of the shared text as a change of the editor; null if reading the whole text again is easier. */
export function changesOf(
  delta: Delta,
  text: Text,
  newlines: Newlines,
): { changes: ChangeSpec[]; odd: number[] } | null {
  const changes: ChangeSpec[] = [];
  const odd: number[] = [];
  let index = 0;
  let shift = 0;
  if (newlines.fragile) return null;
  for (const step of delta) {
    if (step.retain !== undefined) {
      index += step.retain;
      continue;
    }
    const from = toEditor(text, newlines, index);
    const to = toEditor(text, newlines, index + (step.delete ?? 0));
    const insert = typeof step.insert === "string" ? step.insert : "";
    if (from === null || to === null || hasLone(insert)) return null;
    const plain = insert.replaceAll("\r\n", "\n");
    changes.push({ from, to, insert: plain });
    odd.push(...findOddBreaks(insert, from + shift, newlines.newline));
    shift += plain.length - (to - from);
    index += step.delete ?? 0;
  }
  return { changes, odd };
}

/** A change of the editor as a change of the shared text. */
export function editsOf({ startState, changes }: Transaction): Edit[] {
  const newlines = startState.field(newlinesField);
  const edits: Edit[] = [];
  changes.iterChanges((fromA, toA, _fromB, _toB, inserted) => {
    edits.push({
      from: toShared(startState.doc, newlines, fromA),
      to: toShared(startState.doc, newlines, toA),
      insert: inserted.sliceString(0, inserted.length, newlines.newline),
    });
  });
  return edits;
}

class Binding implements PluginValue {
  constructor(
    readonly view: EditorView,
    readonly session: Session,
  ) {
    session.text.observe(this.#observe);
  }

  destroy(): void {
    this.session.text.unobserve(this.#observe);
  }

  update(update: ViewUpdate): void {
    for (const transaction of update.transactions) {
      if (transaction.docChanged && !isOthers(transaction)) this.#send(transaction);
    }
  }

  #send(transaction: Transaction): void {
    this.session.type(editsOf(transaction));
    // Not from within an update, which may not start another one.
    if (transaction.startState.field(newlinesField).fragile) queueMicrotask(() => this.#readAnew());
  }

  #observe = (event: YTextEvent, transaction: YTransaction): void => {
    if (transaction.origin === this.session.own) return;
    const { state } = this.view;
    const found = changesOf(event.delta, state.doc, state.field(newlinesField));
    const spec = found ? toTransaction(found) : replaceWithShared(state, this.session.text.toString());
    this.view.dispatch(transaction.origin === this.session.undo ? moveCursorTo(state.update(spec)) : spec);
  };

  #readAnew(): void {
    this.view.dispatch(replaceWithShared(this.view.state, this.session.text.toString()));
  }
}

/** The transaction that applies others' changes to the editor. */
export function toTransaction({ changes, odd }: { changes: ChangeSpec[]; odd: number[] }): TransactionSpec {
  return { changes, effects: odd.length > 0 ? broughtBreaks.of(odd) : [], annotations: fromShared.of(true) };
}

/** Makes the editor equal to the shared text, with one replacement. */
export function replaceWithShared(state: EditorState, shared: string): TransactionSpec {
  const { text, newlines } = readNewlines(shared);
  return {
    changes: replaceDifference(state.doc.toString(), text.toString()),
    effects: setNewlines.of(newlines),
    annotations: fromShared.of(true),
  };
}

/** After an undo: the cursor goes to where it was. */
function moveCursorTo(transaction: Transaction): TransactionSpec {
  let end = 0;
  transaction.changes.iterChangedRanges((_fromA, _toA, _fromB, toB) => {
    end = toB;
  });
  const { changes, effects } = transaction;
  return { changes, effects, selection: { anchor: end }, scrollIntoView: true, annotations: fromShared.of(true) };
}

/** The difference of two texts, as one change of the first. */
export function replaceDifference(old: string, fresh: string): ChangeSpec {
  let from = 0;
  const shorter = Math.min(old.length, fresh.length);
  while (from < shorter && old.charCodeAt(from) === fresh.charCodeAt(from)) from += 1;
  let end = 0;
  while (end < shorter - from && old.charCodeAt(old.length - 1 - end) === fresh.charCodeAt(fresh.length - 1 - end))
    end += 1;
  return { from, to: old.length - end, insert: fresh.slice(from, fresh.length - end) };
}
