/**
 * Keeps in this browser what was typed into a rich editor and is not in the shared text yet, and takes it up again.
 *
 * It is written down when the server does not answer, and when the page or the view is left. What is kept is the document
 * and the markdown that it was made from: the server tells what became of the one in the other, and that is put into the
 * text as it is by then. A page that is still there holds a lock on what it keeps, so that no other takes it up, too.
 */

import type { JSONContent } from "@tiptap/core";
import { waitFirst } from "@/live/arriving";
import { carriedOver } from "@/live/merging";
import { sessionOf } from "@/live/registry";
import { asking } from "./asking";
import { nameFor, namesOf } from "./kept";

interface Kept {
  before: string;
  doc: JSONContent;
}

/** What one rich editor keeps. */
export class Keeping {
  readonly #key: string;
  #release: () => void = () => undefined;
  #held: Promise<unknown> | undefined;

  constructor(path: string) {
    this.#key = nameFor(path) + crypto.randomUUID();
  }

  /** Whether it could be kept. */
  keep(before: string, doc: JSONContent): boolean {
    try {
      if (localStorage.getItem(this.#key) === null) this.#hold();
      localStorage.setItem(this.#key, JSON.stringify({ before, doc } satisfies Kept));
      return true;
    } catch {
      return false; // no room, or none allowed
    }
  }

  forget(): void {
    localStorage.removeItem(this.#key);
    this.#release();
  }

  /** Leave it to whoever takes it up. */
  async leave(): Promise<void> {
    this.#release();
    await this.#held;
  }

  #hold(): void {
    this.#held = navigator.locks?.request(
      this.#key,
      () =>
        new Promise<void>((resolve) => {
          this.#release = resolve;
        }),
    );
  }
}

const underWay = new Map<string, Promise<boolean>>();

/** Put what is left of earlier editors of a document into its text; whether nothing is left then. */
export async function takeUp(path: string): Promise<boolean> {
  await underWay.get(path);
  const keys = namesOf(path);
  if (keys.length === 0) return true;
  const taking = Promise.all(keys.map((key) => alone(key, () => take(key, path)))).then((all) => all.every(Boolean));
  underWay.set(path, taking);
  return taking.finally(() => underWay.delete(path));
}

waitFirst(async (paths) => {
  const wanted = [...underWay].filter(([path]) => !paths || paths.includes(path));
  return (await Promise.all(wanted.map(([, taking]) => taking))).every(Boolean);
});

/** Tells a source or rich editor on the same text that it was not the one that typed this. */
const TAKEN_UP = {};

async function alone(key: string, act: () => Promise<boolean>): Promise<boolean> {
  if (!navigator.locks) return act();
  return navigator.locks.request(key, { ifAvailable: true }, (lock) => (lock ? act() : true));
}

async function take(key: string, path: string): Promise<boolean> {
  const kept = localStorage.getItem(key);
  if (kept === null) return true;
  try {
    const { before, doc } = JSON.parse(kept) as Kept;
    const { markdown } = await asking.serialise(doc, before);
    // Only now: while the server wrote, another session may have taken the place of the one that there was.
    const session = sessionOf(path);
    if (!session) return false;
    session.type(carriedOver(before, markdown, session.text.toString()), TAKEN_UP);
    localStorage.removeItem(key);
    return true;
  } catch {
    return false; // it stays here, for the next time
  }
}
