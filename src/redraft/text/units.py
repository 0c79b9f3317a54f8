"""The units of a document that a person judges: a paragraph, a list item, a table row, a key of the frontmatter.

A scanner of lines, not a parser: it never fails, takes any text for markdown, and looks at each line once. It knows
just enough to keep together what belongs together. What a document means is the business of `formats`.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, cast

from redraft.text.edits import Span
from redraft.text.lines import split_lines
from redraft.text.sentences import sentences

__all__ = ["Kind", "Unit", "Within", "fences", "frontmatter_end", "sentences", "units"]

Kind = Literal[
    "frontmatter",
    "frontmatter_key",
    "heading",
    "list_item",
    "table_row",
    "code_block",
    "quote",
    "html",
    "rule",
    "paragraph",
    "blank",
]
Within = Literal["document", "body", "frontmatter", "code"]

_LINE = re.compile(
    r"(?P<blank>\s*$)"
    r"|(?P<code_block>[ \t]*(?:`{3,}[^`]*|~{3,}.*)$)"
    r"|(?P<heading>[ ]{0,3}\#{1,6}(?:\s|$))"
    r"|(?P<rule>[ ]{0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|=+[ \t]*)$)"
    r"|(?P<list_item>[ \t]*(?:[-*+]|\d{1,9}[.)])(?:\s|$))"
    r"|(?P<quote>[ ]{0,3}>)"
    r"|(?P<table_row>[ \t]*\|)"
    r"|(?P<html>[ ]{0,3}<(?:!--|/?[A-Za-z][\w-]*(?:[\s/>]|$)))"
)
_UNDERLINE = re.compile(r"[ ]{0,3}(?:=+|-+)[ \t]*$")
_KEY = re.compile(r"""(?:[^\s#'"\-:][^:\r\n]*|'[^']*'|"[^"]*")[ \t]*:(?:\s|$)""")
_FRONTMATTER_END = re.compile(r"(?:\r\n?|\n)(?:---|\.\.\.)[ \t]*(?:\r\n?|\n|\Z)")
# What may stand before a fence on its line: blanks, a quote's mark, a list item's.
_BEFORE_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?")
# A text may begin with a rule; its whole length is not searched for the mark that would make frontmatter of it.
_LONGEST_FRONTMATTER = 64 * 1024
_FENCES = ("```", "~~~")


class Unit(NamedTuple):
    """Lines `start` to `end` (half-open) of a text, with what they are."""

    kind: Kind
    start: int
    end: int
    text: str


def units(text: str, *, within: Within = "document") -> list[Unit]:
    """The units of a text, which join back to it; `within` says where it stands when it is a part of a document."""
    lines = split_lines(text)
    if within == "code":
        return [Unit("code_block", 0, len(lines), text)] if lines else []
    body = {"document": _frontmatter_lines(lines), "frontmatter": len(lines), "body": 0}[within]
    found: list[Unit] = []
    at = 0
    while at < len(lines):
        kind, end = _key(lines, at, body) if at < body else _block(lines, at)
        found.append(Unit(kind, at, end, "".join(lines[at:end])))
        at = end
    return found


def frontmatter_end(text: str) -> int:
    """The offset just after the frontmatter, 0 where there is none."""
    if not text.startswith("---"):
        return 0
    match = _FRONTMATTER_END.search(text, 0, _LONGEST_FRONTMATTER)
    lines = split_lines(text[: match.end()]) if match else []
    return sum(map(len, lines[: _frontmatter_lines(lines)]))


def fences(text: str) -> list[Span]:
    """The fenced code blocks, with their fences, as spans of code points; made for looking at 10 MB in passing."""
    found: list[Span] = []
    at = 0
    # Most texts have no tilde at all, and looking for one character is ten times as fast as looking for three.
    ahead = {fence: text.find(fence) if fence[0] in text else -1 for fence in _FENCES}
    while True:
        ahead = {fence: place if place < 0 or place >= at else text.find(fence, at) for fence, place in ahead.items()}
        fence = min((fence for fence in _FENCES if ahead[fence] >= 0), key=lambda fence: ahead[fence], default="")
        if not fence:
            return found
        start, line = _line_around(text, ahead[fence])
        if _opens_fence(line, fence):
            end = _fence_end(text, start + len(line), _fence_run(line, fence))
            found.append(Span(start, end))
            at = end
        else:
            at = start + len(line)


def _opens_fence(line: str, fence: str) -> bool:
    match = _BEFORE_FENCE.match(line)
    rest = line[match.end() :] if match else line
    return rest.startswith(fence) and (fence[0] == "~" or "`" not in rest.lstrip("`"))


def _fence_run(line: str, fence: str) -> str:
    """The opening fence itself, which may be longer than three characters."""
    body = line[line.index(fence) :]
    return fence[0] * (len(body) - len(body.lstrip(fence[0])))


def _fence_end(text: str, at: int, fence: str) -> int:
    """Just after the line that closes a block whose content begins at `at`; the text's end where none does."""
    while (place := text.find(fence, at)) >= 0:
        start, line = _line_around(text, place)
        if not line.strip("> \t\r\n" + fence[0]):
            return start + len(line)
        at = start + len(line)
    return len(text)


def _line_around(text: str, at: int) -> tuple[int, str]:
    start = max(text.rfind("\n", 0, at), text.rfind("\r", max(0, at - 1_000), at)) + 1
    end = text.find("\n", at) + 1 or len(text)
    return start, split_lines(text[start:end])[0]


def _frontmatter_lines(lines: list[str]) -> int:
    """How many lines the frontmatter has, its marks included; 0 where there is none."""
    if not lines or lines[0].rstrip() != "---":
        return 0
    for index, line in enumerate(lines[1:], start=1):
        if line.rstrip() in ("---", "..."):
            return index + 1
        if not line.strip() and index == 1:
            return 0  # a rule above a text
    return 0


def _key(lines: list[str], at: int, stop: int) -> tuple[Kind, int]:
    """A key of the frontmatter with everything below it, or one of its marks."""
    if lines[at].rstrip() in ("---", "..."):
        return "frontmatter", at + 1
    if not lines[at].strip():
        return "blank", _while_kind(lines, at, ("blank",), stop)
    end = at + 1
    while (
        end < stop and lines[end].strip() and not _KEY.match(lines[end]) and lines[end].rstrip() not in ("---", "...")
    ):
        end += 1
    return "frontmatter_key", end


def _block(lines: list[str], at: int) -> tuple[Kind, int]:
    """The unit of the body that begins with a line, and the line after it."""
    kind = _kind(lines[at])
    if kind == "code_block":
        return kind, _code_end(lines, at)
    if kind in ("blank", "quote"):
        return kind, _while_kind(lines, at, (kind,), len(lines))
    if kind == "html":
        return kind, _html_end(lines, at)
    if kind not in ("paragraph", "list_item"):
        return kind, at + 1
    end = _while_kind(lines, at + 1, ("paragraph",), len(lines))
    if kind == "paragraph" and end < len(lines) and _UNDERLINE.match(lines[end]):
        return "heading", end + 1
    return kind, end


def _kind(line: str) -> Kind:
    # Two glances that decide most lines of prose; the pattern takes five times as long.
    if line[0].isalpha():
        return "paragraph"
    if line == "\n":
        return "blank"
    match = _LINE.match(line.rstrip("\r\n"))
    return cast("Kind", match.lastgroup) if match else "paragraph"


def _while_kind(lines: list[str], at: int, kinds: tuple[Kind, ...], stop: int) -> int:
    while at < stop and _kind(lines[at]) in kinds:
        at += 1
    return at


def _code_end(lines: list[str], at: int) -> int:
    fence = lines[at].lstrip()
    run = fence[: len(fence) - len(fence.lstrip(fence[0]))]
    for index in range(at + 1, len(lines)):
        body = lines[index].strip()
        if body.startswith(run) and not body.strip(run[0]):
            return index + 1
    return len(lines)


def _html_end(lines: list[str], at: int) -> int:
    """A comment ends where it says so, other html before the next blank line."""
    comment = lines[at].lstrip().startswith("<!--")
    for index in range(at, len(lines)):
        if comment and "-->" in lines[index]:
            return index + 1
        if not comment and not lines[index].strip():
            return index
    return len(lines)
