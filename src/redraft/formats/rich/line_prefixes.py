"""Lines within containers: which part of a line belongs to the quotations and lists around it, and which to the block.

Entering a container moves its markers into the prefixes, so that its blocks can be processed as if they were at the top
level; prefix and content joined are the original line. `Opaque` means that a line is indented in a way that cannot be
split (tabs), and that the container has to be written as a whole.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from redraft.text.lines import split_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_QUOTE = re.compile(r" {0,3}> ?")
_MARKER = re.compile(r" {0,3}(?:[-+*]|[0-9]{1,9}[.)])(?: {1,4}(?=[^ ])| (?= )|$)")
_BOX = re.compile(r"\[[ xX]\](?:[ ]+|$)")
_CODE_INDENT = 4


class Opaque(Exception):
    """A container's lines cannot be split into its markers and its blocks' content."""


class PrefixedLine(NamedTuple):
    """A line in three parts: the prefix of the containers around it, its content, and its terminator."""

    prefix: str
    content: str
    end: str

    @property
    def whole(self) -> str:
        return self.prefix + self.content + self.end


@dataclass(frozen=True, slots=True)
class ContainerLines:
    """Lines as seen from inside some containers. `base` is the number of the first, `fresh` the prefix of an added
    line."""

    lines: Sequence[PrefixedLine]
    base: int = 0
    fresh: str = ""

    def cut(self, start: int, end: int) -> list[PrefixedLine]:
        return list(self.lines[start - self.base : end - self.base])

    def make_lines(self, contents: Iterable[str], end: str) -> list[PrefixedLine]:
        """New lines at this place."""
        return [PrefixedLine(self.fresh if each else self.fresh.rstrip(), each, end) for each in contents]

    def within(self, start: int, end: int) -> ContainerLines:
        return ContainerLines(self.cut(start, end), start, self.fresh)


def text_lines(text: str) -> ContainerLines:
    """The lines of a whole text."""
    found: list[PrefixedLine] = []
    for line in split_lines(text):
        content = line.rstrip("\r\n")
        found.append(PrefixedLine("", content, line[len(content) :]))
    return ContainerLines(found)


def enter_quote(level: ContainerLines) -> ContainerLines:
    """The lines of a quotation as its blocks see them."""
    lines: list[PrefixedLine] = []
    for line in level.lines:
        _check_tabs(line.content)
        sign = _QUOTE.match(line.content)
        lines.append(_shift_prefix(line, sign.end() if sign else 0))
    return ContainerLines(lines, level.base, level.fresh + "> ")


def enter_item(level: ContainerLines, *, task: bool) -> ContainerLines:
    """The lines of a list item as its blocks see them."""
    first = level.lines[0]
    _check_tabs(first.content)
    marker = _MARKER.match(first.content)
    if marker is None:
        raise Opaque
    width = marker.end() if marker.end() < len(first.content) else len(marker[0]) + 1
    taken = marker.end()
    if task and (box := _BOX.match(first.content, taken)):
        taken = box.end()
    lines = [_shift_prefix(first, taken)]
    for line in level.lines[1:]:
        _check_tabs(line.content)
        indent = len(line.content) - len(line.content.lstrip(" "))
        lines.append(_shift_prefix(line, min(indent, width)))
    return ContainerLines(lines, level.base, level.fresh + " " * width)


def _shift_prefix(line: PrefixedLine, width: int) -> PrefixedLine:
    return PrefixedLine(line.prefix + line.content[:width], line.content[width:], line.end)


def _check_tabs(content: str) -> None:
    if "\t" in content[: len(content) - len(content.lstrip(" \t>"))] or re.match(r" {0,3}[-+*0-9.)]+\t", content):
        raise Opaque
