"""How a session's change reaches its document: through this process's workspace, or through a server that has it open.

A door reads a document and writes it for the version that was read; what changed in between is refused as stale, never
merged here, because only the caller knows the base that it started from.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from redraft.errors import Busy, Forbidden, Stale
from redraft.files.paths import is_internal, parse_path
from redraft.files.root import Root
from redraft.files.secrets import is_secret_content, mask
from redraft.files.textfile import decode
from redraft.history.turns import Author
from redraft.workspace.modes import ASK_BEFORE_DESTROYING, Mode, Writes, mode_named

if TYPE_CHECKING:
    from collections.abc import Callable

    from redraft.workspace.workspace import Workspace

State = Literal["applied", "proposed", "unchanged"]
# Somebody who types without a pause changes the document between a read and a write again and again.
ATTEMPTS = 50
# The mode `merge` writes at once, over what was typed meanwhile. Which text that is merged from is the session's to
# say, so a change in between is refused here and tried again, rather than merged from a base that nobody named.
_MERGING = Mode("merge", Writes.AT_ONCE, ASK_BEFORE_DESTROYING)


@dataclass(frozen=True, slots=True)
class Seen:
    """A document as it was read."""

    text: str
    version: str


@dataclass(frozen=True, slots=True)
class Changed:
    """What became of a change: the text that it made, and the turn that the history knows it by."""

    text: str
    state: State
    turn: int | None = None


class Door(Protocol):
    """Where a document is read and written."""

    def read(self, path: str) -> Seen: ...

    def shown(self, path: str) -> str:
        """Another document's text, as an agent may see it."""
        ...

    def check(self) -> None:
        """Refuse where nothing could be written anyway."""
        ...

    def write(self, path: str, text: str, version: str, title: str) -> Changed:
        """Write the text in the place of that version; `Stale` where it is no longer there."""
        ...


@dataclass(frozen=True, slots=True)
class OwnDoor:
    """This process's workspace. An agent's turn is as wide as the folder's settings allow."""

    workspace: Workspace
    author: Author

    def read(self, path: str) -> Seen:
        document = self.workspace.read(path, author=self.author)
        return Seen(str(document.text), document.version)

    def shown(self, path: str) -> str:
        return str(self.workspace.read(path, author=agent_author(self.author.name)).text)

    def check(self) -> None:
        if self.workspace.engine.settings.mode == "read":
            raise Forbidden("Agents may only read in this folder.", code="mode_refuses")

    def write(self, path: str, text: str, version: str, title: str) -> Changed:
        allowed = self.workspace.engine.settings.mode
        mode = _MERGING if allowed == "merge" else mode_named(allowed)
        with self.workspace.turn(self.author, title, mode=mode) as turn:
            turn.write(path, text, version)
        outcome = turn.outcome
        if outcome is None or outcome.turn is None:
            return Changed(text, "unchanged")
        return Changed(text, "applied" if outcome.applied else "proposed", outcome.turn.id)


@dataclass(frozen=True, slots=True)
class FileDoor:
    """The file as it lies on the disk, for those who only look: it opens no workspace, and so leaves nothing behind.
    `folder` is where other documents are looked for."""

    file: str
    folder: str = ""

    def read(self, path: str) -> Seen:
        folder, name = os.path.split(self.file)
        with Root.open(folder) as root:
            return Seen(decode(root.read(parse_path(name)).data).text, "")

    def shown(self, path: str) -> str:
        from redraft.workspace.documents import SECRET_HEAD, check_name_not_secret  # takes longer than a look

        place = parse_path(path)
        if is_internal(place):
            raise Forbidden(f"{place} belongs to version control or to Redraft itself.", path=place)
        check_name_not_secret(place)
        with Root.open(self.folder) as root:
            data = root.read(place).data
        if is_secret_content(data[:SECRET_HEAD]):
            raise Forbidden(mask(place), code="secret", path=place)
        return decode(data).text

    def check(self) -> None:
        raise Forbidden("The document is only looked at.")

    def write(self, path: str, text: str, version: str, title: str) -> Changed:
        raise Forbidden(f"{path} is only looked at.", path=path)


def change(door: Door, path: str, title: str, make: Callable[[str], str]) -> Changed:
    """Write what `make` makes of the document, made anew each time that somebody was faster."""
    for _ in range(ATTEMPTS):
        seen = door.read(path)
        text = make(seen.text)
        if text == seen.text:
            return Changed(text, "unchanged")
        try:
            return door.write(path, text, seen.version, title)
        except Stale:
            continue
    raise Busy(f"{path} changes all the time; nothing was written.")


def agent_author(name: str) -> Author:
    return Author("agent", name or "agent")


def create(workspace: Workspace, author: Author, path: str, text: str) -> None:
    """A new document; `already_exists` where there is one."""
    with workspace.turn(author, f"Begin {path}") as turn:
        turn.create(path, text)
