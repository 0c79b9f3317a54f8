"""Pictures beside a document: which bytes are a picture, what the document calls it, and which file that is.

A picture is recognised by its content alone, whatever its name says. SVG is not accepted: it is a program that draws.
Pure; whoever reads a path decides whether it may be read.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import unquote

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
    """The kind of picture by its first bytes; None if it is none of these."""
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
    """The path within the folder that `src` refers to in a document; None if it is no file of the folder.

    `imagePath` in `web/src/rich/tools/imagePaths.ts` is the same for the browser; both are tested with the same
    vectors.
    """
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
