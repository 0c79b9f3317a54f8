"""The outline of a YAML document: its keys and sequence indices with their lines.

Reads the events of libyaml, which have places, and builds no values: an alias stays an alias, no tag makes an object.
Documents of one file follow one another at the top level. Bad input gives an error with its line and column, and so
does nesting beyond any reason, for which libyaml's time is quadratic.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from redraft.formats.entries import Outline, unparsed
from redraft.formats.key_tree import KeyTree
from redraft.text.lines import count_breaks, split_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from yaml.error import Mark
    from yaml.events import Event, NodeEvent

_DEEPEST = 1000
# libyaml is of YAML 1.1 and ends lines at these three; YAML 1.2 and this program do not. They are put aside as
# characters of private use, one for one, so that every place stays true.
_ASIDE = {0x85: "\ue085", 0x2028: "\ue028", 0x2029: "\ue029"}
_BACK = {ord(aside): chr(original) for original, aside in _ASIDE.items()}
# Plain scalars that are no strings: the key 1 and the key "1" are two.
_NO_STRING = re.compile(r"[-+.\d].*|~|null|true|false|yes|no|on|off", re.IGNORECASE)


class _TooDeep(Exception):
    """The document nests deeper than anyone could read."""

    def __init__(self, mark: Mark) -> None:
        super().__init__(f"nested deeper than {_DEEPEST} levels")
        self.mark = mark


def outline_yaml(text: str, max_depth: int) -> Outline:
    """The outline of a YAML text down to `max_depth`."""
    import yaml

    text = text.translate(_ASIDE) if any(chr(code) in text for code in _ASIDE) else text
    reader = _Reader(KeyTree(max_depth), [line.strip() for line in split_lines(text)])
    try:
        # The stubs do not say what `parse` yields.
        events = cast("Iterator[Event]", yaml.parse(text, Loader=yaml.CSafeLoader))  # pyright: ignore[reportUnknownMemberType]
        for event in events:
            reader.take(event)
    except _TooDeep as bad:
        return _unparsed(str(bad), bad.mark, text)
    except yaml.MarkedYAMLError as bad:
        message = " ".join(filter(None, [bad.context, bad.problem]))
        return _unparsed(message, bad.problem_mark or bad.context_mark, text)
    except yaml.reader.ReaderError as bad:
        # libyaml counts the bytes before a character that it does not accept.
        before = text.encode("utf-8", "surrogatepass")[: bad.position].decode("utf-8", "ignore")
        return _unacceptable(text, len(before))
    except UnicodeEncodeError as bad:
        return _unacceptable(text, bad.start)
    return reader.tree.outline(reader.last_content)


def _unparsed(message: str, mark: Mark | None, text: str) -> Outline:
    """An error at a mark; libyaml puts the end of a document on a line of its own, though there may be none."""
    if mark is None:
        return unparsed(message, 0, 0)
    if mark.line > count_breaks(text):
        return unparsed(message, count_breaks(text), len(split_lines(text)[-1]))
    return unparsed(message, mark.line, mark.column)


def _unacceptable(text: str, place: int) -> Outline:
    before = text[:place]
    column = place - (max(before.rfind("\n"), before.rfind("\r")) + 1)
    character = f"U+{ord(text[place]):04X}" if place < len(text) else "the end"
    return unparsed(f"{character} is not allowed in YAML", count_breaks(before), column)


@dataclass(slots=True)
class _Reader:
    tree: KeyTree
    lines: list[str]
    # For each open collection whether its next node is a key; None in a sequence.
    _key_next: list[bool | None] = field(default_factory=list[bool | None])
    # The last line on which a node ended.
    _last: int = -1
    # Whether the last document is written in brackets, which close after its last key.
    _bracket: bool = False

    @property
    def last_content(self) -> int | None:
        """The line of the last node, if nothing but blank lines and comments follows it, and no bracket."""
        rest = self.lines[self._last + 1 :]
        return None if self._bracket or any(line and not line.startswith("#") for line in rest) else self._last

    def take(self, event: Event) -> None:
        import yaml

        match event:
            case yaml.ScalarEvent():
                self._begin(event, event.value, quoted=bool(event.style))
                self._end(self._scalar_end(event))
            case yaml.AliasEvent():
                self._begin(event, f"*{event.anchor}")
                self._end(event.end_mark.line)
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                self._open(event, keyed=isinstance(event, yaml.MappingStartEvent))
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                self.tree.close()
                self._key_next.pop()
                # A flow collection ends with its bracket; a block collection ends where its last node did, though
                # libyaml says where the next one begins.
                flow = event.end_mark.index > event.start_mark.index
                self._bracket = flow
                self._end(max(self._last, event.end_mark.line if flow else -1))
            case _:
                pass

    def _open(self, event: NodeEvent, *, keyed: bool) -> None:
        if len(self._key_next) >= _DEEPEST:
            raise _TooDeep(event.start_mark)
        self._begin(event, "?")
        self.tree.open(keyed=keyed)
        self._key_next.append(True if keyed else None)

    def _begin(self, event: NodeEvent, title: str, *, quoted: bool = False) -> None:
        if not self._key_next:
            return
        mark = event.start_mark
        if self._key_next[-1] is None:
            self.tree.element(self._dash(mark.line))
        elif self._key_next[-1]:
            self.tree.key(title.translate(_BACK), mark.line, mark.column, self._identity(event, title, quoted=quoted))

    def _identity(self, event: NodeEvent, title: str, *, quoted: bool) -> str:
        """What makes two keys the same. Merge keys may repeat, and collections as keys are not compared."""
        if title in ("<<", "?") and not quoted:
            return f"{title} {event.start_mark.index}"
        plain = not quoted and _NO_STRING.fullmatch(title)
        return f"plain {title}" if plain else f"string {title}"

    def _end(self, line: int) -> None:
        self._last = max(self._last, line)
        if not self._key_next:
            return
        if self._key_next[-1] is not None:
            self._key_next[-1] = not self._key_next[-1]
            if not self._key_next[-1]:
                return  # a key, whose value is still to come
        self.tree.end(self._last)

    def _dash(self, line: int) -> int:
        """The line of an element's dash, where the element itself begins further down."""
        above = range(self._last + 1, min(line, len(self.lines)))
        return next((number for number in above if self.lines[number].startswith("-")), line)

    def _scalar_end(self, event: Event) -> int:
        """The last line of a scalar; a block scalar is said to end where the next line begins."""
        first, last = event.start_mark.line, event.end_mark.line
        if event.end_mark.column == 0 and last > first:
            last -= 1
        while last > first and (last >= len(self.lines) or not self.lines[last]):
            last -= 1
        return last
