/**
 * Stores in this browser what was typed into a rich editor and is not in the shared text yet, and resumes it.
 *
 * It is stored when the server does not answer, and when the page or the view is left. What is stored is the document
 * and the markdown that it was made from: the server computes the change from one to the other, and that is merged into
 * the current text. An open page holds a lock on what it stores, so that no other resumes it, too.
 */

import type { JSONContent } from "@tiptap/core";
import { addDeliveryWait } from "@/live/delivery";
import { sessionOf } from "@/live/registry";
import { mergeInto } from "@/live/textMerge";
import { applyEdits, editsBetween } from "./edits";
import { markdownApi } from "./markdownApi";
import { keyPrefix, listKeys, pathOfKey } from "./unwrittenKeys";

interface Unwritten {
  before: string;
  doc: JSONContent;
}

/** What this browser had no space for, by name: it is lost with the page, which warns before it closes. */
const inMemory = new Map<string, string>();

globalThis.addEventListener?.("beforeunload", (event) => {
  if (inMemory.size > 0) event.preventDefault();
});

/** What one rich editor stores. */
export class UnwrittenStore {
  readonly #key: string;
  #release: () => void = () => undefined;
  #lock: Promise<unknown> | undefined;

  constructor(path: string) {
    this.#key = keyPrefix(path) + crypto.randomUUID();
  }

  /** Store this, and nothing older; only in this page if the browser has no space. */
  keep(before: string, doc: JSONContent): void {
    const stored = JSON.stringify({ before, doc } satisfies Unwritten);
    this.#lock ??= this.#hold();
    try {
      localStorage.setItem(this.#key, stored);
      inMemory.delete(this.#key);
    } catch {
      inMemory.set(this.#key, stored);
    }
  }

  forget(): void {
    deleteKept(this.#key);
    this.#release();
    this.#lock = undefined;
  }

  /** Leave it to whoever resumes it. */
  async leave(): Promise<void> {
    this.#release();
    await this.#lock;
  }

  // The lock is granted later, and may have been released by then.
  #hold(): Promise<unknown> | undefined {
    const released = new Promise<void>((resolve) => {
      this.#release = resolve;
    });
    return navigator.locks?.request(this.#key, () => released);
  }
}

function deleteKept(key: string): void {
  inMemory.delete(key);
  localStorage.removeItem(key);
}

const AGAIN_MS = 1000;
const restoring = new Map<string, Promise<boolean>>();

/**
 * Merge what is left of earlier editors of a document into its text, once `left` has resolved; returns whether nothing
 * is left then. What the server did not accept is retried while the document is open.
 */
export function restoreUnwritten(path: string, left?: Promise<void>): Promise<boolean> {
  const taking = Promise.all([restoring.get(path), left]).then(() => restoreAll(path));
  restoring.set(path, taking);
  void taking.then((done) => {
    if (restoring.get(path) !== taking) return;
    restoring.delete(path);
    if (!done && sessionOf(path)) setTimeout(() => void restoreUnwritten(path), AGAIN_MS);
  });
  return taking;
}

const waitingFor = new Set<string>();

/** Another window stores something. Once it is gone, this one resumes it, if it has the document open. */
globalThis.addEventListener?.("storage", ({ key, newValue }) => {
  const path = key === null || newValue === null ? null : pathOfKey(key);
  if (key === null || path === null || waitingFor.has(key)) return;
  waitingFor.add(key);
  void navigator.locks
    ?.request(key, () => undefined)
    .then(() => {
      waitingFor.delete(key);
      if (sessionOf(path)) void restoreUnwritten(path);
    });
});

async function restoreAll(path: string): Promise<boolean> {
  const here = [...inMemory.keys()].filter((key) => key.startsWith(keyPrefix(path)));
  const keys = [...new Set([...listKeys(path), ...here])];
  return (await Promise.all(keys.map((key) => withLock(key, () => restoreOne(key, path))))).every(Boolean);
}

addDeliveryWait(async (paths) => {
  const wanted = [...restoring].filter(([path]) => !paths || paths.includes(path));
  return (await Promise.all(wanted.map(([, taking]) => taking))).every(Boolean);
});

/** The origin of resumed typing, so that no editor on the same text takes it for its own. */
const TAKEN_UP = {};

async function withLock(key: string, act: () => Promise<boolean>): Promise<boolean> {
  if (!navigator.locks) return act();
  return navigator.locks.request(key, { ifAvailable: true }, (lock) => (lock ? act() : true));
}

async function restoreOne(key: string, path: string): Promise<boolean> {
  const stored = inMemory.get(key) ?? localStorage.getItem(key);
  if (stored === null) return true;
  try {
    const { before, doc } = JSON.parse(stored) as Unwritten;
    const { markdown } = await markdownApi.serialise(doc, before);
    // Only now: while the server was writing, another session may have replaced the earlier one.
    const session = sessionOf(path);
    if (!session) return false;
    const text = session.text.toString();
    const whole = applyEdits(text, mergeInto(before, markdown, text));
    // With the smallest edits: the neighbouring words of others stay theirs to undo.
    session.type(editsBetween(text, whole), TAKEN_UP);
    deleteKept(key);
    return true;
  } catch {
    return false; // it stays here, for the next time
  }
}
