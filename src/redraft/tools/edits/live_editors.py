"""The seam to rich editors that are open in browsers: what a tool asks of them, and what they are told.

An editor is asked to hand in what was typed into it, and is told what was done; it never makes the change itself, which
would be the typing of the person in front of it. Whoever keeps the connections implements it and hands it in with the
context. Nothing here waits or knows of a browser.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class EditorUpdate:
    """What an editor is to show: the document's plain text after a change, and where its cursor goes.

    `cursor` is an offset in the text, in code points; `turn` is what undoing in that editor takes back.
    """

    text: str
    cursor: int
    turn: int | None


class OpenEditor(Protocol):
    """The one editor that a call was brought to."""

    def show(self, after: EditorUpdate) -> None:
        """Tell it what was done, and wait a moment until it is seen there. The change stands whether or not it is."""
        ...


class LiveEditors(Protocol):
    """The open rich editors of one folder. Whoever calls holds the workspace's guard, which is let go of meanwhile: so
    all that was known of a document has to be looked at again."""

    def ready(self, path: str) -> OpenEditor | None:
        """Have exactly one editor, the one that was used last, hand in what was typed into it; None where no rich
        editor shows the document. `Refused` where one does and does not answer: then nothing may be changed."""
        ...
