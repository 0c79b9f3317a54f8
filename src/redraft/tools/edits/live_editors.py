"""The interface to rich editors that are open in browsers: what a tool asks of them, and what it tells them.

An editor is asked to hand in what was typed into it, and is told what was done. It never makes the change itself: that
would count as typing by the person in front of it. Whoever has the connections implements this and passes it in the
context. Nothing here waits or knows about a browser.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from redraft.errors import Refused
from redraft.formats.interrupt import interrupt_by

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from redraft.config import Limits


@dataclass(frozen=True, slots=True)
class EditorUpdate:
    """What an editor is to show: the document's plain text after a change, and where its cursor goes.

    `cursor` is an offset in the text, in code points; `turn` is what undo in that editor reverts.
    """

    text: str
    cursor: int
    turn: int | None


class OpenEditor(Protocol):
    """The one editor that a call applies to."""

    def show(self, after: EditorUpdate) -> None:
        """Tell it what was done, and wait a moment until it shows it. The change is valid whether or not it does."""
        ...


class LiveEditors(Protocol):
    """The open rich editors of one folder. The caller holds the workspace's guard, which is released meanwhile:
    afterwards everything known about a document has to be checked again."""

    def ready(self, path: str) -> OpenEditor | None:
        """Have one editor, the last one used, hand in what was typed into it; None if no rich editor shows the
        document. Raises `Refused` if one does but does not answer: then nothing may be changed."""
        ...


# A deadline for computations outside the guard: nobody waits forever, and no thread is busy for longer than that.


def editor_deadline(limits: Limits) -> AbstractContextManager[None]:
    """Refuse rich text that takes longer to read or write than the settings allow."""
    seconds = limits.editor_seconds
    until = time.monotonic() + seconds

    def check() -> None:
        if time.monotonic() > until:
            raise Refused(
                f"Converting the document to rich text takes longer than {seconds} s. Nothing was changed.",
                code="limit_exceeded",
                budget="editor_seconds",
            )

    return interrupt_by(check)
