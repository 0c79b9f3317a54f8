"""Components: named regions of a document, between `<!-- agent:NAME -->` and `<!-- /agent:NAME -->`.

Marker text inside code (fenced, or in backticks on one line) is plain text, so that a document can explain markers. An
unclosed fence hides nothing, because a person may still be typing it; the end of a quotation or a list item closes
what was opened there. Parsing is strict: a marker without its partner is refused with its line, never repaired, since
nobody knows where the region was meant to end.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from redraft.errors import Refused
from redraft.text.frontmatter_block import frontmatter_end
from redraft.text.lines import adopt_newlines, count_breaks, split_lines
from redraft.text.markdown_blocks import fences

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from redraft.text.markdown_blocks import CodeBlock

Word = Literal["agent", "patch"]

NAME = r"[a-zA-Z0-9][a-zA-Z0-9-]*"
_MARKERS = {
    word: re.compile(rf"<!--[ \t]*+(?P<close>/)?{word}:(?P<name>{NAME})(?P<rest>(?:[ \t]+[^\r\n<>]*?)?)[ \t]*-->")
    for word in ("agent", "patch")
}
_ATTRIBUTE = re.compile(r"""([A-Za-z_][\w-]*)=("[^"]*"|'[^']*'|\S+)""")
_TICKS = re.compile(r"`+")


class Marker(NamedTuple):
    """A marker and its position."""

    name: str
    is_close: bool
    attributes: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Component:
    """A region of a text, by offsets. `inner_start` to `inner_end` is what is between its markers."""

    name: str
    start: int
    inner_start: int
    inner_end: int
    end: int
    attributes: dict[str, str] = field(default_factory=dict[str, str])

    def inner(self, text: str) -> str:
        return text[self.inner_start : self.inner_end]

    def holds(self, other: Component) -> bool:
        return self.inner_start <= other.start and other.end <= self.inner_end


@lru_cache(maxsize=4)  # a write checks the base, the person's text and the result several times each
def components(text: str) -> tuple[Component, ...]:
    """The components in the order in which they open; raises `conflict`, with the line, if markers do not pair."""
    found: list[Component] = []
    waiting: list[tuple[int, Marker]] = []
    for marker in markers(text, "agent"):
        if not marker.is_close:
            waiting.append((len(found), marker))
            found.append(Component(marker.name, marker.start, marker.end, marker.end, marker.end))
            continue
        if not waiting or waiting[-1][1].name != marker.name:
            raise _unpaired_error(text, marker, "closes nothing")
        place, opening = waiting.pop()
        attributes = {key: value.strip("\"'") for key, value in _ATTRIBUTE.findall(opening.attributes)}
        found[place] = Component(marker.name, opening.start, opening.end, marker.start, marker.end, attributes)
    if waiting:
        raise _unpaired_error(text, waiting[-1][1], "is never closed")
    return tuple(found)


def _unpaired_error(text: str, marker: Marker, what: str) -> Refused:
    line = count_breaks(text[: marker.start]) + 1
    return Refused(f"{text[marker.start : marker.end]} in line {line} {what}.", code="conflict", line=line)


def component(text: str, name: str) -> Component | None:
    """The one component of this name, or None; raises `anchor_ambiguous` if there are several."""
    named = [each for each in components(text) if each.name == name]
    if len(named) > 1:
        lines = ", ".join(str(count_breaks(text[: each.start]) + 1) for each in named)
        raise Refused(f"There are several components {name!r}, in the lines {lines}.", code="anchor_ambiguous")
    return named[0] if named else None


def is_undisturbed(before: str, after: str, place: Component) -> bool:
    """Whether a text still parses after something was written into a component: every other component is where it was,
    and this one ends where it should."""
    growth = len(after) - len(before)
    try:
        now = components(after)
    except Refused:
        return False
    same = [each for each in now if each.start == place.start]
    if len(same) != 1 or same[0].inner_end != place.inner_end + growth:
        return False
    outside = [each for each in components(before) if not place.holds(each)]
    moved = [(each.name, each.start + growth * (each.start >= place.inner_end)) for each in outside]
    return [(each.name, each.start) for each in now if not same[0].holds(each)] == moved


def markers(text: str, word: Word, *, in_code: bool = False) -> Iterator[Marker]:
    """The markers in a text, in order; those in code only on request."""
    if f"{word}:" not in text:
        return
    hidden = iter([] if in_code else _find_closed_code(text))
    start = end = -1
    for match in _MARKERS[word].finditer(text):
        if match["close"] and match["rest"].strip():
            continue
        while end <= match.start() and (after := next(hidden, None)) is not None:
            start, end = after.start, after.end
        if start <= match.start() < end or (not in_code and _is_in_backticks(text, match.start(), match.end())):
            continue
        yield Marker(match["name"], match["close"] is not None, match["rest"], match.start(), match.end())


def _find_closed_code(text: str) -> list[CodeBlock]:
    """The fenced code that hides markers."""
    return fences(text, frontmatter_end(text), closed=True)


def _line(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the line of a position begins and ends. The search for a return stays within it, to remain linear."""
    begin = text.rfind("\n", 0, start) + 1
    begin = text.rfind("\r", begin, start) + 1 or begin
    stop = text.find("\n", end)
    stop = len(text) if stop < 0 else stop
    back = text.find("\r", end, stop)
    return begin, stop if back < 0 else back


def _is_in_backticks(text: str, start: int, end: int) -> bool:
    """Whether a position is in inline code on its line."""
    begin, stop = _line(text, start, end)
    if "`" not in text[begin:start]:
        return False
    opened: re.Match[str] | None = None
    for ticks in _TICKS.finditer(text, begin, stop):
        if opened is None:
            if ticks.start() > start:
                return False
            opened = ticks
        elif len(ticks[0]) == len(opened[0]):
            if ticks.start() >= end:
                return True
            opened = None
    return False


def escape_markers(text: str, *, in_code: bool = False) -> str:
    """The text with its markers escaped, so that they read the same but mark nothing, and with no fence left open.

    `in_code` also escapes markers in code, where the escapes will be visible.
    """
    pieces: list[str] = []
    at = 0
    for marker in markers(text, "agent", in_code=in_code):
        pieces += [text[at : marker.start], "&lt;"]  # like `_tame`
        at = marker.start + 1
    return _close_fences("".join([*pieces, text[at:]]))


def swap_fences(text: str) -> str:
    """The same text with its fences in the other character, and markers inside them escaped: for a document in which
    somebody has just opened a fence, which the first fence of the text would close."""
    pieces: list[str] = []
    at = 0
    for block in _find_closed_code(text):
        pieces += [text[at : block.start], _other_sign(text, block)]
        at = block.end
    return "".join([*pieces, text[at:]])


def _tame(marker: re.Match[str]) -> str:
    return f"&lt;{marker[0][1:]}"


def _other_sign(text: str, block: CodeBlock) -> str:
    """Fenced code with the other fence character, in a run longer than any inside, and with markers escaped."""
    code = text[block.start : block.end]
    before, inside = code.split(block.fence, 1)
    sign = "~" if block.fence[0] == "`" else "`"
    if sign in split_lines(inside)[0]:
        return _MARKERS["agent"].sub(_tame, code)  # its backticks could not be told from the fence's
    longest = max((len(run[0]) for run in re.finditer(re.escape(sign) + "+", code)), default=0)
    fence = sign * max(len(block.fence), longest + 1)
    made = code[: len(before)] + fence + inside
    if block.closed:
        end = len(made.rstrip(" \t\r\n"))
        made = made[:end].rstrip(block.fence[0]) + fence + made[end:]
    return _MARKERS["agent"].sub(_tame, made)


def _close_fences(text: str) -> str:
    """The text with a fence that is open at its end closed there."""
    found = fences(text)
    if not found or found[-1].closed or found[-1].end < len(text):
        return text
    block = found[-1]
    lead = text[block.start : text.index(block.fence, block.start)]
    # A list marker would start another item.
    lead = re.sub(r"[^ \t>]", " ", lead)
    end = "" if text.endswith(("\n", "\r")) else "\n"
    return f"{text}{end}{lead}{block.fence}\n"


# Write into a component: an entry instead of its content, after it or before it.
#
# Bytes outside the component stay as they are, and so do the old entries that are kept. Afterwards the document must
# have the same components as before: `fill_component` refuses rather than leave markers that do not pair. Nothing here
# reads the clock: a caller that wants a timestamp before an entry adds it.


FillMode = Literal["replace", "append", "prepend"]
FILL_MODES: tuple[FillMode, ...] = get_args(FillMode)

_FIRST_BREAK = re.compile(r"[ \t]*(?:\r\n?|\n)")
_INDENT = re.compile(r"(?<=[\r\n])[ \t]*\Z")


@dataclass(frozen=True, slots=True)
class FillOptions:
    """How entries are added to a component. `max_entries` limits its non-empty lines; 0 means no limit."""

    mode: FillMode = "replace"
    max_entries: int = 0


def to_entry(content: str) -> str:
    """Content as an entry: without the line break after a marker, and ending in one line break; "" for nothing."""
    trimmed = _FIRST_BREAK.sub("", content, count=1) if _FIRST_BREAK.match(content) else content
    trimmed = trimmed.rstrip()
    return f"{trimmed}\n" if trimmed else ""


def fill_component(text: str, place: Component, content: str, options: FillOptions) -> str:
    """The text with an entry in this component; raises `conflict` if the document could not be parsed afterwards."""
    entry = to_entry(content)
    # The second and the third are for a document in which somebody has just opened a fence.
    for tame in (escape_markers(entry), escape_markers(entry, in_code=True), swap_fences(escape_markers(entry))):
        inner = _new_inner(place.inner(text), adopt_newlines(tame, text), options)
        result = text[: place.inner_start] + inner + text[place.inner_end :]
        if is_undisturbed(text, result, place) and not _lost(text, result):
            return result
    raise Refused(
        f"With this content the document's markers would no longer match; {place.name!r} was left alone.",
        code="conflict",
        component=place.name,
    )


def _lost(before: str, after: str) -> Counter[str]:
    """The components that are there no more."""
    return Counter(each.name for each in components(before)) - Counter(each.name for each in components(after))


def _new_inner(inner: str, entry: str, options: FillOptions) -> str:
    """The new text between the markers."""
    opening = _FIRST_BREAK.match(inner)
    if opening is None and options.mode == "replace" and entry.count("\n") <= 1 and not re.search(r"[\r\n]", inner):
        nested = [inner[each.start : each.end] for each in _outermost(inner)]
        return " ".join([entry.rstrip("\r\n"), *nested])  # a component within a line stays there
    head = opening[0] if opening else ""
    indent = _INDENT.search(inner)
    tail = indent[0] if indent and indent.start() >= len(head) else ""
    old = inner[len(head) : len(inner) - len(tail)]
    if not head and (old or entry):
        head = adopt_newlines("\n", inner)
    if old and old[-1] not in "\r\n":
        old += adopt_newlines("\n", inner)
    if not entry and options.mode != "replace":
        return inner
    return head + _entries(old, entry, options) + tail


def _entries(old: str, entry: str, options: FillOptions) -> str:
    if options.mode == "replace":
        return entry + _nested(old)  # what fills a component does not speak of those within it
    room = options.max_entries - sum(1 for line in split_lines(entry) if line.strip())
    after = options.mode == "append"
    entries = old if not options.max_entries else _newest_lines(old, max(room, 0), last=after)
    return entries + entry if after else entry + entries


def _newest_lines(old: str, room: int, *, last: bool) -> str:
    """As many of the old lines as fit, from the end or the beginning. Code and nested components are kept whole rather
    than cut."""
    lines = split_lines(old)
    places = [number for number, line in enumerate(lines) if line.strip()]
    if len(places) <= room:
        return old
    if last:
        at = sum(map(len, lines[: places[-room]])) if room else len(old)
    else:
        at = sum(map(len, lines[: places[room - 1] + 1])) if room else 0
    for start, end in _unbroken(old):
        if start < at < end:
            at = start if last else end
    cut, kept = (old[:at], old[at:]) if last else (old[at:], old[:at])
    return _nested(cut) + kept if last else kept + _nested(cut)


def _outermost(text: str) -> list[Component]:
    """The components in a text, without those nested in another."""
    try:
        found = components(text)
    except Refused:
        return []
    return [each for each in found if not any(other.holds(each) for other in found)]


def _nested(text: str) -> str:
    """The components in a text, each with its content on lines of its own."""
    pieces: list[str] = []
    for each in _outermost(text):
        indent = _INDENT.search(text, 0, each.start)
        piece = text[each.start if indent is None else indent.start() : each.end]
        pieces.append(piece + adopt_newlines("\n", text))
    return "".join(pieces)


def _unbroken(text: str) -> list[tuple[int, int]]:
    try:
        within = components(text)
    except Refused:
        within = ()
    code = [(block.start, block.end) for block in _find_closed_code(text)]
    return sorted([*code, *((each.start, each.end) for each in within)], reverse=True)


# An agent's answer: patch blocks, one for each component that it changes, and the text around them.
#
#     <!-- patch:status -->
#     Done.
#     <!-- /patch:status -->
#
# Within a block only its own end counts, so an answer may mention other blocks; markers in code are text. An unclosed
# block means that the answer was cut off, and nothing of it is used.


@dataclass(frozen=True, slots=True)
class PatchBlock:
    """What an answer writes into one component."""

    component: str
    content: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A parsed answer. `unmatched` is the text outside every block, "" if it is only white space."""

    patches: tuple[PatchBlock, ...]
    unmatched: str

    def by_component(self) -> dict[str, str]:
        """The content for each component; several blocks for one are joined."""
        joined: dict[str, str] = {}
        for patch in self.patches:
            before = joined.get(patch.component)
            joined[patch.component] = patch.content if before is None else _join_contents(before, patch.content)
        return joined


def parse_answer(text: str) -> Answer:
    """The patches and the rest; raises `model_output_cut_off` if a block is never closed."""
    answer = _parse_blocks(text, markers(text, "patch"))
    if answer is None:  # a fence left open in one block may hide its end
        answer = _parse_blocks(text, markers(text, "patch", in_code=True))
    if answer is None:
        raise Refused("The answer ends inside a patch block; none of it was used.", code="model_output_cut_off")
    return answer


def _parse_blocks(text: str, found: Iterable[Marker]) -> Answer | None:
    patches: list[PatchBlock] = []
    around: list[str] = []
    at = 0
    opened: Marker | None = None
    for marker in found:
        if opened is None and not marker.is_close:
            around.append(text[at : marker.start])
            opened = marker
        elif opened is not None and marker.is_close and marker.name == opened.name:
            patches.append(PatchBlock(opened.name, text[opened.end : marker.start]))
            opened, at = None, marker.end
    if opened is not None:
        return None
    around.append(text[at:])
    unmatched = "\n\n".join(piece.strip("\r\n") for piece in around if piece.strip())
    return Answer(tuple(patches), unmatched)


def _join_contents(before: str, content: str) -> str:
    gap = "" if before.endswith(("\n", "\r")) or content.startswith(("\n", "\r")) else "\n"
    return before + gap + (content.removeprefix("\r").removeprefix("\n") if before.endswith("\n") else content)
