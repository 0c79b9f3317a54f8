"""Random edits in the rich editor, each with the markdown that should come of it.

The oracle knows nothing of blocks, spans or mappings. It edits the text by hand, at a passage that occurs once in the
text and once in the document: a letter before "fox" in the document is that letter before "fox" in the text. Several
markdowns are right where an author has a choice (`**` or `__`); those that do not parse as the document are left out.
"""

from __future__ import annotations

import re
from copy import deepcopy
from typing import TYPE_CHECKING, Any, NamedTuple

from redraft.formats.rich.parser import parse
from redraft.formats.rich.representable import to_representable
from redraft.formats.rich.schema import content_of, node, text

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator

    from redraft.formats.rich.parser import ParsedDocument
    from redraft.formats.rich.schema import Node

    Path = tuple[int, ...]
    Act = Callable[[random.Random, ParsedDocument], "Edited | None"]

CONTEXT = 14
SIGNS = re.compile(r"\[\[|\[!|[\u00a0©—*_\[<&~`|\\#]")


class Edited(NamedTuple):
    """A changed document, and the markdowns that are right for it; or what says whether one is."""

    doc: Node
    wanted: list[str]
    is_right: Callable[[str], bool] | None = None


class Place(NamedTuple):
    """An offset of a text node, and where it is in the markdown."""

    path: Path
    offset: int
    at: int


def texts(shape: Node, path: Path = ()) -> Iterator[tuple[Path, Node]]:
    for number, child in enumerate(content_of(shape)):
        if child["type"] == "text":
            yield (*path, number), child
        else:
            yield from texts(child, (*path, number))


def node_at(doc: Node, path: Path) -> Node:
    for number in path:
        doc = doc["content"][number]
    return doc


def place(rng: random.Random, parsed: ParsedDocument) -> Place | None:
    """A random place whose next letters occur once in the text and once in the document."""
    found = list(texts(parsed.doc))
    for _ in range(100 if found else 0):
        path, each = rng.choice(found)
        offset = rng.randrange(len(each["text"]))
        context = each["text"][offset : offset + CONTEXT]
        if len(context) < 6 or any(mark["type"] == "link" for mark in each.get("marks", ())):
            continue
        if parsed.text.count(context) == 1 == sum(other["text"].count(context) for _, other in found):
            return Place(path, offset, parsed.text.index(context))
    return None


def typed(parsed: ParsedDocument, where: Place, words: str) -> Edited:
    doc = deepcopy(parsed.doc)
    each = node_at(doc, where.path)
    each["text"] = each["text"][: where.offset] + words + each["text"][where.offset :]
    wanted = parsed.text[: where.at] + words + parsed.text[where.at :]

    # What is typed into a wrapped paragraph may be wrapped.
    def is_right(saved: str) -> bool:
        return is_same(re.sub(rf"{words.strip()}\n[ >]*", words, saved), wanted)

    return Edited(doc, [wanted], is_right)


def is_same(saved: str, wanted: str) -> bool:
    """Whether two texts are equal, apart from the blanks with which a table's changed cell is kept aligned."""
    lines, others = saved.split("\n"), wanted.split("\n")
    return len(lines) == len(others) and all(
        one == other or ("|" in one and re.sub(r" +\|", " |", one) == re.sub(r" +\|", " |", other))
        for one, other in zip(lines, others, strict=True)
    )


def letter(rng: random.Random, parsed: ParsedDocument) -> Edited | None:
    where = place(rng, parsed)
    return where and typed(parsed, where, "q")


def word(rng: random.Random, parsed: ParsedDocument) -> Edited | None:
    where = place(rng, parsed)
    return where and typed(parsed, where, "zqz ")


def letter_at_a_sign(rng: random.Random, parsed: ParsedDocument) -> Edited | None:
    """A letter in front of something that markdown could take for markup: a callout, a wiki link, an entity."""
    found = list(texts(parsed.doc))
    spots = [(path, each, sign.start()) for path, each in found for sign in SIGNS.finditer(each["text"])]
    rng.shuffle(spots)
    for path, each, offset in spots[:50]:
        left = each["text"][max(0, offset - 12) : offset]
        once = parsed.text.count(left) == 1 == sum(other["text"].count(left) for _, other in found)
        if each.get("marks") or node_at(parsed.doc, path[:-1])["type"] == "codeBlock" or len(left) < 5 or not once:
            continue
        return typed(parsed, Place(path, offset, parsed.text.index(left) + len(left)), "q")
    return None


def deleted_letter(rng: random.Random, parsed: ParsedDocument) -> Edited | None:
    where = place(rng, parsed)
    if where is None or not parsed.text[where.at].isalnum():
        return None
    doc = deepcopy(parsed.doc)
    each = node_at(doc, where.path)
    each["text"] = each["text"][: where.offset] + each["text"][where.offset + 1 :]
    wanted = parsed.text[: where.at] + parsed.text[where.at + 1 :]

    def is_right(saved: str) -> bool:
        return is_same(saved, wanted)

    return Edited(doc, [wanted], is_right)


def bold_word(rng: random.Random, parsed: ParsedDocument) -> Edited | None:
    where = place(rng, parsed)
    if where is None:
        return None
    doc = deepcopy(parsed.doc)
    block, content = node_at(doc, where.path[:-1]), node_at(doc, where.path)["text"]
    words = re.match(r"[A-Za-z]{3,}(?= )", content[where.offset :])
    plain = block["type"] != "codeBlock" and not node_at(doc, where.path).get("marks")
    if not plain or words is None or (content[: where.offset][-1:] or " ") != " " or parsed.text[where.at - 1] != " ":
        return None
    end, number = where.offset + words.end(), where.path[-1]
    parts = [text(content[: where.offset]), text(words[0], [{"type": "bold"}]), text(content[end:])]
    block["content"][number : number + 1] = [each for each in parts if each["text"]]
    before, after = parsed.text[: where.at], parsed.text[where.at + words.end() :]
    wanted = [f"{before}{sign}{words[0]}{sign}{after}" for sign in ("**", "__")]

    def is_right(saved: str) -> bool:
        return any(is_same(saved, each) for each in wanted)

    return Edited(doc, wanted, is_right)


def split_paragraph(rng: random.Random, parsed: ParsedDocument) -> Edited | None:
    """A paragraph, or an item of a list, is split at a blank."""
    where = place(rng, parsed)
    if where is None or where.offset < 2 or parsed.text[where.at - 1] not in " \n":
        return None
    doc, number = deepcopy(parsed.doc), where.path[-1]
    block, each = node_at(doc, where.path[:-1]), node_at(doc, where.path)
    if block["type"] != "paragraph" or each.get("marks") or each["text"][where.offset - 1] != " ":
        return None
    first = node("paragraph", [*block["content"][:number], text(each["text"][: where.offset - 1])])
    second = node("paragraph", [text(each["text"][where.offset :]), *block["content"][number + 1 :]])
    before, after = parsed.text[: where.at - 1], parsed.text[where.at :]
    if len(where.path) == 2:
        doc["content"][where.path[0] : where.path[0] + 1] = [first, second]
        return Edited(doc, [before + "\n\n" + after])
    marker = re.match(r"[-*+] +(?=\S)", before[before.rfind("\n") + 1 :])
    items = node_at(doc, where.path[:1])
    if len(where.path) != 4 or items["type"] != "bulletList" or marker is None:
        return None
    if len(node_at(doc, where.path[:2])["content"]) > 1:
        return None
    pair = [node("listItem", [first]), node("listItem", [second])]
    items["content"][where.path[1] : where.path[1] + 1] = pair
    return Edited(doc, [before + gap + marker[0] + after for gap in ("\n", "\n\n")])


def joined_paragraphs(rng: random.Random, parsed: ParsedDocument) -> Edited | None:
    blocks = parsed.blocks

    def joins(number: int) -> bool:
        pair = [blocks[number].node, blocks[number + 1].node]
        if any(each["type"] != "paragraph" for each in pair):
            return False
        edges = [pair[0]["content"][-1], pair[1]["content"][0]]
        return all(each["type"] == "text" and not each.get("marks") for each in edges)

    found = [number for number in range(len(blocks) - 1) if joins(number)]
    if not found:
        return None
    number = rng.choice(found)
    doc = deepcopy(parsed.doc)
    doc["content"][number]["content"] += doc["content"].pop(number + 1)["content"]
    above = "".join(parsed.lines[: blocks[number].end]).rstrip("\n")
    return Edited(doc, [above + "".join(parsed.lines[blocks[number + 1].start :]).lstrip()])


def pasted_paragraph(rng: random.Random, parsed: ParsedDocument) -> Edited | None:
    blocks = parsed.blocks
    found = [number for number in range(len(blocks) - 1) if blocks[number].end < blocks[number + 1].start]
    if not found:
        return None
    number = rng.choice(found)
    doc = deepcopy(parsed.doc)
    doc["content"].insert(number + 1, node("paragraph", [text("Pasted words.")]))
    end, start = blocks[number].end, blocks[number + 1].start
    first = "".join(parsed.lines[:end]) + "\nPasted words.\n" + "".join(parsed.lines[end:])
    return Edited(doc, [first, "".join(parsed.lines[:start]) + "Pasted words.\n\n" + "".join(parsed.lines[start:])])


def new_item(rng: random.Random, parsed: ParsedDocument) -> Edited | None:
    found = [
        (number, at, marker[0])
        for number, block in enumerate(parsed.blocks)
        if block.node["type"] == "bulletList"
        for at, item in enumerate(block.inside)
        if len(item.node["content"]) == 1 and (marker := re.match(r" *[-*+] +(?=\S)", parsed.lines[item.start]))
    ]
    if not found:
        return None
    number, at, marker = rng.choice(found)
    end = parsed.blocks[number].inside[at].end
    doc = deepcopy(parsed.doc)
    doc["content"][number]["content"].insert(at + 1, node("listItem", [node("paragraph", [text("fresh")])]))
    before, after = "".join(parsed.lines[:end]), "".join(parsed.lines[end:])
    return Edited(doc, [f"{before}{gap}{marker}fresh\n{after}" for gap in ("", "\n")])


def cells_of(line: str) -> list[str]:
    return re.split(r"(?<!\\)\|", line.rstrip("\r\n"))


def _table(rng: random.Random, parsed: ParsedDocument) -> tuple[int, int, int] | None:
    """A table's block, and a row and a column of a cell that has words."""
    found = [
        (number, row, column)
        for number, block in enumerate(parsed.blocks)
        if block.node["type"] == "table" and parsed.lines[block.start].lstrip().startswith("|")
        for row, cells in enumerate(content_of(block.node))
        for column, cell in enumerate(cells["content"])
        if (words := content_of(cell["content"][0])) and words[-1]["type"] == "text" and not words[-1].get("marks")
    ]
    return rng.choice(found) if found else None


def _in_cell(change: Callable[[list[Any]], None], added: str) -> Act:
    def act(rng: random.Random, parsed: ParsedDocument) -> Edited | None:
        where = _table(rng, parsed)
        if where is None:
            return None
        number, row, column = where
        doc = deepcopy(parsed.doc)
        change(doc["content"][number]["content"][row]["content"][column]["content"])
        changed = parsed.blocks[number].start + row + (row > 0)

        def is_right(saved: str) -> bool:
            lines = saved.splitlines(keepends=True)
            old, new = cells_of(parsed.lines[changed]), cells_of(lines[changed])
            was, now = old.pop(column + 1), new.pop(column + 1)
            del lines[changed]
            rest = parsed.lines[:changed] + parsed.lines[changed + 1 :]
            return (lines, new, now.strip()) == (rest, old, was.strip() + added)

        return Edited(doc, [], is_right)

    return act


def _type_into(blocks: list[Any]) -> None:
    blocks[0]["content"][-1]["text"] += "q"


def _break_in(blocks: list[Any]) -> None:
    blocks.append(node("paragraph", [text("more")]))


def new_column(rng: random.Random, parsed: ParsedDocument) -> Edited | None:
    where = _table(rng, parsed)
    if where is None:
        return None
    number, row, column = where
    doc, block = deepcopy(parsed.doc), parsed.blocks[number]
    for at, cells in enumerate(doc["content"][number]["content"]):
        words = [text("new")] if at == row else []
        cells["content"].insert(column + 1, node("tableCell" if at else "tableHeader", [node("paragraph", words)]))

    def is_right(saved: str) -> bool:
        lines = saved.splitlines(keepends=True)
        inside = [cells_of(line) for line in lines[block.start : block.end]]
        for cells in inside:
            del cells[column + 2]
        kept = inside == [cells_of(line) for line in parsed.lines[block.start : block.end]]
        return (
            kept
            and lines[: block.start] + lines[block.end :] == parsed.lines[: block.start] + parsed.lines[block.end :]
        )

    return Edited(doc, [], is_right)


ACTS: list[Act] = [
    letter, letter, word, letter_at_a_sign, deleted_letter, bold_word, split_paragraph, joined_paragraphs,
    pasted_paragraph, new_item, _in_cell(_type_into, "q"), _in_cell(_break_in, "<br>more"), new_column,
]  # fmt: skip


def edits(rng: random.Random, parsed: ParsedDocument, count: int) -> Iterator[Edited]:
    """So many edits whose outcome is certain."""
    found = 0
    for _ in range(20 * count):
        made = rng.choice(ACTS)(rng, parsed)
        if made is None:
            continue
        if made.wanted:
            shown = to_representable(made.doc)
            wanted = [each for each in made.wanted if to_representable(parse(each).doc) == shown]
            if not wanted:
                continue
            made = made._replace(wanted=wanted)
        found += 1
        yield made
        if found == count:
            return
