/** Random documents of the rich editor's schema, the same for the same seed, with every node type and astral text. */

const WORDS = ["a", "word", "über", "日本", "😀", "𝒳y", "e\u0301", "two words", "x\u200by", "🏳️‍🌈", "\\*", "&amp;"];

class Dice {
  #state;
  constructor(seed) {
    this.#state = seed >>> 0;
  }
  /** A whole number below `sides` (mulberry32). */
  roll(sides) {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % sides;
  }
  of(list) {
    return list[this.roll(list.length)];
  }
  times(most, make) {
    return Array.from({ length: this.roll(most + 1) }, make);
  }
}

const MARKS = [
  [],
  [],
  [{ type: "bold" }],
  [{ type: "italic" }],
  [{ type: "code" }],
  [{ type: "bold" }, { type: "strike" }],
  [{ type: "link", attrs: { href: "x.md" } }],
];

function inline(dice) {
  const parts = dice.times(4, () => {
    const kind = dice.roll(8);
    if (kind === 0) return { type: "hardBreak" };
    if (kind === 1) return { type: "image", attrs: { src: "i.png", alt: dice.of(WORDS) } };
    if (kind === 2) return { type: "inlineSource", attrs: { markdown: "<kbd>" } };
    return { type: "text", text: dice.of(WORDS), marks: dice.of(MARKS) };
  });
  return joined(parts);
}

/** Texts with the same marks side by side are one, as the editor keeps them. */
function joined(parts) {
  const found = [];
  for (const part of parts) {
    const last = found.at(-1);
    const same =
      last?.type === "text" && part.type === "text" && JSON.stringify(last.marks) === JSON.stringify(part.marks);
    if (same) found[found.length - 1] = { ...last, text: last.text + part.text };
    else found.push(part);
  }
  return found;
}

function textblock(dice) {
  const kind = dice.roll(6);
  if (kind === 0) return { type: "heading", attrs: { level: 1 + dice.roll(6) }, content: inline(dice) };
  if (kind === 1) {
    const text = dice.times(3, () => dice.of(WORDS)).join("\n");
    return { type: "codeBlock", attrs: { language: "js" }, content: text ? [{ type: "text", text }] : [] };
  }
  return { type: "paragraph", content: inline(dice) };
}

function blocks(dice, depth) {
  return [block(dice, depth), ...dice.times(2, () => block(dice, depth))];
}

function block(dice, depth) {
  const kind = dice.roll(depth > 3 ? 6 : 12);
  if (kind === 0) return { type: "horizontalRule" };
  if (kind === 1) return { type: "source", attrs: { markdown: "<div>😀</div>", kind: "html" } };
  if (kind < 6) return textblock(dice);
  if (kind === 6) return { type: "blockquote", content: blocks(dice, depth + 1) };
  if (kind === 7) return table(dice, depth + 1);
  if (kind === 8) return list(dice, "taskList", "taskItem", { checked: dice.roll(2) === 1 }, depth);
  if (kind === 9) return { ...list(dice, "orderedList", "listItem", {}, depth), attrs: { start: dice.roll(12) } };
  return list(dice, "bulletList", "listItem", {}, depth);
}

function list(dice, type, item, attrs, depth) {
  const made = () => ({ type: item, attrs, content: blocks(dice, depth + 1) });
  return { type, content: [made(), ...dice.times(2, made)] };
}

function table(dice, depth) {
  const columns = 1 + dice.roll(3);
  const row = (type) => ({
    type: "tableRow",
    content: Array.from({ length: columns }, () => ({ type, content: blocks(dice, depth + 2) })),
  });
  return { type: "table", content: [row("tableHeader"), ...dice.times(2, () => row("tableCell"))] };
}

/** So many documents, each a little longer than those before it on the average. */
export function documents(seed, count) {
  const dice = new Dice(seed);
  return Array.from({ length: count }, (_, number) => ({
    type: "doc",
    content: Array.from({ length: 1 + dice.roll(1 + Math.floor(number / 30)) }, () => block(dice, 0)),
  }));
}
