"""Keys and array indices with the lines they take: what JSON and YAML have in common.

A reader reports what it meets in the order of the document; this keeps the way down to the present place, names array
elements by their index, and remembers the first key that occurs twice. Nesting is a list, so its depth costs no stack.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from redraft.formats.entries import Entry, Outline, ParseError, tree


@dataclass(slots=True)
class _Level:
    """An open object (with the keys seen) or array (with the number of elements)."""

    keys: set[str] | None
    elements: int = 0
    # Where the entry of the present member is kept, if it is kept at all.
    entry: int | None = None


@dataclass(slots=True)
class KeyTree:
    """The outline of keys that a reader builds."""

    max_depth: int
    entries: list[Entry] = field(default_factory=list[Entry])
    levels: list[_Level] = field(default_factory=list[_Level])
    duplicate: ParseError | None = None

    @property
    def shown(self) -> bool:
        """Whether members of the open object or array are entries; deeper ones are only checked."""
        return len(self.levels) <= self.max_depth

    def open(self, *, keyed: bool) -> None:
        self.levels.append(_Level(set() if keyed else None))

    def close(self) -> None:
        self.levels.pop()

    def key(self, name: str, line: int, column: int, identity: str | None = None) -> None:
        """A key of the open object, at the place where it begins; `identity` where equal names may differ as keys."""
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
        """The value of the present member ends on this line."""
        number = self.levels[-1].entry if self.levels else None
        if number is not None:
            entry = self.entries[number]
            self.entries[number] = Entry(entry.title, entry.level, entry.line_start, line)

    def outline(self, last_line: int | None = None) -> Outline:
        """The finished outline; entries that reach `last_line`, the last with content, have no end."""
        entries = (
            Entry(entry.title, entry.level, entry.line_start, None if entry.line_end == last_line else entry.line_end)
            for entry in self.entries
        )
        return Outline("keys", tree(entries), error=self.duplicate)

    def _begin(self, title: str, line: int) -> None:
        level = self.levels[-1]
        level.entry = len(self.entries) if self.shown else None
        if self.shown:
            self.entries.append(Entry(title, len(self.levels), line, line))
