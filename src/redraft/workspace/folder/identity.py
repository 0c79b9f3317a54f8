"""Which history belongs to which folder.

The state is outside the folder, so that a folder from elsewhere cannot bring a history or permissions with it; the
folder contains only an id, so that it keeps its history when it is moved. The id alone is not trusted: the state
records the folder that it was made for, and a copy of that folder (or a folder that claims somebody else's id) gets a
new id while the first one still exists.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from redraft.errors import RedraftError, Refused
from redraft.files.atomic_write import write_file
from redraft.files.locks import folder_lock
from redraft.files.paths import parse_path
from redraft.files.root import Root
from redraft.files.syscalls import explain_os_errors

if TYPE_CHECKING:
    from collections.abc import Iterator

ID_PATH = parse_path(".redraft/id")
ID_FORM = re.compile(r"[0-9a-f]{32}\Z")


@dataclass(frozen=True, slots=True)
class Identity:
    """A folder's id, and where its state is."""

    id: str
    state: str
    notices: tuple[str, ...] = ()


def identify(root: Root, folder: str, state_home: str) -> Identity:
    """Find the folder's state, or set up a new one."""
    real = os.path.realpath(folder)
    home = os.path.join(state_home, "redraft")
    make_private(home)
    with folder_lock(home, "identify"):  # two processes that open a new folder at once must agree on its id
        return _identify(root, real, home)


def _identify(root: Root, real: str, home: str) -> Identity:
    notices: list[str] = []
    known = read_id(root)
    found = known or next(states_of(home, real), None)
    if known is None and found is not None:
        notices.append("The folder's id was missing or unreadable; its history was found by the folder's path.")
    if found is not None and is_elsewhere(home, found, real):
        notices.append("This folder is a copy of another one: it starts with a new history.")
        found = None
    number = found or secrets.token_hex(16)
    if number != known:
        write_id(root, number, notices)
    state = os.path.join(home, number)
    make_private(state)
    return Identity(number, state, tuple(notices))


def make_private(folder: str) -> None:
    """Create a folder that only the person can access, with its parents."""
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    except OSError as error:
        raise RedraftError(
            f"Redraft's state cannot be stored in {folder}: {error.strerror}.", code="io_error"
        ) from error


def remember(identity: Identity, folder: str) -> None:
    """Write down which folder the state belongs to. Done last, because the file also says that a history exists."""
    record = json.dumps({"id": identity.id, "folder": os.path.realpath(folder)})
    path = os.path.join(identity.state, "workspace.json")
    if read_text(path) == record:
        return
    temporary = f"{path}.{os.getpid()}"
    with explain_os_errors("write", "workspace.json"):
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(record)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)


def read_id(root: Root) -> str | None:
    """The id in the folder; None if there is none. A failing disk is no reason to create a new one."""
    try:
        text = root.read(ID_PATH, limit=1024).data.decode("ascii").strip()
    except (Refused, UnicodeDecodeError):
        return None
    return text if ID_FORM.match(text) else None


def write_id(root: Root, number: str, notices: list[str]) -> None:
    try:
        old = root.read(ID_PATH, limit=1024).data
    except Refused:
        old = None
    try:
        write_file(root, ID_PATH, number.encode() + b"\n", expected=old)
    except RedraftError as error:
        notices.append(f"The folder's id could not be written: {error.message}")


def is_elsewhere(home: str, number: str, real: str) -> bool:
    """Whether another folder that still exists has the better claim to this id."""
    recorded = find_recorded_folder(os.path.join(home, number))
    if recorded is None or recorded == real or not os.path.isdir(recorded):
        return False
    with Root.open(recorded) as other:
        return read_id(other) == number


def states_of(home: str, real: str) -> Iterator[str]:
    """The ids whose state was created for this folder."""
    with explain_os_errors("read", home):
        names = sorted(os.listdir(home))
    for name in names:
        if ID_FORM.match(name) and find_recorded_folder(os.path.join(home, name)) == real:
            yield name


def find_recorded_folder(state: str) -> str | None:
    text = read_text(os.path.join(state, "workspace.json"))
    try:
        record = json.loads(text or "null")
    except ValueError:
        return None
    folder = record.get("folder") if isinstance(record, dict) else None  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    return folder if isinstance(folder, str) else None


def read_text(path: str) -> str | None:
    try:
        with explain_os_errors("read", path), open(path, encoding="utf-8") as file:
            return file.read(65536)
    except (Refused, UnicodeDecodeError):
        return None
