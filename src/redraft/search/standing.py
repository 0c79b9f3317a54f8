"""Which files the index knows as they are now, and which it has yet to read.

A row holds while its file has the mark that the row was made with. Nothing is read or asked here; whoever learns of
rows or of files says so. Used by one thread at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from redraft.search.records import Extent, Row
    from redraft.workspace.reading import Mark


class Standing:
    """`files` are those that are there, with their marks: a view of somebody else's knowledge."""

    def __init__(self) -> None:
        self.files: Mapping[str, Mark] = {}
        self.rows: dict[str, Row] = {}
        self.paths: dict[int, str] = {}
        self.pending: set[str] = set()

    def compare(self, files: Mapping[str, Mark], rows: Iterable[Row] | None = None) -> None:
        """Take in all files, and all rows where they are other ones than before."""
        self.files = files
        if rows is not None:
            self.rows = {row.path: row for row in rows}
        known = self.rows
        self.paths = {row.number: row.path for row in known.values() if row.number and files.get(row.path) == row.mark}
        self.pending = {path for path, mark in files.items() if path not in known or known[path].mark != mark}

    def compare_one(self, path: str) -> None:
        """Take in that this file is not what it was."""
        row, mark = self.rows.get(path), self.files.get(path)
        if row is not None:
            self.paths.pop(row.number, None)
        self.pending.discard(path)
        if row is not None and row.mark == mark:
            if row.number:
                self.paths[row.number] = path
        elif mark is not None:
            self.pending.add(path)

    def put(self, rows: Iterable[Row], gone: Iterable[str]) -> None:
        """Take in new rows, and forget those of files that are gone."""
        for path in gone:
            del self.rows[path]
        for row in rows:
            old = self.rows.get(row.path)
            if old is not None:
                self.paths.pop(old.number, None)
            self.rows[row.path] = row
            self.compare_one(row.path)

    def gone(self) -> list[str]:
        """The files of which there are rows and nothing else."""
        return [path for path in self.rows if path not in self.files]

    def alive(self, extent: Extent) -> int:
        """How many texts of a segment are still those of their files."""
        return sum(number in self.paths for number in range(extent.first, extent.last + 1))
