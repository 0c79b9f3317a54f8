"""A deadline for computations outside the guard: nobody waits forever, and no thread is busy for longer than that."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from redraft.errors import Refused
from redraft.formats.interrupt import interrupt_by

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from redraft.config import Limits


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
