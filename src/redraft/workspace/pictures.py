"""Pictures in the folder: read for showing, and put beside a document as a turn of the person who pasted them.

The engine's documents are texts; a picture is none, and is never edited, reviewed or shown to an agent. But it goes
through the same door: the journal writes it whole or not at all and never over another file, the history keeps its
bytes with their author, and undoing the turn takes the file (and a folder that was made for it) away again.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import normalize

from redraft.errors import Refused
from redraft.files.paths import DocPath, join_path, name_fault, split_path
from redraft.files.secret_detection import check_name_not_secret
from redraft.formats.pictures import MAX_PICTURE, PictureKind, picture_kind
from redraft.history.journal import Content, FilePlan
from redraft.history.recovery import read_or_none
from redraft.workspace.turns.plan import Plan

if TYPE_CHECKING:
    from redraft.history.turns import Author, TurnRecord
    from redraft.workspace.engine import Engine

FOLDER = "images"
MAX_STEM = 80
MAX_SAME_NAMES = 1000


class Picture(NamedTuple):
    """A picture of the folder."""

    path: DocPath
    data: bytes
    kind: PictureKind


class AddedPicture(NamedTuple):
    """Where a picture is now, what a document beside it calls it, and the turn; none where it was there already."""

    path: DocPath
    source: str
    turn: TurnRecord | None


def read_picture(engine: Engine, raw: str, *, limit: int = MAX_PICTURE) -> Picture:
    """A picture by its path; `unsupported_file_type` for anything else that lies there."""
    path = engine.documents.path(raw)
    check_name_not_secret(path)
    data = engine.root.read(path, limit=limit).data
    return Picture(path, data, _kind(data, path))


def add_picture(engine: Engine, document: str, name: str, data: bytes, author: Author) -> AddedPicture:
    """Put a picture into `images/` beside a document, under its own name or the next free one."""
    kind = _kind(data, name[:200])
    if len(data) > MAX_PICTURE:
        raise Refused(f"A picture may have at most {MAX_PICTURE} bytes.", code="too_large", limit=MAX_PICTURE)
    with engine.journal.lock():
        beside = engine.documents.path(document)
        if engine.documents.document(beside) is None:
            raise Refused(f"There is no document {beside}.", code="not_found", path=beside)
        folder = join_path(split_path(beside)[0], FOLDER)
        path, there = _place(engine, folder, safe_stem(name), kind, data)
        source = f"{FOLDER}/{split_path(path)[1]}"
        if there:
            return AddedPicture(path, source, None)
        plan = Plan([FilePlan(path, None, Content(data))])
        title = f"Add the picture {path}"
        turn = engine.commit(plan, author=author, kind="apply", title=title, mode="apply")
        return AddedPicture(path, source, turn)


def safe_stem(name: str) -> str:
    """A name without its extension that every disk can have and that markdown needs no escapes for."""
    last = re.split(r"[/\\]", normalize("NFC", name))[-1]
    stem = last.rpartition(".")[0] or last
    words = re.sub(r"[^\w-]+", "-", stem).strip("-_")[:MAX_STEM].rstrip("-_") or "picture"
    while len(words.encode()) > 2 * MAX_STEM:
        words = words[:-1]
    return f"picture-{words}" if name_fault(words) is not None else words


def _place(engine: Engine, folder: DocPath, stem: str, kind: PictureKind, data: bytes) -> tuple[DocPath, bool]:
    """The first name that is free, or that holds this very picture: then it need not be written."""
    for number in range(1, MAX_SAME_NAMES):
        counted = stem if number == 1 else f"{stem}-{number}"
        path = engine.documents.path(join_path(folder, f"{counted}.{kind.extension}"))
        if engine.reviews.knows(path):
            continue  # a text that somebody proposes to put here
        stamp = engine.root.stamp(path)
        if stamp is None:
            return path, False
        if stamp.size == len(data) and not engine.root.is_folder(path) and read_or_none(engine.root, path) == data:
            return path, True
    raise Refused(f"{folder} has too many pictures called {stem}.", code="already_exists", path=folder)


def _kind(data: bytes, path: str) -> PictureKind:
    found = picture_kind(data)
    if found is None:
        raise Refused(f"{path} is not a PNG, JPEG, GIF or WebP picture.", code="unsupported_file_type", path=path)
    return found
