"""The inside of a paragraph as markdown, written so that reading it gives the same nodes.

Signs that would be markup are escaped only where they could be: what a person writes stays as plain as it can. Which
sign for emphasis works depends on the characters around it; so several spellings are tried, and the first that reads
back as what was meant is taken.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from redraft.formats.rich.destinations import destination, label_key, titled
from redraft.formats.rich.escaping import code_span, escaped, line_starts_escaped, text_escaped
from redraft.formats.rich.inline_reading import inline_nodes
from redraft.formats.rich.schema import Mark, Node, attrs_of, joined, plain_text
from redraft.formats.rich.syntax import markdown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from redraft.formats.rich.style import Style

_AUTOLINK = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>\x00-\x1f]*")
_ADDRESS = re.compile(r"[\w.!#$%&'*+/=?^`{|}~-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*")
_DELIMITERS = {"bold": "strong", "italic": "emphasis"}


@dataclass(frozen=True, slots=True)
class Setting:
    """Where inline content is written: the style, whether in a table or a heading, and what links can refer to."""

    style: Style
    references: dict[str, Any]
    in_table: bool = False
    in_heading: bool = False


def write_inline(nodes: Sequence[Node], setting: Setting) -> str:
    """The markdown; lines are parted by "\\n"."""
    wanted = joined(nodes)
    first = ""
    for spelling, careful in _spellings(setting):
        written = _Writer(wanted, spelling, careful=careful).run()
        first = first or written
        if "\n\n" not in written and reads_as(written, setting) == wanted:
            return written
    return first


def reads_as(source: str, setting: Setting) -> list[Node]:
    """What inline markdown says where it stands alone."""
    source = re.sub(r"(?m)^[ \t]+", "", source).rstrip(" \t")
    if setting.in_table:
        source = source.replace("\\|", "|")
    env = {"references": setting.references}
    children = markdown().parseInline(source, env)[0].children or []
    labels = {key: entry.get("label", key) for key, entry in setting.references.items()}
    return joined(inline_nodes(children, labels, in_table=setting.in_table))


def _spellings(setting: Setting) -> Iterator[tuple[Setting, bool]]:
    style = setting.style
    yield setting, False
    other = {"*": "_", "_": "*", "**": "__", "__": "**"}
    for emphasis, strong in (
        ("*", "**"),
        (other[style.emphasis], style.strong),
        (style.emphasis, other[style.strong]),
    ):
        yield replace(setting, style=replace(style, emphasis=emphasis, strong=strong)), False
    yield replace(setting, style=replace(style, emphasis="*", strong="**")), True
    yield replace(setting, style=replace(style, emphasis="_", strong="**")), True


class _Writer:
    """One spelling. `careful` writes letters beside a sign of emphasis as references where that makes it one."""

    def __init__(self, nodes: list[Node], setting: Setting, *, careful: bool) -> None:
        self._nodes = nodes
        self._setting = setting
        self._careful = careful
        self._out: list[str] = []
        # Each open mark, and where in `_out` its text begins.
        self._open: list[tuple[Mark, int]] = []

    def run(self) -> str:
        for number, each in enumerate(self._nodes):
            marks = _outer(each)
            self._close_until(marks)
            for mark in self._to_open(marks, number):
                self._begin(mark, number)
            self._leaf(each, number)
        self._close_until([])
        written = "".join(self._out)
        if self._setting.in_table or self._setting.in_heading:
            return written
        return line_starts_escaped(written)

    def _to_open(self, marks: list[Mark], number: int) -> list[Mark]:
        """Those that last longest first, so that the others lie within."""
        missing = [mark for mark in marks if mark not in [each for each, _ in self._open]]
        return sorted(missing, key=lambda mark: -self._lasts(mark, number))

    def _lasts(self, mark: Mark, number: int) -> int:
        end = number
        while end < len(self._nodes) and mark in _outer(self._nodes[end]):
            end += 1
        return end

    def _close_until(self, marks: list[Mark]) -> None:
        keep = 0
        while keep < len(self._open) and self._open[keep][0] in marks:
            keep += 1
        while len(self._open) > keep:
            self._end(*self._open.pop())

    def _sign(self, mark: Mark) -> str:
        kind: str = mark["type"]
        return "~~" if kind == "strike" else getattr(self._setting.style, _DELIMITERS[kind])

    def _begin(self, mark: Mark, number: int) -> None:
        if mark["type"] == "link":
            self._out.append("[")
        elif mark["type"] in (*_DELIMITERS, "strike"):
            follows = plain_text(self._nodes[number])[:1]
            if self._careful and self._out and not _is_open(follows):
                self._out[-1] = _last_as_reference(self._out[-1])
            self._out.append(self._sign(mark))
        self._open.append((mark, len(self._out)))

    def _end(self, mark: Mark, since: int) -> None:
        if mark["type"] == "link":
            self._end_link(mark, since)
        elif mark["type"] in (*_DELIMITERS, "strike"):
            self._out.append(self._sign(mark))

    def _end_link(self, mark: Mark, since: int) -> None:
        attrs = attrs_of(mark)
        written = "".join(self._out[since:])
        href, title, label = attrs["href"] or "", attrs["title"], attrs["label"]
        plain = written.replace("\\", "")
        if not title and not label and _is_autolink(plain, href) and self._out[since - 1] == "[":
            self._out[since - 1 :] = [f"<{plain}>"]
        elif label and label_key(label) in self._setting.references:
            self._out.append("]" if label_key(written) == label_key(label) else f"][{label}]")
        else:
            self._out.append(f"]({destination(href)}{titled(title)})")

    def _leaf(self, each: Node, number: int) -> None:
        kind: str = each["type"]
        if kind == "text":
            self._text(each, number)
        elif kind == "hardBreak":
            self._out.append(self._break(number))
        elif kind == "image":
            self._out.append(self._image(attrs_of(each)))
        else:
            self._out.append(attrs_of(each).get("markdown") or "")

    def _text(self, each: Node, number: int) -> None:
        content: str = each["text"]
        if any(mark["type"] == "code" for mark in each.get("marks") or ()):
            self._out.append(code_span(re.sub(r"[\r\n]", " ", content), in_table=self._setting.in_table))
            return
        before = plain_text(self._nodes[number - 1])[-1:] if number else ""
        after = plain_text(self._nodes[number + 1])[:1] if number + 1 < len(self._nodes) else ""
        follows = self._nodes[number + 1]["type"] if number + 1 < len(self._nodes) else ""
        written = text_escaped(content, before, after, follows, in_table=self._setting.in_table)
        if number == 0 or self._nodes[number - 1]["type"] == "hardBreak":
            written = _edge_as_reference(written, at_start=True)
        if number == len(self._nodes) - 1 or follows == "hardBreak":
            written = _edge_as_reference(written, at_start=False)
        if written.startswith(":") and self._out and self._out[-1].endswith("]"):
            written = "\\" + written  # or it would define what stands in the brackets
        if self._careful and written and self._out and self._out[-1] in ("*", "_", "**", "__", "~~"):
            closing = len(_outer(self._nodes[number - 1])) > len(_outer(each)) if number else False
            written = _first_as_reference(written) if closing and not _is_open(before) else written
        self._out.append(written)

    def _break(self, number: int) -> str:
        if self._setting.in_table or self._setting.in_heading:
            return "<br>"
        beside = {self._nodes[near]["type"] for near in (number - 1, number + 1) if 0 <= near < len(self._nodes)}
        spaces = self._setting.style.hard_break == "  " and number > 0 and "hardBreak" not in beside
        return "  \n" if spaces else "\\\n"

    def _image(self, attrs: dict[str, Any]) -> str:
        alt = text_escaped(attrs["alt"] or "", "", "", "", in_table=self._setting.in_table)
        label = attrs["label"]
        if label and label_key(label) in self._setting.references:
            return f"![{alt}]" if label_key(alt) == label_key(label) else f"![{alt}][{label}]"
        return f"![{alt}]({destination(attrs['src'] or '')}{titled(attrs['title'])})"


def _outer(each: Node) -> list[Mark]:
    """The marks that are written as signs around; code is written with its text."""
    return [mark for mark in each.get("marks") or () if mark["type"] != "code"]


def _is_autolink(words: str, href: str) -> bool:
    if _AUTOLINK.fullmatch(href):
        return words == href or (href == f"mailto:{words}" and bool(_ADDRESS.fullmatch(words)))
    return False


def _is_open(character: str) -> bool:
    """Whether a letter or digit: beside those, a sign of emphasis is one."""
    return bool(character) and unicodedata.category(character)[0] in "LN"


def _last_as_reference(written: str) -> str:
    return written[:-1] + f"&#{ord(written[-1])};" if written and _is_open(written[-1]) else written


def _first_as_reference(written: str) -> str:
    return f"&#{ord(written[0])};" + written[1:] if _is_open(written[0]) else written


def _edge_as_reference(written: str, *, at_start: bool) -> str:
    """A blank at the edge of a line, which reading would take away. Blanks at the end of a line stay as they are typed
    unless they are of a kind that nobody types by chance."""
    if at_start and written[:1].isspace():
        return escaped(written[0]) + written[1:]
    if not at_start and written[-1:].isspace() and written[-1:] != " ":
        return written[:-1] + escaped(written[-1])
    return written
