"""Keys and array indices with their lines: what JSON and YAML have in common.

A reader reports what it meets in the order of the document; this tracks the path to the current place, names array
elements by their index, and remembers the first duplicate key. Nesting is a list, so its depth costs no stack.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, cast

from redraft.formats.outline.outline import Outline, OutlineEntry, ParseError, build_tree, parse_failure
from redraft.text.lines import count_breaks, split_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from yaml.error import Mark
    from yaml.events import Event, NodeEvent


@dataclass(slots=True)
class _Level:
    """An open object (with the keys seen) or array (with the number of elements)."""

    keys: set[str] | None
    elements: int = 0
    # The entry of the current member, if there is one.
    entry: int | None = None


@dataclass(slots=True)
class KeyTree:
    """The outline of keys that a reader builds."""

    max_depth: int
    entries: list[OutlineEntry] = field(default_factory=list[OutlineEntry])
    levels: list[_Level] = field(default_factory=list[_Level])
    duplicate: ParseError | None = None

    @property
    def shown(self) -> bool:
        """Whether members of the open object or array become entries; deeper ones are only checked."""
        return len(self.levels) <= self.max_depth

    def open(self, *, keyed: bool) -> None:
        self.levels.append(_Level(set() if keyed else None))

    def close(self) -> None:
        self.levels.pop()

    def key(self, name: str, line: int, column: int, identity: str | None = None) -> None:
        """A key of the open object, where it begins; `identity` if equal names may be different keys."""
        level, identity = self.levels[-1], identity or name
        if level.keys is not None:
            if identity in level.keys and self.duplicate is None:
                self.duplicate = ParseError(f"the key {name!r} occurs twice in one object", line, column)
            level.keys.add(identity)
        self._begin(name, line)

    def element(self, line: int) -> None:
        """The next element of the open array."""
        level = self.levels[-1]
        self._begin(f"[{level.elements}]", line)
        level.elements += 1

    def end(self, line: int) -> None:
        """The value of the current member ends on this line."""
        number = self.levels[-1].entry if self.levels else None
        if number is not None:
            entry = self.entries[number]
            self.entries[number] = OutlineEntry(entry.title, entry.level, entry.line_start, line)

    def outline(self, last_line: int | None = None) -> Outline:
        """The finished outline; entries that reach `last_line`, the last with content, have no end."""
        entries = (
            OutlineEntry(
                entry.title, entry.level, entry.line_start, None if entry.line_end == last_line else entry.line_end
            )
            for entry in self.entries
        )
        return Outline("keys", build_tree(entries), error=self.duplicate)

    def _begin(self, title: str, line: int) -> None:
        level = self.levels[-1]
        level.entry = len(self.entries) if self.shown else None
        if self.shown:
            self.entries.append(OutlineEntry(title, len(self.levels), line, line))


# The outline of a JSON document: its keys and array indices with their lines.
#
# A strict reader of RFC 8259 that records positions instead of values, with a list instead of the stack. Invalid input
# gives an error with line and column. The last key has an end like any other, since the closing brace comes after it.


_Expect = Literal["value", "value or ]", "key", "key or }", ": after the key", ", or the end", "nothing more"]

_TOKEN = re.compile(
    r"[ \t\n]*+(?:(?P<mark>[\[\]{}:,])"
    r'|(?P<string>"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+")'
    r"|(?P<scalar>(?:-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?|true|false|null)(?![\w.+-]))"
    r"|(?P<end>\Z))"
)
_SPACE = re.compile(r"[ \t\n]*")


class _JsonSyntaxError(Exception):
    """What was expected, and where it was not found."""

    def __init__(self, expected: str, place: int) -> None:
        super().__init__(expected)
        self.place = place


def outline_json(text: str, max_depth: int) -> Outline:
    """The outline of a JSON text down to `max_depth`."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = text.removeprefix("\ufeff")
    reader = _JsonReader(text, KeyTree(max_depth))
    try:
        reader.read()
    except _JsonSyntaxError as bad:
        line = text.count("\n", 0, bad.place)
        column = bad.place - (text.rfind("\n", 0, bad.place) + 1)
        found = "the end of the document" if bad.place >= len(text) else repr(text[bad.place])
        return parse_failure(f"expected {bad}, found {found}", line, column)
    return reader.tree.outline()


@dataclass(slots=True)
class _JsonReader:
    text: str
    tree: KeyTree
    expect: _Expect = "value"
    # The line of the last requested position: positions only grow, so each newline is counted once.
    _line: int = 0
    _line_start: int = 0
    _counted: int = 0
    _closers: list[str] = field(default_factory=list[str])

    def read(self) -> None:
        place, match = 0, _TOKEN.match
        while token := match(self.text, place):
            kind, place = token.lastgroup, token.end()
            if kind == "mark":
                self._mark(token["mark"], place - 1)
            elif kind == "string":
                self._string(token["string"], token.start("string"))
            elif kind == "scalar":
                self._scalar(token.start("scalar"))
            elif self.expect == "nothing more":
                return
            else:
                raise _JsonSyntaxError(self.expect, len(self.text))
        raise _JsonSyntaxError(self.expect, self._after_space(place))

    def _mark(self, mark: str, place: int) -> None:
        if mark in "{[":
            self._value(place)
            self.tree.open(keyed=mark == "{")
            self._closers.append("}" if mark == "{" else "]")
            self.expect = "key or }" if mark == "{" else "value or ]"
        elif mark in "}]":
            self._close(mark, place)
        elif mark == ":" and self.expect == ": after the key":
            self.expect = "value"
        elif mark == "," and self.expect == ", or the end":
            self.expect = "key" if self._closers[-1] == "}" else "value"
        else:
            raise _JsonSyntaxError(self.expect, place)

    def _close(self, mark: str, place: int) -> None:
        if self.expect not in ("key or }", "value or ]", ", or the end") or self._closers[-1] != mark:
            raise _JsonSyntaxError(self._expectation(), place)
        self._closers.pop()
        self.tree.close()
        self._end_value(place)

    def _string(self, string: str, place: int) -> None:
        if self.expect not in ("key", "key or }"):
            self._scalar(place)
            return
        line = self._at(place)
        self.tree.key(_unescape(string), line, place - self._line_start)
        self.expect = ": after the key"

    def _scalar(self, place: int) -> None:
        self._value(place)
        self._end_value(place)

    def _value(self, place: int) -> None:
        """A value begins here, if one may."""
        if self.expect not in ("value", "value or ]"):
            raise _JsonSyntaxError(self._expectation(), place)
        if self._closers and self._closers[-1] == "]":
            self.tree.element(self._at(place))

    def _end_value(self, place: int) -> None:
        if self.tree.levels and self.tree.shown:
            self.tree.end(self._at(place))
        self.expect = ", or the end" if self._closers else "nothing more"

    def _expectation(self) -> str:
        return f", or {self._closers[-1]}" if self.expect == ", or the end" else self.expect

    def _at(self, place: int) -> int:
        if breaks := self.text.count("\n", self._counted, place):
            self._line += breaks
            self._line_start = self.text.rfind("\n", self._counted, place) + 1
        self._counted = place
        return self._line

    def _after_space(self, place: int) -> int:
        space = _SPACE.match(self.text, place)
        return space.end() if space else place


def _unescape(string: str) -> str:
    """The decoded key; undecoded if it contains half a surrogate pair, which no encoding can represent."""
    if "\\" not in string:
        return string[1:-1]
    name: str = json.loads(string)
    return string[1:-1] if any("\ud800" <= character <= "\udfff" for character in name) else name


# The outline of a YAML document: its keys and sequence indices with their lines.
#
# Uses the events of libyaml, which have positions, and builds no values: an alias stays an alias, no tag creates an
# object. Several documents in one file follow one another at the top level. Invalid input gives an error with line
# and column, and so does extreme nesting, for which libyaml takes quadratic time.


_DEEPEST = 1000
# libyaml implements YAML 1.1 and ends lines at these three; YAML 1.2 and this program do not. They are replaced with
# private-use characters, one for one, so that every position stays valid.
_ASIDE = {0x85: "\ue085", 0x2028: "\ue028", 0x2029: "\ue029"}
_BACK = {ord(aside): chr(original) for original, aside in _ASIDE.items()}
# Plain scalars that are not strings: the key 1 and the key "1" are different.
_NO_STRING = re.compile(r"[-+.\d].*|~|null|true|false|yes|no|on|off", re.IGNORECASE)


class _TooDeep(Exception):
    """The document is nested deeper than anyone could read."""

    def __init__(self, mark: Mark) -> None:
        super().__init__(f"nested deeper than {_DEEPEST} levels")
        self.mark = mark


def outline_yaml(text: str, max_depth: int) -> Outline:
    """The outline of a YAML text down to `max_depth`."""
    import yaml

    text = text.translate(_ASIDE) if any(chr(code) in text for code in _ASIDE) else text
    reader = _YamlReader(KeyTree(max_depth), [line.strip() for line in split_lines(text)])
    try:
        # The stubs do not say what `parse` yields.
        events = cast("Iterator[Event]", yaml.parse(text, Loader=yaml.CSafeLoader))  # pyright: ignore[reportUnknownMemberType]
        for event in events:
            reader.take(event)
    except _TooDeep as bad:
        return _failure_at(str(bad), bad.mark, text)
    except yaml.MarkedYAMLError as bad:
        message = " ".join(filter(None, [bad.context, bad.problem]))
        return _failure_at(message, bad.problem_mark or bad.context_mark, text)
    except yaml.reader.ReaderError as bad:
        # libyaml counts the bytes before an invalid character.
        before = text.encode("utf-8", "surrogatepass")[: bad.position].decode("utf-8", "ignore")
        return _character_failure(text, len(before))
    except UnicodeEncodeError as bad:
        return _character_failure(text, bad.start)
    return reader.tree.outline(reader.last_content)


def _failure_at(message: str, mark: Mark | None, text: str) -> Outline:
    """An error at a mark; libyaml puts the end of a document on a line of its own, which may not exist."""
    if mark is None:
        return parse_failure(message, 0, 0)
    if mark.line > count_breaks(text):
        return parse_failure(message, count_breaks(text), len(split_lines(text)[-1]))
    return parse_failure(message, mark.line, mark.column)


def _character_failure(text: str, place: int) -> Outline:
    before = text[:place]
    column = place - (max(before.rfind("\n"), before.rfind("\r")) + 1)
    character = f"U+{ord(text[place]):04X}" if place < len(text) else "the end"
    return parse_failure(f"{character} is not allowed in YAML", count_breaks(before), column)


@dataclass(slots=True)
class _YamlReader:
    tree: KeyTree
    lines: list[str]
    # For each open collection, whether its next node is a key; None in a sequence.
    _key_next: list[bool | None] = field(default_factory=list[bool | None])
    # The last line on which a node ended.
    _last: int = -1
    # Whether the last document is in flow style, whose brackets close after its last key.
    _bracket: bool = False

    @property
    def last_content(self) -> int | None:
        """The line of the last node, if only blank lines and comments follow it, and no bracket."""
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
                # A flow collection ends with its bracket; a block collection ends with its last node, although libyaml
                # reports where the next one begins.
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
        """What makes two keys equal. Merge keys may repeat, and collections as keys are not compared."""
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
        """The line of an element's dash, if the element itself begins further down."""
        above = range(self._last + 1, min(line, len(self.lines)))
        return next((number for number in above if self.lines[number].startswith("-")), line)

    def _scalar_end(self, event: Event) -> int:
        """The last line of a scalar; libyaml reports the end of a block scalar on the next line."""
        first, last = event.start_mark.line, event.end_mark.line
        if event.end_mark.column == 0 and last > first:
            last -= 1
        while last > first and (last >= len(self.lines) or not self.lines[last]):
            last -= 1
        return last
