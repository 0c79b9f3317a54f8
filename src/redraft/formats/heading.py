"""A heading: what the readers of markdown and of plain text return, to be nested into an outline.

In its own module, and a plain tuple, because the command line lists 10 MB of headings and its start-up time matters.
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
