"""A folder to play in: its files, its state home, a clock that stands still, and the moves that every story makes."""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from redraft.history.turns import PERSON, Author
from redraft.text.edits import Change, Edit
from redraft.workspace.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

    from redraft.config import Settings
    from redraft.history.turns import TurnRecord
    from redraft.review.review import ReviewHunk
    from redraft.workspace.document import Document, Draft
    from redraft.workspace.turns.turn import Confirm, Outcome

__all__ = ["AGENT", "DAY", "OTHER_AGENT", "PERSON", "Clock", "Folder", "no", "yes"]

AGENT = Author("agent", "scribe")
OTHER_AGENT = Author("agent", "editor")
DAY = 86_400.0

WORDS = ("Amber", "Birch", "Cedar", "Delta", "Ember", "Fjord", "Grove", "Heath", "Islet", "Jetty")
# Ten paragraphs with a word of their own each: a change of one of these words is one hunk.
POEM = "".join(f"{word} stands alone in its own paragraph, number {at}.\n\n" for at, word in enumerate(WORDS))


def yes(_what: str, _paths: list[str]) -> bool:
    return True


def no(_what: str, _paths: list[str]) -> bool:
    return False


class Clock:
    """Stands still unless told otherwise; `meanwhile` runs once, at the next look at the clock."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0
        self.meanwhile: Callable[[], object] | None = None

    def __call__(self) -> float:
        act, self.meanwhile = self.meanwhile, None
        if act is not None:
            act()
        return self.now


class Folder:
    """A folder on disk and the workspaces that tests open on it."""

    def __init__(self, place: Path) -> None:
        self.path = place / "folder"
        self.path.mkdir()
        self.state_home = str(place / "state")
        self.clock = Clock()
        self._open: list[Workspace] = []

    def open(self, settings: Settings | None = None) -> Workspace:
        """A workspace. Opened twice, they are to each other what two processes are."""
        workspace = Workspace.open(self.path, state_home=self.state_home, settings=settings, clock=self.clock)
        self._open.append(workspace)
        return workspace

    def close(self) -> None:
        for workspace in self._open:
            workspace.close()

    def put(self, path: str, content: str | bytes) -> None:
        """Somebody writes a file without us."""
        target = self.path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)

    def bytes(self, path: str) -> bytes:
        return (self.path / path).read_bytes()

    def text(self, path: str) -> str:
        return self.bytes(path).decode()

    def tree(self) -> dict[str, bytes]:
        """Every file of the folder but our own id."""
        found: dict[str, bytes] = {}
        for place, _, names in os.walk(self.path):
            for name in names:
                file = Path(place) / name
                found[file.relative_to(self.path).as_posix()] = file.read_bytes()
        return {path: data for path, data in found.items() if not path.startswith(".redraft/")}


@contextmanager
def fresh_folder() -> Generator[Folder]:
    """A folder for one example of a property, where a fixture would be shared by all of them."""
    place = Path(tempfile.mkdtemp(prefix="redraft-test-"))
    folder = Folder(place)
    try:
        yield folder
    finally:
        folder.close()
        shutil.rmtree(place)


def agent_writes(
    workspace: Workspace,
    contents: Mapping[str, str],
    *,
    mode: str = "propose",
    author: Author = AGENT,
    confirm: Confirm | None = None,
) -> Outcome:
    """One turn in which an agent makes these documents read so."""
    with workspace.turn(author, "Rewrite", mode=mode, confirm=confirm) as turn:
        for path, content in contents.items():
            turn.write(path, content, turn.read(path).version)
    assert turn.outcome is not None
    return turn.outcome


def person_writes(workspace: Workspace, contents: Mapping[str, str]) -> TurnRecord:
    """One turn of the person's, on disk at once."""
    return turn_of(agent_writes(workspace, contents, author=PERSON))


def turn_of(outcome: Outcome) -> TurnRecord:
    assert outcome.turn is not None
    return outcome.turn


def type_over(workspace: Workspace, path: str, old: str, new: str) -> Document:
    """The person replaces the one passage `old` of what is on the screen."""
    text = str(workspace.read(path, confirmed=(path,)).text)
    assert text.count(old) == 1, f"{old!r} is not once in {text!r}"
    return workspace.type(path, Change((Edit(text.index(old), old, new),)))


def type_at_end(workspace: Workspace, path: str, new: str) -> Document:
    return workspace.type(path, Change((Edit(len(workspace.read(path).text), "", new),)))


def draft_of(workspace: Workspace, path: str) -> Draft:
    draft = workspace.draft(path)
    assert draft is not None, f"nothing is pending in {path}"
    return draft


def hunks(workspace: Workspace, path: str) -> tuple[ReviewHunk, ...]:
    return draft_of(workspace, path).review.hunks


def hunk_with(workspace: Workspace, path: str, words: str) -> ReviewHunk:
    """The one hunk in which these words stand, on any side."""
    found = [hunk for hunk in hunks(workspace, path) if words in hunk.base + hunk.proposed + hunk.working]
    assert len(found) == 1, f"{len(found)} hunks with {words!r}"
    return found[0]


def working(workspace: Workspace, path: str) -> str:
    return str(workspace.read(path).text)


def replaced(text: str, **words: str) -> str:
    """The text with each word replaced once: `replaced(POEM, Amber="Agate")`."""
    for old, new in words.items():
        assert text.count(old) == 1
        text = text.replace(old, new)
    return text


def numbered_names(count: int) -> list[str]:
    return [f"n{number:03}.md" for number in itertools.islice(itertools.count(), count)]
