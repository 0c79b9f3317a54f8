"""Where a job's tools work: in one open turn, with a memory of what the model was shown of each document.

A plain context remembers nothing while a turn is open. A job's turn is open from beginning to end, so here what was
shown is remembered as the folder has it, not as the turn would leave it: an edit that names no version is refused when
the person has changed the document since, and the model can be told what they changed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from redraft.errors import RedraftError
from redraft.tools.context import REMEMBERED, ToolContext
from redraft.tools.staleness import MAX_PLACES, changes

if TYPE_CHECKING:
    from redraft.workspace.document import Document
    from redraft.workspace.turn import Staged, Turn


@dataclass(slots=True)
class JobContext(ToolContext):
    """The context of one job. `shown` are the documents that the call at hand has shown, with their versions."""

    shown: dict[str, str] = field(default_factory=dict[str, str])
    _told: dict[str, str] = field(default_factory=dict[str, str])

    def saw(self, document: Document) -> None:
        standing = self._standing(document)
        self.shown[document.path] = document.version
        self._seen.pop(document.path, None)
        if standing is not None:
            self._seen[document.path] = standing
        while len(self._seen) > REMEMBERED:
            self._seen.popitem(last=False)

    def _standing(self, document: Document) -> Document | None:
        """The document as it was when the turn first changed it; None where the turn made it."""
        staged = None if self.turn is None else _staged(self.turn, document.path)
        return document if staged is None else staged.seen

    def changed_meanwhile(self) -> list[dict[str, Any]]:
        """What was changed, by the person or anybody else, in documents that the model was shown; each change once."""
        found: list[dict[str, Any]] = []
        for path, seen in tuple(self._seen.items()):
            try:
                now = self.workspace.read(path, author=self.author)
            except RedraftError as error:
                if self._told.get(path) != error.code:
                    self._told[path] = error.code
                    found.append({"path": path, "now": error.message})
                continue
            if now.version not in (seen.version, self._told.get(path)):
                self._told[path] = now.version
                places = changes(seen.text, now.text)
                found.append({"path": path, "version": now.version, "changed_lines": places[:MAX_PLACES]})
        return found


@dataclass(frozen=True, slots=True)
class Savepoint:
    """What a turn had staged, to go back to when a call fails half-way."""

    staged: dict[Any, Staged]
    moved: dict[Any, Any]

    @staticmethod
    def of(turn: Turn) -> Savepoint:
        return Savepoint(dict(turn.staged), dict(turn.moved))

    def restore(self, turn: Turn) -> None:
        """What the call staged is gone; that it acted still counts against the limit of actions."""
        turn.staged.clear()
        turn.staged.update(self.staged)
        turn.moved.clear()
        turn.moved.update(self.moved)


def _staged(turn: Turn, path: str) -> Staged | None:
    return next((staged for name, staged in turn.staged.items() if name == path), None)
