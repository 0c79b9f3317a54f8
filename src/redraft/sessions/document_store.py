"""How a session's change reaches its document: through this process's workspace, or through a server that has it open.

A store reads a document and writes it for the version that was read. If it has changed in between, the write is refused
as stale, never merged here, because only the caller knows its base.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from redraft.errors import Busy, Forbidden, Stale
from redraft.files.paths import is_internal, parse_path
from redraft.files.root import Root, check_not_secret_link
from redraft.files.secret_detection import check_file_not_secret, secret_error
from redraft.files.syscalls import Unsupported, drop_lease, take_read_lease
from redraft.files.textfile import decode
from redraft.history.turns import Author
from redraft.workspace.turns.modes import Mode, WriteTime, mode_by_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from redraft.workspace.workspace import Workspace

State = Literal["applied", "proposed", "unchanged"]
# Somebody who types without a pause changes the document between a read and a write again and again.
ATTEMPTS = 50
SAVE_SECONDS = 5.0
_PAUSE = 0.02
# Where the system does not tell who has a file open, a file is saved if nothing was written for so long.
_QUIET = 0.1
# The mode `merge` writes at once, merging what was typed meanwhile. The session decides the base of that merge, so a
# change in between is refused here and retried, rather than merged from a base that nobody named.
_MERGING = Mode("merge", WriteTime.AT_ONCE)


@dataclass(frozen=True, slots=True)
class StoredText:
    """A document as it was read."""

    text: str
    version: str


@dataclass(frozen=True, slots=True)
class StoredChange:
    """The result of a change: the new text, and its turn in the history."""

    text: str
    state: State
    turn: int | None = None


class DocumentStore(Protocol):
    """Where a document is read and written."""

    def read(self, path: str) -> StoredText: ...

    def read_as_agent(self, path: str) -> str:
        """Another document's text, as an agent may see it."""
        ...

    def check(self) -> None:
        """Raise if nothing could be written anyway."""
        ...

    def write(self, path: str, text: str, version: str, title: str) -> StoredChange:
        """Write the text in place of that version; raises `Stale` if the document has changed."""
        ...


@dataclass(frozen=True, slots=True)
class WorkspaceStore:
    """This process's workspace. An agent's turn has the rights that the folder's settings allow."""

    workspace: Workspace
    author: Author

    def read(self, path: str) -> StoredText:
        wait_until_saved(os.path.join(self.workspace.folder, path))
        document = self.workspace.read(path, author=self.author)
        return StoredText(str(document.text), document.version)

    def read_as_agent(self, path: str) -> str:
        return str(self.workspace.read(path, author=agent_author(self.author.name)).text)

    def check(self) -> None:
        if self.workspace.settings.mode == "read":
            raise Forbidden("Agents may only read in this folder.", code="mode_refuses")

    def write(self, path: str, text: str, version: str, title: str) -> StoredChange:
        allowed = self.workspace.settings.mode
        mode = _MERGING if allowed == "merge" else mode_by_name(allowed)
        with self.workspace.turn(self.author, title, mode=mode) as turn:
            turn.write(path, text, version)
        outcome = turn.outcome
        if outcome is None or outcome.turn is None:
            return StoredChange(text, "unchanged")
        return StoredChange(text, "applied" if outcome.applied else "proposed", outcome.turn.id)


@dataclass(frozen=True, slots=True)
class FileStore:
    """The file on the disk, for callers that only read: it opens no workspace, and so leaves nothing behind. `folder`
    is where other documents are looked up."""

    file: str
    folder: str = ""

    def read(self, path: str) -> StoredText:
        wait_until_saved(self.file)
        check_not_secret_link(self.file)
        folder, name = os.path.split(self.file)
        with Root.open(folder) as root:
            return StoredText(_decode_text(self.file.lstrip("/"), root.read(parse_path(name)).data), "")

    def read_as_agent(self, path: str) -> str:
        place = parse_path(path)
        if is_internal(place):
            raise Forbidden(f"{place} belongs to version control or to Redraft itself.", path=place)
        with Root.open(self.folder) as root:
            if root.is_secret_link(place):
                raise secret_error(place)
            return _decode_text(place, root.read(place).data)

    def check(self) -> None:
        raise Forbidden("The document is open read-only.")

    def write(self, path: str, text: str, version: str, title: str) -> StoredChange:
        raise Forbidden(f"{path} is open read-only.", path=path)


def wait_until_saved(file: str) -> None:
    """Wait while another program has the file open for writing: what it has written may be half of a document. One that
    keeps it open without writing is not waited for longer."""
    begun = time.monotonic()
    while not _is_saved(file):
        waited = time.monotonic() - begun
        if waited > SAVE_SECONDS:
            if time.time() - os.stat(file).st_mtime > SAVE_SECONDS:
                return
            raise Busy(f"Another program is still writing {os.path.relpath(file)}. Try again when it is saved.")
        time.sleep(_PAUSE)


def _is_saved(file: str) -> bool:
    try:
        fd = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return True  # whoever reads it says what is wrong
    try:
        return take_read_lease(fd) and (drop_lease(fd) or True)
    except Unsupported:
        return abs(time.time() - os.fstat(fd).st_mtime) > _QUIET
    finally:
        os.close(fd)


def _decode_text(path: str, data: bytes) -> str:
    """A file's text, if it is not a secret."""
    check_file_not_secret(path, data)
    return decode(data).text


def change(store: DocumentStore, path: str, title: str, make: Callable[[str], str]) -> StoredChange:
    """Write the result of `make`, which is called again whenever somebody else wrote first."""
    for _ in range(ATTEMPTS):
        current = store.read(path)
        text = make(current.text)
        if text == current.text:
            return StoredChange(text, "unchanged")
        try:
            return store.write(path, text, current.version, title)
        except Stale:
            continue
    raise Busy("The document keeps changing; nothing was written.")


def agent_author(name: str) -> Author:
    return Author("agent", name or "agent")


def create_document(workspace: Workspace, author: Author, path: str, text: str) -> None:
    """Create a document; raises `already_exists` if there is one."""
    with workspace.turn(author, f"Create {path}") as turn:
        turn.create(path, text)
