"""A heading as it was found: what the readers of markdown and of plain text hand on to be nested into an outline.

By itself, and a plain tuple, because a table of 10 MB of headings is asked for from a command line where start-up is
felt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from redraft.formats.outline.outline import Confidence, Rule


class Heading(NamedTuple):
    """A heading before nesting: where a section begins, and at which level."""

    title: str
    level: int
    line: int
    detected_by: Rule | None = None
    confidence: Confidence | None = None
