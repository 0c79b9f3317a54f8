"""The outline of plain text: chapters if it has any, else its paragraphs.

The first two passes, markers and visual patterns, are `chapters`; the third, here, divides by blank lines and scene
breaks, and is what is left for a text that says nothing of its structure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from redraft.formats.chapters import chapters
from redraft.formats.entries import NOTE, Confidence, Outline, Rule, nest
from redraft.formats.layout import Layout
from redraft.formats.marks import Mark
from redraft.formats.titles import is_rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MAJOR = 3
_TITLE_WORDS = 20
_CONFIDENCE: dict[Rule, Confidence] = {
    "chapter_marker": "high",
    "visual_pattern": "medium",
    "scene_break": "low",
    "paragraph_break": "low",
}


def outline_plain(text: str, max_depth: int, *, detect_chapters: bool = True) -> Outline:
    """The outline of a plain text down to `max_depth`."""
    layout = Layout.of(text)
    marks = chapters(layout) if detect_chapters else []
    if len(marks) == 1 and marks[0].detected_by == "visual_pattern":
        marks = []  # a title, or a shout: one line divides nothing
    marks = marks or list(breaks(layout))
    shown = [mark for mark in marks if mark.level <= max_depth]
    return Outline("heuristic", nest(shown), _confidence(marks), NOTE) if shown else Outline("none")


def breaks(layout: Layout) -> Iterator[Mark]:
    """Paragraphs as sections: of level 1 after three blank lines or a scene break, else of level 2.

    A single paragraph is no structure.
    """
    starts = list(_starts(layout))
    if len(starts) < 2:
        return
    divided = any(level == 1 for _, level, _ in starts[1:])
    for number, (line, level, rule) in enumerate(starts):
        yield Mark(_first_words(layout, line), level if number else 2 - divided, line, rule, "low")


def _starts(layout: Layout) -> Iterator[tuple[int, int, Rule]]:
    after_rule = False
    for line, text in enumerate(layout.lines):
        if not text:
            continue
        if is_rule(text):
            after_rule = True
        elif after_rule:
            yield line, 1, "scene_break"
            after_rule = False
        elif layout.above[line]:
            yield line, 1 if layout.above[line] >= _MAJOR else 2, "paragraph_break"


def _first_words(layout: Layout, line: int) -> str:
    words: list[str] = []
    while line < len(layout.lines) and layout.lines[line] and len(words) <= _TITLE_WORDS:
        words += layout.lines[line].split()
        line += 1
    return " ".join(words) if len(words) <= _TITLE_WORDS else " ".join(words[:_TITLE_WORDS]) + "..."


def _confidence(marks: Sequence[Mark]) -> Confidence | None:
    """How far the rule that found most of the sections can be trusted."""
    rules: list[Rule] = [mark.detected_by for mark in marks if mark.detected_by]
    return _CONFIDENCE[max(_CONFIDENCE, key=rules.count)] if rules else None
