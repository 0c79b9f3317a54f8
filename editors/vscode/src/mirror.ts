/**
 * One document: its text in the server's room, and what one editor shows of it. Pure; no editor and no network.
 *
 * Editing an editor's text is a request that the editor may refuse, since the person types on. So there are two
 * replicas: `room`, which follows the server, and one that always has exactly what the editor shows. What is typed goes
 * into the second, at the places that the person saw, and from there into the room: the two are merged character by
 * character. What came from the room is offered to the editor as edits for the version it shows, and goes into the
 * second replica only once the editor has reported that change. A refused offer is forgotten and made anew. So nothing
 * typed is lost or doubled, in whatever order typing, offers and reports cross.
 */

import * as Y from "yjs";
import { LineTable, mainNewline, type Place, toPlain, withNewline } from "./positions";
import { applyEdits, diffTexts, type Edit, mergeTexts } from "./textDiff";

/** A change of an editor's text: the range that was there before, and what took its place. */
export interface LineChange {
  start: Place;
  end: Place;
  text: string;
}

const TEXT = "text";

/** What was typed has this origin in the room. */
export const TYPED = Symbol("typed");

interface Offer {
  doc: Y.Doc;
  text: string;
}

export class Mirror {
  readonly text: Y.Text;
  #shown = new Y.Doc();
  #shownText = "";
  #offer: Offer | null = null;
  /** What the editor shows instead, after it did something that is not to be taken as typing. */
  #astray: string | null = null;

  constructor(readonly room: Y.Doc) {
    this.text = room.getText(TEXT);
  }

  /** What the editor shows, with the document's own line breaks. */
  get shown(): string {
    return this.#shownText;
  }

  /** The editor has just been opened with the room's text. */
  begin(): void {
    this.#adopt({ doc: this.#copyWithRoom().doc, text: this.text.toString() });
  }

  /** Whether the editor shows everything that is in the room. */
  get isCurrent(): boolean {
    return this.#astray === null && this.#shownText === this.text.toString();
  }

  /** The editor has changed its text by itself, and that is not to count: the next offer leads back. */
  stray(now: string): void {
    this.#offer = null;
    this.#astray = toPlain(now);
  }

  /**
   * The editor reports that its text has changed; `now` is the whole of it, `changes` are in the order in which each
   * applies to the result of those before. Returns whether the person did that, rather than an offer.
   */
  report(now: string, changes: readonly LineChange[]): boolean {
    const offer = this.#offer;
    this.#offer = null;
    if (offer !== null && toPlain(offer.text) === toPlain(now)) {
      this.#adopt(offer);
      return false;
    }
    if (this.#astray !== null) {
      const typed = mergeTexts(this.#astray, toPlain(now), toPlain(this.#shownText));
      this.#astray = toPlain(now);
      this.#correct(typed);
      return true;
    }
    for (const change of changes) this.#write(change);
    if (toPlain(this.#shownText) !== toPlain(now)) this.#correct(now);
    return true;
  }

  /** The text is to be this one, every line break one unit long: as the person's typing, though no editor shows it yet. */
  type(fresh: string): void {
    this.#offer = null;
    this.#astray ??= toPlain(this.#shownText);
    this.#correct(fresh);
  }

  /** What the editor has to change to show the room's text; null if nothing. It forgets an earlier offer. */
  makeOffer(): LineChange[] | null {
    this.#offer = null;
    const fresh = this.#copyWithRoom();
    const changes = toChanges(this.#astray ?? this.#shownText, fresh.text);
    // Nothing changed, or only line breaks, which the editor does not show.
    if (changes.length === 0) this.#adopt(fresh);
    else this.#offer = fresh;
    return changes.length === 0 ? null : changes;
  }

  /** The editor has refused the offer. */
  withdrawOffer(): void {
    this.#offer = null;
  }

  #write({ start, end, text }: LineChange): void {
    const table = new LineTable(this.#shownText);
    const from = table.offset(start);
    const insert = withNewline(text, mainNewline(this.#shownText));
    this.#edit([{ from, to: Math.max(from, table.offset(end)), insert }]);
  }

  /** What the editor shows is not what its changes say: a lone "\r" that met a "\n", or an editor's own cleaning up. */
  #correct(now: string): void {
    const own = diffTexts(toPlain(this.#shownText), toPlain(now));
    const plain = new LineTable(toPlain(this.#shownText));
    for (const { from, to, insert } of own.toReversed()) {
      const [start, end] = [plain.place(from), plain.place(to)];
      if (start && end) this.#write({ start, end, text: insert });
    }
  }

  #edit(edits: readonly Edit[]): void {
    const before = Y.encodeStateVector(this.#shown);
    this.#shown.transact(() => applyEdits(this.#shown.getText(TEXT), edits));
    this.#shownText = this.#shown.getText(TEXT).toString();
    Y.applyUpdate(this.room, Y.encodeStateAsUpdate(this.#shown, before), TYPED);
  }

  #copyWithRoom(): Offer {
    const doc = new Y.Doc();
    Y.applyUpdate(doc, Y.encodeStateAsUpdate(this.#shown));
    Y.applyUpdate(doc, Y.encodeStateAsUpdate(this.room, Y.encodeStateVector(doc)));
    return { doc, text: doc.getText(TEXT).toString() };
  }

  #adopt({ doc, text }: Offer): void {
    this.#shown.destroy();
    this.#shown = doc;
    this.#shownText = text;
    this.#astray = null;
  }
}

/** The changes of an editor's text, last first, so that each is for the text as it is now. */
function toChanges(old: string, fresh: string): LineChange[] {
  const plain = toPlain(old);
  const table = new LineTable(plain);
  return diffTexts(plain, toPlain(fresh))
    .map(({ from, to, insert }) => ({
      start: table.place(from) ?? { line: 0, character: 0 },
      end: table.place(to) ?? { line: 0, character: 0 },
      text: insert,
    }))
    .reverse();
}
