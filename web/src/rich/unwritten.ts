/**
 * Keeps in this browser what was typed into a rich editor and is not in the shared text yet, and takes it up again.
 *
 * It is written down when the server does not answer, and when the page or the view is left. What is kept is the document
 * and the markdown that it was made from: the server tells what became of the one in the other, and that is put into the
 * text as it is by then. A page that is still there holds a lock on what it keeps, so that no other takes it up, too.
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

/** What this browser had no room for, by name: it is lost with the page, which says so before it goes. */
const inMemory = new Map<string, string>();

globalThis.addEventListener?.("beforeunload", (event) => {
  if (inMemory.size > 0) event.preventDefault();
});

/** What one rich editor keeps. */
export class UnwrittenStore {
  readonly #key: string;
  #release: () => void = () => undefined;
  #held: Promise<unknown> | undefined;

  constructor(path: string) {
    this.#key = keyPrefix(path) + crypto.randomUUID();
  }

  /** Keep this, and nothing older; in this page alone where the browser has no room. */
  keep(before: string, doc: JSONContent): void {
    const kept = JSON.stringify({ before, doc } satisfies Unwritten);
    this.#held ??= this.#hold();
    try {
      localStorage.setItem(this.#key, kept);
      inMemory.delete(this.#key);
    } catch {
      inMemory.set(this.#key, kept);
    }
  }

  forget(): void {
    deleteKept(this.#key);
    this.#release();
    this.#held = undefined;
  }

  /** Leave it to whoever takes it up. */
  async leave(): Promise<void> {
    this.#release();
    await this.#held;
  }

  // The lock is granted later, and may have been let go of by then.
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
 * Put what is left of earlier editors of a document into its text, once `left` has come to pass; whether nothing is left
 * then. What the server did not take is tried again for as long as the document is open.
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

/** Another window keeps something. Once it is gone, this one takes that up, if it has the document open. */
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

/** Tells a source or rich editor on the same text that it was not the one that typed this. */
const TAKEN_UP = {};

async function withLock(key: string, act: () => Promise<boolean>): Promise<boolean> {
  if (!navigator.locks) return act();
  return navigator.locks.request(key, { ifAvailable: true }, (lock) => (lock ? act() : true));
}

async function restoreOne(key: string, path: string): Promise<boolean> {
  const kept = inMemory.get(key) ?? localStorage.getItem(key);
  if (kept === null) return true;
  try {
    const { before, doc } = JSON.parse(kept) as Unwritten;
    const { markdown } = await markdownApi.serialise(doc, before);
    // Only now: while the server wrote, another session may have taken the place of the one that there was.
    const session = sessionOf(path);
    if (!session) return false;
    const text = session.text.toString();
    const whole = applyEdits(text, mergeInto(before, markdown, text));
    // By the smallest edits: the words of others, beside which these come, stay theirs to take back.
    session.type(editsBetween(text, whole), TAKEN_UP);
    deleteKept(key);
    return true;
  } catch {
    return false; // it stays here, for the next time
  }
}
