"""Pictures: recognising one by its bytes, reading one to show it, and adding one beside a document as the person's
turn.

The engine's documents are texts; a picture is not, and is never edited, reviewed or shown to an agent. But it goes
through the same door: the journal writes it whole or not at all and never over another file, the history keeps its
bytes with their author, and undoing the turn removes the file (and a folder that was created for it) again.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import normalize
from urllib.parse import unquote

from redraft.errors import Refused
from redraft.files.paths import DocPath, join_path, name_fault, split_path
from redraft.files.secret_detection import check_name_not_secret
from redraft.history.journal import Content, FilePlan
from redraft.history.recovery import read_or_none
from redraft.workspace.turns.plan import Plan

if TYPE_CHECKING:
    from redraft.history.turns import Author, TurnRecord
    from redraft.workspace.engine import Engine


# Pictures beside a document: which bytes are a picture, what the document calls it, and which file that is.
#
# A picture is recognised by its content alone, whatever its name says. SVG is not accepted: it is a program that draws.
# These functions are pure; whoever reads a path decides whether it may be read.


MAX_PICTURE = 10 * 1024 * 1024
# A scheme, or an address that omits only the scheme.
_REMOTE = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)
_BROKEN_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")


class PictureKind(NamedTuple):
    """The kind of a picture, for a browser and for a file name."""

    media: str
    extension: str


PNG = PictureKind("image/png", "png")
JPEG = PictureKind("image/jpeg", "jpg")
GIF = PictureKind("image/gif", "gif")
WEBP = PictureKind("image/webp", "webp")
KINDS = (PNG, JPEG, GIF, WEBP)


def picture_kind(data: bytes) -> PictureKind | None:
    """The kind of a picture by its first bytes; None if it is none of these."""
    if data.startswith(b"\x89PNG\r\n\x1a\n") and data[12:16] == b"IHDR":
        return PNG
    if data.startswith(b"\xff\xd8\xff") and len(data) > 3:
        return JPEG
    if data.startswith((b"GIF87a", b"GIF89a")) and len(data) >= 13:
        return GIF
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP" and data[12:16] in (b"VP8 ", b"VP8L", b"VP8X"):
        return WEBP
    return None


def picture_path(document: str, src: str) -> str | None:
    """The path in the folder that `src` refers to in a document; None if it is not a file of the folder. `imagePath` in
    `web/src/rich/tools/imagePaths.ts` does the same in the browser; both are tested with the same vectors."""
    if _REMOTE.match(src) or "\\" in src:
        return None
    named = re.split(r"[?#]", src, maxsplit=1)[0]
    if _BROKEN_ESCAPE.search(named):
        return None
    try:
        named = unquote(named, errors="strict")
    except UnicodeDecodeError:
        return None
    if not named:
        return None
    parts = [] if named.startswith("/") else document.split("/")[:-1]
    for part in named.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in (".", ""):
            parts.append(part)
    return "/".join(parts) or None


FOLDER = "images"
MAX_STEM = 80
MAX_SAME_NAMES = 1000


class Picture(NamedTuple):
    """A picture of the folder."""

    path: DocPath
    data: bytes
    kind: PictureKind


class AddedPicture(NamedTuple):
    """Where a picture is now, how a document beside it refers to it, and the turn; None if it was there already."""

    path: DocPath
    source: str
    turn: TurnRecord | None


def read_picture(engine: Engine, raw: str, *, limit: int = MAX_PICTURE) -> Picture:
    """Read a picture by its path; `unsupported_file_type` for anything else."""
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
    """A file name without its extension that every disk allows and that needs no escapes in markdown."""
    last = re.split(r"[/\\]", normalize("NFC", name))[-1]
    stem = last.rpartition(".")[0] or last
    words = re.sub(r"[^\w-]+", "-", stem).strip("-_")[:MAX_STEM].rstrip("-_") or "picture"
    while len(words.encode()) > 2 * MAX_STEM:
        words = words[:-1]
    return f"picture-{words}" if name_fault(words) is not None else words


def _place(engine: Engine, folder: DocPath, stem: str, kind: PictureKind, data: bytes) -> tuple[DocPath, bool]:
    """The first free name, or one that already holds exactly this picture, which then need not be written."""
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
