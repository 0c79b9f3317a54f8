"""Write the content of a paragraph as markdown that parses to the same nodes.

Characters are escaped only where they could be markup: what a person writes stays as plain as possible. Which
emphasis character works depends on the characters around it; so several spellings are tried, and the first that parses
back to the original is used.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from redraft.formats.interrupt import check_interrupt
from redraft.formats.rich.parser import inline_nodes
from redraft.formats.rich.schema import Mark, Node, attrs_of, join_texts, plain_text
from redraft.formats.rich.syntax import markdown_parser

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from redraft.formats.rich.style import Style

# Link destinations, titles and labels in markdown. Pure.


_NEEDS_BRACKETS = re.compile(r"[\s<>\x00-\x1f]|^$")
_ENTITY_SIGN = re.compile(r"&(?=(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)")
_ESCAPED = re.compile(r"\\(?=[!-/:-@\[-`{-~])")


def link_destination(href: str) -> str:
    """A link's destination in parentheses."""
    written = _ENTITY_SIGN.sub("&amp;", _ESCAPED.sub(r"\\\\", href))
    if _NEEDS_BRACKETS.search(written):
        return "<" + re.sub(r"([<>])", r"\\\1", re.sub(r"[\r\n]+", " ", written)) + ">" if href else ""
    return written if _is_balanced(written) else re.sub(r"([()])", r"\\\1", written)


def link_title(title: str | None) -> str:
    """A link's title with the space before it; empty if there is none."""
    if not title:
        return ""
    written = _ENTITY_SIGN.sub("&amp;", title.replace("\\", "\\\\"))
    written = re.sub(r"\n[ \t]*(?=\n)", "\n&#10;", written)
    if '"' in written and "'" not in written:
        return f" '{written}'"
    return ' "' + written.replace('"', '\\"') + '"'


def label_key(label: str) -> str:
    """A reference's label, normalised as in markdown-it."""
    from markdown_it.common.utils import normalizeReference

    return normalizeReference(label)


def _is_balanced(href: str) -> bool:
    depth = 0
    for character in re.findall(r"(?<!\\)[()]", href):
        depth += 1 if character == "(" else -1
        if depth < 0:
            return False
    return depth == 0


# Escapes: which characters of a text would be parsed as markdown where they are. Pure.


_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_SIGNS = re.compile(r"[\\`*_\[\]<&~!|]")
# What would begin another block at the start of a line: the part to keep, and the character to escape.
_LINE_STARTS = re.compile(
    r"(?P<before>[ \t]{0,3})(?:(?P<number>[0-9]{1,9})(?P<point>[.)])(?=[ \t]|$)"
    r"|(?P<sign>\#(?=\#{0,5}(?:[ \t]|$))|[-+*](?=[ \t]|$)|>|[-=](?=[-= \t]*$)"
    r"|-(?=(?:[ \t]*-){2,}[ \t]*$)|\*(?=(?:[ \t]*\*){2,}[ \t]*$)|_(?=(?:[ \t]*_){2,}[ \t]*$)"
    r"|~(?=~~)|:(?=::)|:(?=-)|:(?=:[A-Za-z])|\|(?=[ \t]*:?-)|-(?=-*[ \t]*[:|])|!(?=!!)|\?(?=\?\?)|\{(?=[%{:])|\$(?=\$)"
    r"|\+(?=\+\+)))"
)


def character_reference(character: str) -> str:
    """A character as a character reference."""
    return "&nbsp;" if character == "\u00a0" else f"&#{ord(character)};"


def escape_text(
    content: str, before: str, after: str, follows: str, *, in_table: bool, bare_brackets: bool = False
) -> str:
    """A text between the characters `before` and `after`, followed by a node of the type `follows`."""
    pieces: list[str] = []
    at = 0
    for found in _SIGNS.finditer(content):
        place = found.start()
        previous = content[place - 1] if place else before
        following = content[place + 1] if place + 1 < len(content) else after
        last = place + 1 == len(content)
        if bare_brackets and content[place] in "[]" and (previous or following in "[!"):
            continue
        if _is_markup(content, place, previous, following, last=last, follows=follows, in_table=in_table):
            pieces += (content[at:place], "\\")
            at = place
    pieces.append(content[at:])
    return "".join(pieces).replace("\n", "&#10;").replace("\r", "&#13;")


def _is_markup(
    content: str, at: int, previous: str, following: str, *, last: bool, follows: str, in_table: bool
) -> bool:
    sign = content[at]
    match sign:
        case "`" | "[" | "]":
            return True
        case "\\":
            return following in _PUNCTUATION or last
        case "*":
            return at == 0 or last or not (previous.isspace() and following.isspace())
        case "_":
            return not (previous.isalnum() and following.isalnum())
        case "<":
            return last or following.isalpha() or following in "/!?"
        case "&":
            return bool(_ENTITY.match(content, at)) or (last and bool(follows))
        case "~":
            return "~" in (previous, following) or (last and bool(follows))
        case "!":
            return last and follows in ("text", "inlineSource")
        case _:
            return in_table


def escape_line_starts(written: str) -> str:
    """The lines of a paragraph, escaped so that none begins another block."""
    return "\n".join(map(_escape_line_start, written.split("\n")))


def _escape_line_start(line: str) -> str:
    found = _LINE_STARTS.match(line)
    if found is None:
        return line
    place = found.start("point") if found["number"] else found.start("sign")
    return f"{line[:place]}\\{line[place:]}"


def code_span(content: str, *, in_table: bool) -> str:
    """Code between as many backticks as necessary."""
    runs = {len(run) for run in re.findall(r"`+", content)}
    ticks = "`" * next(count for count in range(1, len(runs) + 2) if count not in runs)
    blank = content.startswith(" ") and content.endswith(" ") and content.strip(" ")
    pad = " " if content[:1] == "`" or content[-1:] == "`" or blank else ""
    if in_table:
        content = content.replace("|", "\\|")
    return f"{ticks}{pad}{content}{pad}{ticks}"


_AUTOLINK = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>\x00-\x1f]*")
_ADDRESS = re.compile(r"[\w.!#$%&'*+/=?^`{|}~-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*")
_DELIMITERS = {"bold": "strong", "italic": "emphasis"}


@dataclass(frozen=True, slots=True)
class InlineContext:
    """Where inline content is written: the style, whether in a table or a heading, and the link references.
    `bare_brackets` leaves brackets unescaped, as in a wiki link or a callout's kind."""

    style: Style
    references: dict[str, Any]
    in_table: bool = False
    in_heading: bool = False
    bare_brackets: bool = False


def write_inline(nodes: Sequence[Node], context: InlineContext) -> str:
    """The markdown; lines are separated with "\\n"."""
    wanted = join_texts(nodes)
    first = ""
    brackets = any("[" in each.get("text", "") or "]" in each.get("text", "") for each in wanted)
    for spelling, careful in _spellings(context, brackets=brackets):
        written = _InlineWriter(wanted, spelling, careful=careful).run()
        first = first or written
        if "\n\n" not in written and parse_inline(written, context) == wanted:
            return written
    return first


def parse_inline(source: str, context: InlineContext) -> list[Node]:
    """The nodes of inline markdown, parsed alone."""
    source = re.sub(r"(?m)^[ \t]+", "", source).rstrip(" \t")
    if context.in_table:
        source = source.replace("\\|", "|")
    env = {"references": context.references}
    children = markdown_parser().parseInline(source, env)[0].children or []
    labels = {key: entry.get("label", key) for key, entry in context.references.items()}
    return join_texts(inline_nodes(children, labels, in_table=context.in_table))


def _spellings(context: InlineContext, *, brackets: bool) -> Iterator[tuple[InlineContext, bool]]:
    style = context.style
    if brackets:
        yield replace(context, bare_brackets=True), False
    yield context, False
    other = {"*": "_", "_": "*", "**": "__", "__": "**"}
    for emphasis, strong in (
        ("*", "**"),
        (other[style.emphasis], style.strong),
        (style.emphasis, other[style.strong]),
    ):
        yield replace(context, style=replace(style, emphasis=emphasis, strong=strong)), False
    yield replace(context, style=replace(style, emphasis="*", strong="**")), True
    yield replace(context, style=replace(style, emphasis="_", strong="**")), True


class _InlineWriter:
    """One spelling. `careful` writes letters next to an emphasis character as references if that is necessary."""

    def __init__(self, nodes: list[Node], context: InlineContext, *, careful: bool) -> None:
        self._nodes = nodes
        self._setting = context
        self._careful = careful
        self._out: list[str] = []
        # Each open mark, and where in `_out` its text begins.
        self._open: list[tuple[Mark, int]] = []

    def run(self) -> str:
        for number, each in enumerate(self._nodes):
            check_interrupt()
            marks = _outer(each)
            self._close_until(marks)
            for mark in self._to_open(marks, number):
                self._begin(mark, number)
            self._leaf(each, number)
        self._close_until([])
        written = "".join(self._out)
        if self._setting.in_table or self._setting.in_heading:
            return written
        return escape_line_starts(written)

    def _to_open(self, marks: list[Mark], number: int) -> list[Mark]:
        """The longest-lasting first, so that the others are nested inside."""
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
            if self._careful and self._out and not _is_alphanumeric(follows):
                self._out[-1] = _encode_last(self._out[-1])
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
            self._out.append(f"]({link_destination(href)}{link_title(title)})")

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
        written = escape_text(
            content, before, after, follows, in_table=self._setting.in_table, bare_brackets=self._setting.bare_brackets
        )
        if number == 0 or self._nodes[number - 1]["type"] == "hardBreak":
            written = _encode_edge(written, at_start=True)
        if number == len(self._nodes) - 1 or follows == "hardBreak":
            written = _encode_edge(written, at_start=False)
        if written.startswith(":") and self._out and self._out[-1].endswith("]"):
            written = "\\" + written  # or it would be a link definition
        if self._careful and written and self._out and self._out[-1] in ("*", "_", "**", "__", "~~"):
            closing = len(_outer(self._nodes[number - 1])) > len(_outer(each)) if number else False
            written = _encode_first(written) if closing and not _is_alphanumeric(before) else written
        self._out.append(written)

    def _break(self, number: int) -> str:
        if self._setting.in_table or self._setting.in_heading:
            return "<br>"
        beside = {self._nodes[near]["type"] for near in (number - 1, number + 1) if 0 <= near < len(self._nodes)}
        spaces = self._setting.style.hard_break == "  " and number > 0 and "hardBreak" not in beside
        return "  \n" if spaces else "\\\n"

    def _image(self, attrs: dict[str, Any]) -> str:
        alt = escape_text(attrs["alt"] or "", "", "", "", in_table=self._setting.in_table)
        label = attrs["label"]
        if label and label_key(label) in self._setting.references:
            return f"![{alt}]" if label_key(alt) == label_key(label) else f"![{alt}][{label}]"
        return f"![{alt}]({link_destination(attrs['src'] or '')}{link_title(attrs['title'])})"


def _outer(each: Node) -> list[Mark]:
    """The marks that are written around the text; code is written with its text."""
    return [mark for mark in each.get("marks") or () if mark["type"] != "code"]


def _is_autolink(words: str, href: str) -> bool:
    if _AUTOLINK.fullmatch(href):
        return words == href or (href == f"mailto:{words}" and bool(_ADDRESS.fullmatch(words)))
    return False


def _is_alphanumeric(character: str) -> bool:
    """Whether it is a letter or digit: next to those, an emphasis character is one."""
    return bool(character) and unicodedata.category(character)[0] in "LN"


def _encode_last(written: str) -> str:
    return written[:-1] + f"&#{ord(written[-1])};" if written and _is_alphanumeric(written[-1]) else written


def _encode_first(written: str) -> str:
    return f"&#{ord(written[0])};" + written[1:] if _is_alphanumeric(written[0]) else written


def _encode_edge(written: str, *, at_start: bool) -> str:
    """Encode an unusual space at the edge of a line, which nobody types by chance and which parsing would remove.
    Ordinary ones stay as they are typed at the end, and are dropped at the start."""
    if at_start:
        written = written.lstrip(" ")
    if at_start and written[:1].isspace():
        return character_reference(written[0]) + written[1:]
    if not at_start and written[-1:].isspace() and written[-1:] != " ":
        return written[:-1] + character_reference(written[-1])
    return written
