import { describe, expect, it } from "vitest";
import * as Y from "yjs";
import { type LineChange, Mirror } from "./mirror";
import { LineTable, toPlain } from "./positions";
import { diffTexts, mergeTexts } from "./textDiff";

/** An editor: one kind of line break, a version, and edits that it refuses where they are for an older version. */
class Editor {
  version = 0;
  reports: { now: string; changes: LineChange[] }[] = [];

  constructor(public text: string) {}

  change(changes: readonly LineChange[]): void {
    for (const { start, end, text } of changes) {
      const table = new LineTable(this.text);
      this.text = this.text.slice(0, table.offset(start)) + toPlain(text) + this.text.slice(table.offset(end));
    }
    this.version += 1;
    this.reports.push({ now: this.text, changes: [...changes] });
  }

  type(from: number, to: number, text: string): void {
    const table = new LineTable(this.text);
    const zero = { line: 0, character: 0 };
    this.change([{ start: table.place(from) ?? zero, end: table.place(to) ?? zero, text }]);
  }
}

function begun(text: string): { mirror: Mirror; far: Y.Doc; editor: Editor } {
  const [room, far] = [new Y.Doc(), new Y.Doc()];
  far.getText("text").insert(0, text);
  Y.applyUpdate(room, Y.encodeStateAsUpdate(far));
  const mirror = new Mirror(room);
  mirror.begin();
  return { mirror, far, editor: new Editor(toPlain(text)) };
}

function meet(mirror: Mirror, far: Y.Doc): void {
  Y.applyUpdate(far, Y.encodeStateAsUpdate(mirror.room));
  Y.applyUpdate(mirror.room, Y.encodeStateAsUpdate(far));
}

function settle(mirror: Mirror, far: Y.Doc, editor: Editor): void {
  const report = () => {
    for (const { now, changes } of editor.reports.splice(0)) mirror.report(now, changes);
  };
  report();
  meet(mirror, far);
  for (let changes = mirror.makeOffer(); changes; changes = mirror.makeOffer()) {
    editor.change(changes);
    report();
  }
}

function random(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return Math.floor((state / 2147483648) * sides);
  };
}

describe("what is typed while others write", () => {
  it.each(["\n", "\r\n", "\r"])(
    "is in the document once, and what others wrote is in the editor once (%j)",
    (newline) => {
      for (let seed = 1; seed <= 60; seed += 1) {
        const roll = random(seed * 7919);
        const { mirror, far, editor } = begun(["one 😀 two", "three", "", "four five", ""].join(newline));
        const ledger: string[] = [];
        let offered: { version: number; changes: LineChange[] } | null = null;
        for (let round = 0; round < 60; round += 1) {
          const mark = String.fromCodePoint(0x4e00 + round);
          const act = roll(7);
          if (act < 2) {
            const at = evenPlace(editor.text, roll(editor.text.length + 1));
            editor.type(at, at, roll(4) === 0 ? `${mark}\n` : mark);
            ledger.push(mark);
          } else if (act === 2) {
            const text = far.getText("text");
            const shared = text.toString();
            text.insert(safePlace(shared, roll(shared.length + 1)), roll(4) === 0 ? `${mark}${newline}` : mark);
            ledger.push(mark);
          } else if (act === 3) meet(mirror, far);
          else if (act === 4) {
            // The editor takes an offer only if nobody typed since.
            if (offered && offered.version === editor.version) editor.change(offered.changes);
            offered = null;
          } else if (act === 5) {
            const next = editor.reports.shift();
            if (next) mirror.report(next.now, next.changes);
          } else if (editor.reports.length === 0) {
            const changes = mirror.makeOffer();
            offered = changes && { version: editor.version, changes };
          }
        }
        settle(mirror, far, editor);
        const end = far.getText("text").toString();
        expect(toPlain(end)).toBe(editor.text);
        expect(mirror.shown).toBe(end);
        for (const mark of ledger) expect(end.split(mark).length - 1).toBe(1);
        for (const found of end.match(/\r\n|\r|\n/g) ?? []) expect(found).toBe(newline);
      }
    },
  );

  it("keeps every line break of a document that has several kinds", () => {
    const { mirror, far, editor } = begun("a\r\nb\nc\r\nd");
    editor.type(0, 1, "A");
    far.getText("text").insert(8, "!\n");
    settle(mirror, far, editor);
    expect(far.getText("text").toString()).toBe("A\r\nb\nc\r\n!\nd");
    editor.type(editor.text.length, editor.text.length, "\nend");
    settle(mirror, far, editor);
    expect(far.getText("text").toString()).toBe("A\r\nb\nc\r\n!\nd\r\nend");
  });

  it("deletes what the person deleted, also where an offer crossed it", () => {
    const { mirror, far, editor } = begun("keep this and drop that\n");
    far.getText("text").insert(0, "New. ");
    meet(mirror, far);
    expect(mirror.makeOffer()).not.toBeNull();
    editor.type(13, 23, "");
    settle(mirror, far, editor);
    expect(editor.text).toBe("New. keep this and\n");
    expect(far.getText("text").toString()).toBe(editor.text);
  });

  it("tells the person's changes from offers", () => {
    const { mirror, far, editor } = begun("one\n");
    far.getText("text").insert(3, " two");
    meet(mirror, far);
    editor.change(mirror.makeOffer() ?? []);
    const [offer] = editor.reports.splice(0);
    expect(mirror.report(offer?.now ?? "", offer?.changes ?? [])).toBe(false);
    editor.type(0, 0, "x");
    const [typed] = editor.reports.splice(0);
    expect(mirror.report(typed?.now ?? "", typed?.changes ?? [])).toBe(true);
  });
});

describe("an editor that goes astray", () => {
  it("is led back, and what is typed meanwhile counts", () => {
    const { mirror, far, editor } = begun("one two three\n");
    editor.text = "one three\n";
    mirror.stray(editor.text);
    expect(mirror.isCurrent).toBe(false);
    editor.type(0, 0, "zero ");
    settle(mirror, far, editor);
    expect(editor.text).toBe("zero one two three\n");
    expect(far.getText("text").toString()).toBe(editor.text);
    expect(mirror.isCurrent).toBe(true);
  });
});

/** Not in the middle of a character of two units. */
function evenPlace(text: string, at: number): number {
  return /[\uDC00-\uDFFF]/.test(text.charAt(at)) ? at + 1 : at;
}

/** Nor in the middle of a line break. */
function safePlace(text: string, at: number): number {
  return text.slice(at - 1, at + 1) === "\r\n" ? at + 1 : evenPlace(text, at);
}

describe("a difference", () => {
  it("makes one text of the other, and never cuts a character in two", () => {
    const roll = random(5);
    const words = ["the", "lamp", "😀", "😁", "dark", "\n", "\r\n", "for", " "];
    for (let round = 0; round < 300; round += 1) {
      const make = () => Array.from({ length: roll(14) }, () => words[roll(words.length)] ?? "").join("");
      const [old, fresh] = [make(), make()];
      const edits = diffTexts(old, fresh);
      const made = edits.reduceRight(
        (text, { from, to, insert }) => text.slice(0, from) + insert + text.slice(to),
        old,
      );
      expect(made).toBe(fresh);
      for (const { from, to } of edits) {
        expect(evenPlace(old, from)).toBe(from);
        expect(evenPlace(old, to)).toBe(to);
      }
    }
  });

  it("of a merge keeps what both sides wrote", () => {
    expect(mergeTexts("one two three\n", "zero one two three\n", "one two 3\n")).toBe("zero one two 3\n");
    expect(mergeTexts("a\n", "a\nmine\n", "b\n")).toBe("b\nmine\n");
    expect(mergeTexts("a\n", "a\n", "b\n")).toBe("b\n");
    expect(mergeTexts("Q?\n", "Q?\nmore typed\n", "Q?\nAnswer.\n")).toBe("Q?\nAnswer.\nmore typed\n");
  });
});
