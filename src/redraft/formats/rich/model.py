"""A markdown text as the rich editor has it, kept for those who ask again: its document, its plain text, its edits.

What reading a text costs is paid once for each text; the nodes that are given out are shared and must not be changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from redraft.formats.rich.positions import Positions
from redraft.formats.rich.reading import Parsed, parse
from redraft.formats.rich.replacing import Passage, replace_passages
from redraft.formats.rich.saving import save

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redraft.formats.rich.schema import Node

# A conversation goes to and fro between a few documents; a megabyte of markdown takes about 60 MB here.
_KEPT = 4


class Replaced:
    """What became of a replacement: the document after it, its plain text, and its markdown."""

    def __init__(self, before: Parsed, doc: Node) -> None:
        self.doc = doc
        self.text = Positions.of(doc).text
        self.markdown = save(doc, before)


@dataclass(frozen=True)
class Model:
    """One text."""

    parsed: Parsed

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

    def replaced(self, passages: Sequence[Passage]) -> Replaced:
        """With every passage replaced; refused as a whole where one cannot be."""
        return Replaced(self.parsed, replace_passages(self.doc, passages, self.parsed.references))


@lru_cache(maxsize=_KEPT)
def model(markdown: str) -> Model:
    """The model of a text; the same one while the text is among the last that were asked for."""
    return Model(parse(markdown))
