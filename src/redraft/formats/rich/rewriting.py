"""A changed block in the lines of the old one: paragraphs, headings, code.

The new words are brought into the old lines by a three-way merge: the old block as it would be written anew is the
base, the lines as they are one side, the new block as it would be written the other. So escapes, wrapping and signs of
emphasis that the author chose stay. What comes out is used only if it reads as the new block; else it is written anew.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from redraft.formats.rich.prefixes import Level, Line
from redraft.formats.rich.reading import read_nodes
from redraft.formats.rich.schema import Node, attrs_of, content_of, node, plain_text
from redraft.formats.rich.style import Facts, facts_in, learned
from redraft.formats.rich.writing import Writer
from redraft.text.matching import changed
from redraft.text.merge import merge

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_ATX = re.compile(r"( {0,3}#{1,6}[ \t]+)(.*?)((?:[ \t]+#+)?[ \t]*)$")
# A paragraph whose longest line is shorter or longer is not wrapped but has its breaks for another reason.
_WRAPPED = range(40, 200)


@dataclass(frozen=True, slots=True)
class Manner:
    """How a text is written: its style, what its links refer to, and how its lines end."""

    facts: Facts
    references: dict[str, Any]
    newline: str

    def writer(self, near: str) -> Writer:
        """Whoever writes in the style of a place."""
        return Writer(learned(facts_in(near), self.facts), self.references)

    def reads_as(self, lines: Sequence[str], wanted: Sequence[Node]) -> bool:
        return read_nodes("\n".join(lines), self.references) == list(wanted)


def content_text(lines: Sequence[Line]) -> str:
    return "\n".join(line.content for line in lines)


def relined(contents: Sequence[str], lines: Sequence[Line], level: Level, manner: Manner) -> list[Line]:
    """New contents for lines: each keeps the prefix and the terminator of the line that was in its place."""
    end = next((line.end for line in lines if line.end), manner.newline)
    made = [Line(line.prefix, content, line.end or end) for line, content in zip(lines, contents, strict=False)]
    return made + level.added(contents[len(made) :], end)


def rewrite_paragraph(old: Node, new: Node, lines: list[Line], level: Level, manner: Manner) -> list[Line]:
    source = content_text(lines)
    for written in _inline_spellings(old, new, source, manner):
        if manner.reads_as(written, [new]):
            return relined(written, lines, level, manner)
    return relined(manner.writer(source).block(new), lines, level, manner)


def _inline_spellings(old: Node, new: Node, source: str, manner: Manner) -> Iterator[list[str]]:
    """Ways to write a paragraph's new words, those that keep most of the old lines first."""
    writer = manner.writer(source)
    base, theirs = writer.inline(old), writer.inline(new)
    width = max(map(len, source.split("\n"))) if "\n" in source else 0
    merged = merge(base, source, theirs)
    if merged.clean:
        lines = merged.text.split("\n")
        known = set(source.split("\n"))
        if width in _WRAPPED:
            yield [part for line in lines for part in ([line] if line in known else _wrapped(line, width))]
        yield lines
    if width in _WRAPPED:
        yield [part for line in theirs.split("\n") for part in _wrapped(line, width)]


def _wrapped(line: str, width: int) -> Iterator[str]:
    """A line in pieces that are no longer than others of its paragraph. It breaks at single blanks alone: those at its
    end may mean something."""
    while len(line) > width:
        at = line.rfind(" ", 1, width + 1)
        at = line.find(" ", 1) if at < 0 else at
        if at < 0 or not line[:at].strip() or line[at - 1] == " " or line[at : at + 2] == "  " or not line[at:].strip():
            break
        yield line[:at]
        line = line[at + 1 :]
    yield line


def rewrite_heading(old: Node, new: Node, lines: list[Line], level: Level, manner: Manner) -> list[Line] | None:
    """Only the words between the hashes, or above the line under them; None where the level is another."""
    if attrs_of(old)["level"] != attrs_of(new)["level"] or not content_of(old) or not content_of(new):
        return None
    inner_old, inner_new = (node("paragraph", content_of(each)) for each in (old, new))
    hashes = _ATX.match(lines[0].content) if len(lines) == 1 else None
    if hashes:
        within = [Line(lines[0].prefix + hashes[1], hashes[2], hashes[3] + lines[0].end)]
        made = rewrite_paragraph(inner_old, inner_new, within, level, manner)
        return made if len(made) == 1 and manner.reads_as([hashes[1] + made[0].content + hashes[3]], [new]) else None
    if len(lines) < 2 or lines[-1].content.strip(" \t=-"):
        return None
    made = [*rewrite_paragraph(inner_old, inner_new, lines[:-1], level, manner), lines[-1]]
    return made if manner.reads_as([line.content for line in made], [new]) else None


def rewrite_code(old: Node, new: Node, lines: list[Line], level: Level, manner: Manner) -> list[Line] | None:
    """Only the lines of code that differ; None where more than the code changed or its lines are indented."""
    if old.get("attrs") != new.get("attrs"):
        return None
    fenced = lines[0].content.lstrip(" ")[:3] in ("```", "~~~")
    closed = fenced and len(lines) > 1 and not lines[-1].content.strip(" ").strip(lines[0].content.lstrip(" ")[0])
    inner = lines[1 : -1 if closed else None] if fenced else lines
    indent = "" if fenced else "    "
    before, after = plain_text(old).split("\n"), plain_text(new).split("\n")
    if [line.content.removeprefix(indent) for line in inner] != before:
        return None
    made: list[Line] = []
    at = 0
    for region in changed(before, after):
        made += inner[at : region.old_start]
        added = [indent + each if each else "" for each in after[region.new_start : region.new_end]]
        made += relined(added, inner[region.old_start : region.old_end], level, manner)
        at = region.old_end
    made += inner[at:]
    whole = [*(lines[:1] if fenced else ()), *made, *(lines[-1:] if closed else ())]
    return whole if manner.reads_as([line.content for line in whole], [new]) else None
