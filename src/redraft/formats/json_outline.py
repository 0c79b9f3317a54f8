"""The outline of a JSON document: its keys and array indices with their lines.

A strict reader of RFC 8259 that keeps places instead of values, and a list instead of the stack. Bad input gives an
error with its line and column. The last key has an end like any other, for the closing brace comes after it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Literal

from redraft.formats.entries import Outline, unparsed
from redraft.formats.key_tree import KeyTree

_Expect = Literal["value", "value or ]", "key", "key or }", ": after the key", ", or the end", "nothing more"]

_TOKEN = re.compile(
    r"[ \t\n]*+(?:(?P<mark>[\[\]{}:,])"
    r'|(?P<string>"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+")'
    r"|(?P<scalar>(?:-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?|true|false|null)(?![\w.+-]))"
    r"|(?P<end>\Z))"
)
_SPACE = re.compile(r"[ \t\n]*")


class _Bad(Exception):
    """What was expected, and where it was not found."""

    def __init__(self, expected: str, place: int) -> None:
        super().__init__(expected)
        self.place = place


def outline_json(text: str, max_depth: int) -> Outline:
    """The outline of a JSON text down to `max_depth`."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = text.removeprefix("\ufeff")
    reader = _Reader(text, KeyTree(max_depth))
    try:
        reader.read()
    except _Bad as bad:
        line = text.count("\n", 0, bad.place)
        column = bad.place - (text.rfind("\n", 0, bad.place) + 1)
        found = "the end of the document" if bad.place >= len(text) else repr(text[bad.place])
        return unparsed(f"expected {bad}, found {found}", line, column)
    return reader.tree.outline()


@dataclass(slots=True)
class _Reader:
    text: str
    tree: KeyTree
    expect: _Expect = "value"
    # The line of the last place that was asked for: places only grow, so each newline is counted once.
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
                raise _Bad(self.expect, len(self.text))
        raise _Bad(self.expect, self._after_space(place))

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
            raise _Bad(self.expect, place)

    def _close(self, mark: str, place: int) -> None:
        if self.expect not in ("key or }", "value or ]", ", or the end") or self._closers[-1] != mark:
            raise _Bad(self._wanted(), place)
        self._closers.pop()
        self.tree.close()
        self._ended(place)

    def _string(self, string: str, place: int) -> None:
        if self.expect not in ("key", "key or }"):
            self._scalar(place)
            return
        line = self._at(place)
        self.tree.key(_unescaped(string), line, place - self._line_start)
        self.expect = ": after the key"

    def _scalar(self, place: int) -> None:
        self._value(place)
        self._ended(place)

    def _value(self, place: int) -> None:
        """A value begins here, if one may."""
        if self.expect not in ("value", "value or ]"):
            raise _Bad(self._wanted(), place)
        if self._closers and self._closers[-1] == "]":
            self.tree.element(self._at(place))

    def _ended(self, place: int) -> None:
        if self.tree.levels and self.tree.shown:
            self.tree.end(self._at(place))
        self.expect = ", or the end" if self._closers else "nothing more"

    def _wanted(self) -> str:
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


def _unescaped(string: str) -> str:
    """A key as it is meant; as it is written, where it names half a surrogate pair, which no encoding can carry."""
    if "\\" not in string:
        return string[1:-1]
    name: str = json.loads(string)
    return string[1:-1] if any("\ud800" <= character <= "\udfff" for character in name) else name
