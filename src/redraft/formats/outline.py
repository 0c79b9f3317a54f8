"""The outline of a document: one question, answered by the reader of its format.

`outline` never raises because of what a document holds: bad JSON or YAML gives an outline without entries and with an
`error` that has a line and a column. Readers are imported when first needed, because YAML's is slow to load.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from redraft.formats.entries import Entry, Outline, ParseError, nest, nothing_found

Format = Literal["markdown", "text", "json", "yaml", "unknown"]

# Deeper nesting tells a reader nothing, and entries that hold entries must not outgrow the stack.
_DEEPEST = 64

__all__ = ["Entry", "Format", "Outline", "ParseError", "outline"]


def outline(text: str, format: Format, *, max_depth: int = 3, detect_chapters: bool = True) -> Outline:  # noqa: A002
    """The sections of `text` down to `max_depth` levels; `detect_chapters` is for plain text alone.

    A document of unknown format is read as plain text.
    """
    max_depth = min(max_depth, _DEEPEST)
    match format:
        case "markdown":
            found = _markdown(text, max_depth)
        case "json":
            from redraft.formats.json_outline import outline_json

            found = outline_json(text, max_depth)
        case "yaml":
            from redraft.formats.yaml_outline import outline_yaml

            found = outline_yaml(text, max_depth)
        case "text" | "unknown":
            from redraft.formats.plain import outline_plain

            found = outline_plain(text, max_depth, detect_chapters=detect_chapters)
    return found if found.entries or found.error else replace(nothing_found(), note=found.note)


def _markdown(text: str, max_depth: int) -> Outline:
    from redraft.formats.headings import headings

    return Outline("headings", nest([mark for mark in headings(text) if mark.level <= max_depth]))
