import { getSchema, type JSONContent } from "@tiptap/core";
import { Node } from "@tiptap/pm/model";
import { EditorState } from "@tiptap/pm/state";
import type { Transform } from "@tiptap/pm/transform";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Edit } from "@/live/textMerge";
import { startOf } from "./blocks";
import { applyEdits, editsBetween } from "./edits";
import type { MarkdownApi } from "./markdownApi";
import { RichSync, type SyncedEditor, type SyncedText } from "./richSync";
import { richExtensions } from "./schema";

const schema = getSchema(richExtensions());

/** Markdown of paragraphs only: a small version of what the server does for all of it. */
function parse(markdown: string): { doc: JSONContent; blocks: { start: number; end: number }[]; context: string } {
  const lines = markdown.split("\n").map((text, line) => ({ text: text.trimEnd(), line }));
  const shown = lines.filter(({ text }) => text !== "");
  const content = shown.map(({ text }) => ({ type: "paragraph", content: [{ type: "text", text }] }));
  const blocks = shown.map(({ line }) => ({ start: line, end: line + 1 }));
  return { doc: { type: "doc", content: content.length > 0 ? content : [{ type: "paragraph" }] }, blocks, context: "" };
}

function serialise(doc: JSONContent): string {
  const texts = (doc.content ?? []).map(({ content = [] }) => content.map(({ text = "" }) => text).join(""));
  const shown = texts.map((text) => text.trimEnd()).filter((text) => text !== "");
  return shown.map((text) => `${text}\n`).join("\n");
}

class Editor implements SyncedEditor {
  state: EditorState;
  busy = false;
  typed: () => void = () => undefined;

  constructor(doc: JSONContent) {
    this.state = EditorState.create({ doc: Node.fromJSON(schema, doc) });
  }

  get doc(): Node {
    return this.state.doc;
  }

  bring(act: (doc: Transform) => number | null): void {
    const { tr } = this.state;
    act(tr);
    tr.doc.check();
    this.state = this.state.apply(tr);
  }

  type(act: (doc: Transform) => void): void {
    const { tr } = this.state;
    act(tr);
    this.state = this.state.apply(tr);
    this.typed();
  }

  get markdown(): string {
    return serialise(this.doc.toJSON());
  }
}

class Text implements SyncedText {
  others: (edits: Edit[]) => void = () => undefined;

  constructor(public text: string) {}

  read(): string {
    return this.text;
  }

  type(edits: readonly Edit[]): void {
    this.text = applyEdits(this.text, edits);
  }

  elsewhere(edits: Edit[]): void {
    this.text = applyEdits(this.text, edits);
    this.others(edits);
  }
}

interface Table {
  editor: Editor;
  text: Text;
  syncing: RichSync;
  wrong: unknown[];
}

/** `wait` says how long the server takes for each answer, and may throw. */
function begin(text: string, wait: () => number = () => 5): Table {
  const reading = parse(text);
  const later = <T>(made: () => T) =>
    new Promise<T>((resolve, reject) => {
      const time = wait();
      setTimeout(() => (time < 0 ? reject(new Error("away")) : resolve(made())), Math.abs(time));
    });
  const asking: MarkdownApi = {
    parse: (markdown) => later(() => parse(markdown)),
    serialise: (doc) => later(() => ({ markdown: serialise(doc), ...parse(serialise(doc)) })),
  };
  const [editor, shared, wrong] = [new Editor(reading.doc), new Text(text), [] as unknown[]];
  const telling = { changed: () => undefined, failed: (error: unknown) => wrong.push(error) };
  const syncing = new RichSync(editor, shared, asking, telling, text, reading);
  editor.typed = () => syncing.noteTyping();
  shared.others = (edits) => syncing.noteOthers(edits);
  return { editor, text: shared, syncing, wrong };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const STORY = "The lamp was dark.\n\nShe read the letter.\n\nThe keys were gone.\n";

function at(doc: Node, words: string): number {
  let found = -1;
  doc.descendants((node, position) => {
    const inside = node.isText ? (node.text ?? "").indexOf(words) : -1;
    if (inside >= 0) found = position + inside;
  });
  expect(found).toBeGreaterThan(0);
  return found;
}

function instead(text: string, old: string, fresh: string): Edit[] {
  const from = text.indexOf(old);
  return [{ from, to: from + old.length, insert: fresh }];
}

describe("a rich editor and its text", () => {
  it("has what was typed in the text after a pause, and nothing else changed", async () => {
    const { editor, text, syncing } = begin(STORY);
    editor.type((doc) => doc.insert(at(doc.doc, "dark"), schema.text("very ")));
    expect(syncing.pending).toBe(true);
    expect(text.text).toBe(STORY);
    await vi.advanceTimersByTimeAsync(120);
    expect(text.text).toBe(STORY.replace("dark", "very dark"));
    expect(syncing.settled).toBe(true);
  });

  it("is written half a second later at the latest, however fast somebody types", async () => {
    const { editor, text } = begin(STORY);
    for (let key = 0; key < 12; key += 1) {
      editor.type((doc) => doc.insert(at(doc.doc, "dark"), schema.text("x")));
      await vi.advanceTimersByTimeAsync(50);
    }
    expect(text.text).toContain("xxxx");
  });

  it("shows what others did, and leaves the cursor and an empty paragraph where they are", async () => {
    const { editor, text } = begin(STORY);
    const gap = at(editor.doc, "She") - 1;
    editor.type((doc) => doc.insert(gap, schema.nodes.paragraph?.create() ?? []));
    await vi.advanceTimersByTimeAsync(200);
    text.elsewhere(instead(text.text, "gone", "found"));
    text.elsewhere(instead(text.text, "The lamp", "A lamp"));
    await vi.advanceTimersByTimeAsync(200);
    expect(editor.doc.textBetween(0, editor.doc.content.size, "|")).toBe(
      "A lamp was dark.||She read the letter.|The keys were found.",
    );
  });

  it("keeps both where both type into one paragraph at once", async () => {
    const { editor, text, syncing } = begin(STORY, () => 40);
    editor.type((doc) => doc.insert(at(doc.doc, "dark"), schema.text("very ")));
    await vi.advanceTimersByTimeAsync(110); // in progress
    text.elsewhere(instead(text.text, "The lamp", "The old lamp"));
    editor.type((doc) => doc.insert(at(doc.doc, "dark"), schema.text("very ")));
    await vi.advanceTimersByTimeAsync(1000);
    const wanted = STORY.replace("dark", "very very dark").replace("The lamp", "The old lamp");
    expect([text.text, editor.markdown, syncing.settled]).toEqual([wanted, wanted, true]);
  });

  it("brings in what others did beside a blank at the end of what was typed", async () => {
    const { editor, text } = begin(STORY);
    editor.type((doc) => doc.insert(at(doc.doc, "dark.") + 5, schema.text(" ")));
    await vi.advanceTimersByTimeAsync(200);
    text.elsewhere(instead(text.text, "lamp", "light"));
    await vi.advanceTimersByTimeAsync(200);
    expect(editor.doc.firstChild?.textContent).toBe("The light was dark. ");
  });

  it("keeps every blank that somebody types at the end of a paragraph that others change", async () => {
    for (let seed = 0; seed < 300; seed += 1) {
      const roll = dice(seed);
      const { editor, text } = begin(STORY, () => 5 + roll(60));
      const changes = [
        ["She read", "He read"],
        ["the letter", "the long letter"],
        ["letter.", "letters."],
      ] as const;
      for (const word of [" Then ", "she ", "went ", "to ", "look."]) {
        for (const key of word) {
          editor.type((doc) => doc.insert(startOf(doc.doc, 2) - 1, schema.text(key)));
          await vi.advanceTimersByTimeAsync(roll(40));
        }
        if (roll(3) === 0) await vi.advanceTimersByTimeAsync(roll(400));
        const [old, fresh] = changes[roll(3)] ?? changes[0];
        if (text.text.includes(old)) text.elsewhere(instead(text.text, old, fresh));
      }
      await vi.advanceTimersByTimeAsync(3000);
      expect(text.text, `${seed}`).toMatch(/letters?\. Then she went to look\.\n/);
    }
  });

  it("keeps what is typed while the server is away, and writes it when it is back", async () => {
    let away = true;
    const { editor, text, syncing, wrong } = begin(STORY, () => (away ? -5 : 5));
    editor.type((doc) => doc.insert(at(doc.doc, "dark"), schema.text("very ")));
    expect(await Promise.all([syncing.flush(), vi.advanceTimersByTimeAsync(300)])).toContain(false);
    text.elsewhere(instead(text.text, "gone", "found"));
    await vi.advanceTimersByTimeAsync(3000);
    expect(wrong.length).toBeGreaterThan(1);
    expect(syncing.pending).toBe(true);
    away = false;
    await vi.advanceTimersByTimeAsync(2000);
    const wanted = STORY.replace("dark", "very dark").replace("gone", "found");
    expect([text.text, editor.markdown]).toEqual([wanted, wanted]);
  });

  it("flushes what was typed just now, though a round is under way", async () => {
    const { editor, text, syncing } = begin(STORY, () => 30);
    editor.type((doc) => doc.insert(at(doc.doc, "dark"), schema.text("very ")));
    await vi.advanceTimersByTimeAsync(110);
    editor.type((doc) => doc.insert(at(doc.doc, "dark"), schema.text("quite ")));
    const flushed = syncing.flush();
    await vi.advanceTimersByTimeAsync(80);
    expect(await flushed).toBe(true);
    expect(text.text).toContain("very quite dark");
  });
});

/** Pseudo-random numbers, the same for the same seed. */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

/** Positions between the words of a text. */
function gaps(text: string): number[] {
  return [...text.matchAll(/\b|$/g)]
    .map(({ index }) => index)
    .filter((index) => !/\w\w/.test(text.slice(index - 1, index + 1)));
}

describe("a rich editor and its text, with others at work", () => {
  it.each(Array.from({ length: 60 }, (_, seed) => seed + 1))("loses nothing of either side (%i)", async (seed) => {
    const roll = dice(seed);
    const { editor, text, syncing } = begin(STORY, () => (roll(12) === 0 ? -1 : 1) * (1 + roll(60)));
    const words: string[] = [];
    const acts = [
      () => {
        const word = `mine${words.push(`mine${words.length}`) - 1}`;
        const places: number[] = [];
        editor.doc.descendants((node, position) => {
          if (node.isTextblock) places.push(...gaps(node.textContent).map((gap) => position + 1 + gap));
        });
        editor.type((doc) => doc.insert(places[roll(places.length)] ?? 1, schema.text(` ${word} `)));
      },
      () => {
        const word = `theirs${words.push(`theirs${words.length}`) - 1}`;
        const places = gaps(text.text);
        const from = places[roll(places.length)] ?? 0;
        text.elsewhere([{ from, to: from, insert: roll(3) > 0 ? ` ${word} ` : `\n\n${word}\n\n` }]);
      },
      () => {
        const places: number[] = [];
        editor.doc.descendants((node, position) => {
          if (node.isTextblock) places.push(...gaps(node.textContent).map((gap) => position + 1 + gap));
        });
        editor.type((doc) => doc.split(places[roll(places.length)] ?? 1));
      },
      () => {
        const olds = [...text.text.matchAll(/\b(lamp|dark|read|letter|keys|gone)\b/g)];
        const old = olds[roll(olds.length)];
        if (old) text.elsewhere([{ from: old.index, to: old.index + old[0].length, insert: "" }]);
      },
    ];
    for (let step = 0; step < 30; step += 1) {
      acts[roll(acts.length)]?.();
      if (roll(3) > 0) await vi.advanceTimersByTimeAsync(roll(140));
    }
    await vi.advanceTimersByTimeAsync(20_000);
    expect(syncing.settled).toBe(true);
    for (const word of words) expect(text.text.split(new RegExp(`\\b${word}\\b`)).length, word).toBe(2);
    const shown = (markdown: string) => serialise(parse(markdown).doc);
    expect(shown(editor.markdown)).toBe(shown(text.text));
  });
});

const HALF = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

describe("the edits between two texts", () => {
  it.each([
    ["", ""],
    ["a", ""],
    ["one two", "one 2 two"],
    ["one\r\ntwo", "one\r\n2\r\ntwo"],
    ["a \u{1F600} b", "a \u{1F601} b"],
    ["\u{1F600}\u{1F601}", "\u{1F601}\u{1F600}"],
    ["\u{1F600}x\u{1F600}", "\u{1F601}x\u{1F602}"],
  ])("make %j into %j, and cut no character in two", (old, fresh) => {
    const edits = editsBetween(old, fresh);
    expect(applyEdits(old, edits)).toBe(fresh);
    for (const { from, to, insert } of edits) {
      for (const part of [old.slice(0, from), old.slice(from, to), insert]) expect(part).not.toMatch(HALF);
    }
  });

  it("begin where words begin", () => {
    const edits = editsBetween("The mine1 keys", "The mine12 mine1 keys");
    expect(edits).toEqual([{ from: 4, to: 4, insert: "mine12 " }]);
  });

  it("make any text into any other", () => {
    const roll = dice(7);
    const letters = ["a", "b", " ", "\n", "\u{1F600}", "\u{1F601}", "\u{1F900}"];
    const word = () => Array.from({ length: roll(9) }, () => letters[roll(letters.length)]).join("");
    for (let round = 0; round < 2000; round += 1) {
      const [old, fresh] = [word(), word()];
      const edits = editsBetween(old, fresh);
      expect(applyEdits(old, edits), JSON.stringify([old, fresh])).toBe(fresh);
      for (const { from, to, insert } of edits) {
        for (const part of [old.slice(0, from), old.slice(from, to), insert]) expect(part).not.toMatch(HALF);
      }
    }
  });
});
