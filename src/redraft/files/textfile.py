"""Bytes on disk and their text: UTF-8, strictly, with or without a byte order mark; anything else is refused.

`encode` returns exactly the bytes that `decode` was given. Newlines are not translated. The encoding of a file that is
not UTF-8 is never guessed, because a wrong guess would rewrite its every accent.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from redraft.errors import Refused
from redraft.text.text import check_unicode

BOM = b"\xef\xbb\xbf"

Format = Literal["markdown", "text", "json", "yaml", "toml", "html", "csv", "unknown"]

_FORMATS: dict[str, Format] = {
    **dict.fromkeys(("md", "markdown", "mdown", "mkd", "mdx", "qmd", "rmd"), "markdown"),
    **dict.fromkeys(("txt", "text", "rst", "adoc", "asciidoc", "org", "tex", "log"), "text"),
    **dict.fromkeys(("json", "jsonc", "json5", "jsonl", "ndjson", "geojson"), "json"),
    **dict.fromkeys(("yaml", "yml"), "yaml"),
    "toml": "toml",
    **dict.fromkeys(("html", "htm", "xhtml"), "html"),
    **dict.fromkeys(("csv", "tsv"), "csv"),
}


class DecodedText(NamedTuple):
    """The text of a file, and whether it began with a byte order mark."""

    text: str
    bom: bool


def decode(data: bytes, path: str = "") -> DecodedText:
    """The text in `data`, of the file at `path`; raises `unsupported_file_type` with the offset of the first byte that
    is not UTF-8 text."""
    nul = data.find(b"\0")
    bom = data.startswith(BOM)
    try:
        text = str(data if nul < 0 else data[:nul], "utf-8")
    except UnicodeDecodeError as error:
        raise _not_text(path, _guess(data), error.start) from error
    if nul >= 0:
        raise _not_text(path, "binary data", nul)
    return DecodedText(text[1:] if bom else text, bom)


def encode(text: str, bom: bool = False) -> bytes:
    """The bytes of `text`, with a byte order mark if the file had one."""
    check_unicode(text)
    data = text.encode()
    return BOM + data if bom else data


def _guess(data: bytes) -> str:
    """What the data may be instead: for the message only."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "UTF-16 text"
    return "binary data" if b"\0" in data[:8192] else "text in another encoding, perhaps Latin-1"


def _not_text(path: str, guess: str, offset: int) -> Refused:
    return Refused(
        f"{path or 'This'} is not UTF-8 text but {guess}: byte {offset} is invalid. Nothing was changed.",
        code="unsupported_file_type",
        offset=offset,
    )


def format_of(path: str) -> Format:
    """The format that the name's extension suggests."""
    name = path.rpartition("/")[2]
    stem, _, extension = name.rpartition(".")
    return _FORMATS.get(extension.lower(), "unknown") if stem else "unknown"
