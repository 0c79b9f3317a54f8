"""The seam to rich editors that are open in browsers: what a tool asks of them, and what they answer.

Whoever keeps the connections implements it and hands it in with the context. Nothing here waits or knows of a browser.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redraft.formats.rich.replacing import Passage


@dataclass(frozen=True, slots=True)
class LiveReplaced:
    """The answer of the one editor that made a replacement: its plain text afterwards, and the document's version."""

    text: str
    version: str


class LiveEditors(Protocol):
    """The open editors of one folder."""

    def text(self, path: str) -> str | None:
        """The plain text that an open rich editor shows of a document; None where none shows it."""
        ...

    def replace(self, path: str, passages: Sequence[Passage], version: str) -> LiveReplaced | None:
        """Have exactly one open editor make the replacement, in one transaction and one undo step, on the document of
        that version. None where no rich editor shows the document: then the caller makes it himself. `RedraftError`
        where one does but refuses or does not answer in time; then nothing was changed. Offsets are code points."""
        ...
