"""A markdown text as the rich editor has it, cached: its document, its plain text, its edits.

Each text is parsed once; the returned nodes are shared and must not be changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from redraft.formats.rich.parser import ParsedDocument, parse
from redraft.formats.rich.positions import Positions
from redraft.formats.rich.replacements import Replacement, apply_replacements
from redraft.formats.rich.save import save

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redraft.formats.rich.schema import Node

# A conversation alternates between a few documents; a megabyte of markdown takes about 60 MB here.
_KEPT = 4


class ReplacedDocument:
    """The result of a replacement: the document after it, its plain text, and its markdown."""

    def __init__(self, before: ParsedDocument, doc: Node) -> None:
        self.doc = doc
        self.text = Positions.of(doc).text
        self.markdown = save(doc, before)


@dataclass(frozen=True)
class EditorDocument:
    """One text."""

    parsed: ParsedDocument

    @cached_property
    def doc(self) -> Node:
        return self.parsed.doc

    @cached_property
    def positions(self) -> Positions:
        return Positions.of(self.doc)

    @property
    def text(self) -> str:
        """The plain text in which offsets are counted, in code points."""
        return self.positions.text

    def replace(self, passages: Sequence[Replacement]) -> ReplacedDocument:
        """The document with every passage replaced; refused as a whole if one cannot be."""
        return ReplacedDocument(self.parsed, apply_replacements(self.doc, passages, self.parsed.references))


@lru_cache(maxsize=_KEPT)
def editor_document(markdown: str) -> EditorDocument:
    """The document of a text; the same object while it is cached."""
    return EditorDocument(parse(markdown))
