import { getSchema } from "@tiptap/core";
import type { Node } from "@tiptap/pm/model";
import { EditorState } from "@tiptap/pm/state";
import { describe, expect, it } from "vitest";
import { richExtensions } from "../schema";
import { type FindQuery, type FoundRange, findAll, findNext, replaceFound } from "./find";

const schema = getSchema(richExtensions());
const { doc, paragraph, codeBlock, image } = schema.nodes;

function wanted(text: string, more: Partial<FindQuery> = {}): FindQuery {
  return { text, caseSensitive: false, wholeWord: false, ...more };
}

function block(...parts: (string | Node)[]): Node {
  const inline = parts.map((part) => (typeof part === "string" ? schema.text(part) : part));
  return paragraph?.create(null, inline) as Node;
}

function page(...blocks: Node[]): Node {
  return doc?.create(null, blocks) as Node;
}

function bold(text: string): Node {
  return schema.text(text, [schema.mark("bold")]);
}

/** The naive way: every offset of every block, compared letter by letter. */
function naive(all: Node, { text, caseSensitive }: FindQuery): FoundRange[] {
  const found: FoundRange[] = [];
  const fold = (letters: string) => (caseSensitive ? letters : letters.toLowerCase());
  all.descendants((node, at) => {
    if (!node.isTextblock) return true;
    let words = "";
    node.forEach((child) => {
      words += child.isText ? child.text : "\ufffc";
    });
    for (let start = 0; start + text.length <= words.length; ) {
      const here = words.slice(start, start + text.length);
      if (fold(here) === fold(text)) found.push({ from: at + 1 + start, to: at + 1 + start + text.length });
      start += fold(here) === fold(text) ? text.length : 1;
    }
    return false;
  });
  return found;
}

describe("finding", () => {
  it("finds words across bold and plain letters, and not across pictures or blocks", () => {
    const all = page(
      block("He", bold("ll"), "o"),
      block("hel", image?.create({ src: "x.png" }) as Node, "lo"),
      block("hel"),
    );
    expect(findAll(all, wanted("hello"))).toEqual([{ from: 1, to: 6 }]);
  });

  it("takes signs as they are written", () => {
    for (const text of ["a.c", "(x)", "[^1]", "$&", "a-b", "\\d", "|", "{2}", "a/b"]) {
      expect(findAll(page(block(`abc ${text} xyz`)), wanted(text))).toEqual([{ from: 5, to: 5 + text.length }]);
    }
  });

  it("keeps its places behind astral and folding letters", () => {
    const all = page(block("😀 İstanbul straße STRASSE Ωmega"));
    expect(findAll(all, wanted("strasse"))).toEqual([{ from: 20, to: 27 }]);
    expect(findAll(all, wanted("ωMEGA"))).toEqual([{ from: 28, to: 33 }]);
    expect(findAll(all, wanted("😀"))).toEqual([{ from: 1, to: 3 }]);
  });

  it("matches case and whole words when asked", () => {
    const all = page(block("Cat cat concat cät C++ C++11"));
    expect(findAll(all, wanted("cat")).length).toBe(3);
    expect(findAll(all, wanted("cat", { caseSensitive: true })).length).toBe(2);
    expect(findAll(all, wanted("cat", { wholeWord: true })).map(({ from }) => from)).toEqual([1, 5]);
    expect(findAll(all, wanted("c", { wholeWord: true })).length).toBe(2);
    expect(findAll(all, wanted("C++", { wholeWord: true })).length).toBe(2);
  });

  it("finds what the slow way finds", () => {
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 1103515245 + 12345) % 2147483648;
      return Math.floor((seed / 2147483648) * below);
    };
    for (let round = 0; round < 300; round += 1) {
      const blocks = Array.from({ length: 1 + random(3) }, () => {
        const parts = Array.from({ length: 1 + random(4) }, () => {
          const letters = Array.from({ length: 1 + random(5) }, () => "abAB."[random(5)]).join("");
          return random(5) === 0 ? (image?.create({ src: "x" }) as Node) : random(2) ? bold(letters) : letters;
        });
        return random(4) === 0 ? (codeBlock?.create(null, schema.text("abab")) as Node) : block(...parts);
      });
      const text = Array.from({ length: 1 + random(3) }, () => "abAB."[random(5)]).join("");
      const looked = wanted(text, { caseSensitive: random(2) === 0 });
      expect(findAll(page(...blocks), looked)).toEqual(naive(page(...blocks), looked));
    }
  });

  it("goes around the ends", () => {
    const found = [
      { from: 2, to: 4 },
      { from: 8, to: 10 },
    ];
    expect([1, 2, 3, 9].map((at) => findNext(found, at, 1))).toEqual([0, 0, 1, 0]);
    expect([1, 4, 9, 12].map((at) => findNext(found, at, -1))).toEqual([1, 0, 0, 1]);
    expect(findNext([], 3, 1)).toBe(-1);
  });

  it("replaces all in one transaction, the formatting kept", () => {
    const state = EditorState.create({ doc: page(block("a ", bold("a"), " a"), block("ba")) });
    const found = findAll(state.doc, wanted("a"));
    const longer = state.apply(replaceFound(state.tr, found, "xyz")).doc;
    expect(longer.textBetween(0, longer.content.size, "|")).toBe("xyz xyz xyz|bxyz");
    expect(longer.firstChild?.child(1).marks.map(({ type }) => type.name)).toEqual(["bold"]);
    const without = state.apply(replaceFound(state.tr, found, "")).doc;
    expect(without.textBetween(0, without.content.size, "|")).toBe("  |b");
  });
});
