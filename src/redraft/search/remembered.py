"""Texts of the index that were asked for lately, within a bound on their bytes.

A text is known by its number, which one database never gives to another text, so nothing here can be out of date; for
another database, `clear` it. With a text, where its lines start is remembered, once a search has asked. Used by one
thread at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from redraft.search.hits import Lined

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LARGEST = 64_000_000


class Remembered:
    """`fetch` gives those of the texts with these numbers that there are."""

    def __init__(self, fetch: Callable[[Sequence[int]], dict[int, bytes]], largest: int = LARGEST) -> None:
        self._fetch = fetch
        self._largest = largest
        self._texts: dict[int, Lined] = {}
        self.size = 0

    def get(self, numbers: Sequence[int]) -> dict[int, Lined]:
        """These texts, as far as there are any."""
        known = self._texts
        missing = [number for number in numbers if number not in known]
        if not missing:
            return {number: known[number] for number in numbers}
        fetched = {number: Lined(text) for number, text in self._fetch(missing).items()}
        found = {number: known[number] for number in numbers if number in known}
        self.add(fetched)
        return found | fetched

    def add(self, texts: dict[int, Lined]) -> None:
        """Remember these; the ones remembered longest give way."""
        for number, text in texts.items():
            if number not in self._texts:
                self._texts[number] = text
                self.size += len(text.data)
        while self.size > self._largest:
            self.size -= len(self._texts.pop(next(iter(self._texts))).data)

    def clear(self) -> None:
        self._texts.clear()
        self.size = 0
