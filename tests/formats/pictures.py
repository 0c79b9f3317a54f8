"""Small real pictures, one of each kind."""

from __future__ import annotations

import struct
import zlib
from base64 import b64decode


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(red: int = 200, side: int = 8) -> bytes:
    """A square of one colour."""
    rows = b"".join(b"\0" + bytes((red, 120, 30)) * side for _ in range(side))
    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", head) + _chunk(b"IDAT", zlib.compress(rows)) + _chunk(b"IEND", b"")


GIF = b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")
WEBP = b64decode("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA")
JPEG = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00\xff\xd9"
# What calls itself a picture, or looks a little like one, and is none.
IMPOSTORS = {
    "script.png": b"<script>alert(1)</script>",
    "drawing.svg": b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>',
    "page.gif": b"<html>GIF89a",
    "cut.png": b"\x89PNG\r\n\x1a\n",
    "empty.jpg": b"",
    "sound.webp": b"RIFF\x24\x00\x00\x00WAVEfmt ",
    "key.png": b"-----BEGIN PRIVATE KEY-----\n",
}
