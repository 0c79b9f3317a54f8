"""A document: a text with a path, an encoding, a newline style, a format and a version.

The version is a hash of the content, so a token is valid exactly while the document has the content that it was issued
for: a touched file stays valid, a restored one becomes valid again, and a number can never be reused.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from redraft.errors import Refused, Stale
from redraft.files.textfile import encode, format_of
from redraft.text.lines import newline_style

if TYPE_CHECKING:
    from redraft.text.text import Text

VERSION_DIGITS = 16
NEWLINE_SAMPLE = 65536


@dataclass(frozen=True, slots=True)
class Document:
    """A value: reading it never touches the disk."""

    path: str
    text: Text
    bom: bool = False
    mode: int | None = None

    @property
    def version(self) -> str:
        return version_of(self.text, bom=self.bom)

    @property
    def format(self) -> str:
        return format_of(self.path)

    @property
    def file_type(self) -> str:
        """The format by the name that tools give it: plain text is "txt"."""
        return "txt" if self.format == "text" else self.format

    @property
    def newline(self) -> str:
        return newline_style(self.text.slice(0, min(len(self.text), NEWLINE_SAMPLE)))

    def check_version(self, token: str) -> None:
        """Refuse a token that was issued for other content."""
        if token != self.version:
            raise Stale(
                f"{self.path} changed since it was read.",
                path=self.path,
                your_version=token,
                current_version=self.version,
            )


def check_text(*texts: str) -> None:
    """Refuse what could be written but not be read again as text: NUL, and half of a surrogate pair."""
    for text in texts:
        if "\0" in text:
            raise Refused("A text cannot contain the character NUL.", code="invalid_text", offset=text.index("\0"))
        encode(text)


def version_of(text: Text, *, bom: bool = False) -> str:
    if not bom and text.slice(0, min(len(text), 1)) == "\ufeff":  # on disk the same bytes as a byte order mark
        text, bom = text.replace(0, 1, ""), True
    digest = text.digest
    if bom:
        digest = hashlib.sha256(b"bom" + digest).digest()
    return digest.hex()[:VERSION_DIGITS]


def content_hash(data: bytes) -> str:
    """The hash that agent-sidebar calls `base_file_hash` and `expected_hash`."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def exceeds(texts: list[Text], limit: int) -> bool:
    """Whether the texts are longer than so many bytes of UTF-8, which are only counted where that is in doubt."""
    length = sum(map(len, texts))
    if length > limit or length * 4 <= limit:
        return length > limit
    return sum(len(block.data) for text in texts for block in text.blocks) > limit
