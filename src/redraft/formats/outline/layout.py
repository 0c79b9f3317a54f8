"""The layout of plain text: its lines, the blank lines around them, and how much text is between.

This is what the eye uses to tell a heading from prose. There are no rules about words here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import accumulate

from redraft.text.lines import split_lines

# More blank lines than any document has: what surrounds the first and the last line.
MARGIN = 1_000_000
# The longest line that may be a heading.
SHORT = 80

_WRAPPING = re.compile(r"\*\*\* ?(?P<side>START|END) OF (?:THE|THIS) PROJECT GUTENBERG", re.IGNORECASE)
_FINISHED = ".!?:;\"”’'»)]*_—-"


@dataclass(frozen=True, slots=True)
class Layout:
    """The lines of a text without trailing blanks, and what surrounds each."""

    lines: list[str]
    written: list[int]
    above: list[int]
    below: list[int]

    @staticmethod
    def of(text: str) -> Layout:
        lines = _strip_boilerplate([line.strip() for line in split_lines(text)])
        above, below = [0] * len(lines), [0] * len(lines)
        blanks, previous = MARGIN, -1
        for number, line in enumerate(lines):
            if not line:
                blanks += 1
                continue
            above[number] = blanks
            if previous >= 0:
                below[previous] = blanks
            blanks, previous = 0, number
        if previous >= 0:
            below[previous] = MARGIN
        return Layout(lines, [0, *accumulate(map(len, lines))], above, below)

    def stands_apart(self, line: int) -> bool:
        """Blank lines above and below."""
        return self.above[line] > 0 and self.below[line] > 0

    def body(self, first: int, last: int) -> int:
        """How many characters are between line `first` and line `last`."""
        return max(0, self.written[min(last, len(self.lines))] - self.written[first + 1])

    def after_a_finished_sentence(self, line: int) -> bool:
        """Whether the text before ends a sentence: page numbers and running heads interrupt sentences, headings do
        not."""
        before = line - 1
        while before >= 0 and not self.lines[before]:
            before -= 1
        return before < 0 or self.lines[before][-1] in _FINISHED or len(self.lines[before]) < SHORT // 2


def _strip_boilerplate(lines: list[str]) -> list[str]:
    """Blank out what an electronic edition puts around a book: a licence has sections of its own."""
    first, last = 0, len(lines)
    for number, line in enumerate(lines):
        match = _WRAPPING.match(line) if line.startswith("***") else None
        if match and match["side"].upper() == "START" and not first:
            first = number + 1
        elif match and match["side"].upper() == "END":
            last = number
            break
    return [""] * first + lines[first:last] + [""] * (len(lines) - last)
