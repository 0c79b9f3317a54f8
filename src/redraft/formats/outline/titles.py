"""Titles without a number: capitals between blank lines, underlined lines, and the names of a book's parts.

Their surroundings distinguish them from shouting, signatures, speakers and running heads: a title occurs once, after a
finished sentence, with more space above it than a paragraph has, and prose follows.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from redraft.formats.outline.layout import Layout

# The specification's length of a short line.
_CAPITALS = 50
_FEWEST = 3
# Prose of two or three lines: what follows a title, and what a list of names lacks.
_PROSE = 120

_NAMED = re.compile(
    r"\W*(?:the |an? |author[’']?s |translator[’']?s |editor[’']?s )*"
    r"(?:preface|foreword|introduction|introductory|prologue|prelude|epilogue|conclusion|finale|afterword|postscript|"
    r"appendix|interlude|induction|argument|coda)"
    r"(?:[.:]| [a-z]| \d+|[ —-]+(?:to|by|of) .{1,40})?\W*",
    re.IGNORECASE,
)
_NO_TITLE = re.compile(
    r"\W*(?:the end|end|finis|contents|table of contents|illustrations|list of illustrations|index|footnotes?|notes?|"
    r"by|and|or|transcribed .*|copyright.*|all rights.*|end of .*|illustration\b.*)\W*",
    re.IGNORECASE,
)
_RULE = re.compile(r"(?:-{3,}|={3,}|\*{3,}|~{3,}|_{3,}|(?:[-=*~_] ){2,}[-=*~_])")
_DASHED = re.compile(r"(?P<rule>[-=~*#]{2,})\s+(?P<title>\w.*?)\s+(?P=rule)")


def find_named_parts(layout: Layout) -> list[int]:
    """Lines that name a part without a number: preface, prologue, epilogue."""
    return [
        line
        for line, text in enumerate(layout.lines)
        if text and len(text) < _CAPITALS and layout.stands_apart(line) and _NAMED.fullmatch(text)
        and (text.isupper() or text[0].isupper())
        and _has_prose_below(layout, line)
    ]  # fmt: skip


def capital_titles(layout: Layout) -> list[int]:
    """Lines in capitals that are probably titles: those with the most space above them, if there are enough."""
    found = [line for line, text in enumerate(layout.lines) if _in_capitals(text) and layout.stands_apart(line)]
    times = Counter(layout.lines[line].casefold() for line in found)
    found = [line for line in found if times[layout.lines[line].casefold()] == 1 or line == found[0]]
    found = [line for line in found if layout.after_a_finished_sentence(line) and _has_prose_below(layout, line)]
    for room in (4, 3, 2):
        roomy = [line for line in found if layout.above[line] >= room]
        if len(roomy) >= _FEWEST and covers_text(layout, roomy):
            # The first title, below the title page, may have a little less.
            return [line for line in found if layout.above[line] >= max(2, room - 1)]
    return found


def find_underlined_titles(layout: Layout) -> list[int]:
    """Short lines with a rule right below them."""
    return [
        line - 1
        for line, text in enumerate(layout.lines)
        if line and text and _RULE.fullmatch(text) and _can_be_underlined(layout, line - 1)
    ]


def find_dashed_titles(layout: Layout) -> list[tuple[int, str]]:
    """Titles between dashes, such as `--- Section ---`, without the dashes."""
    tries = ((line, _DASHED.fullmatch(text)) for line, text in enumerate(layout.lines) if text[:1] in set("-=~*#"))
    return [(line, match["title"]) for line, match in tries if match]


def is_rule(text: str) -> bool:
    """A line of dashes, stars and the like, alone."""
    return bool(_RULE.fullmatch(text))


def title_below(layout: Layout, line: int, taken: Collection[int]) -> str:
    """The title below a heading that is only a number, or ""."""
    below = line + 1
    while below < len(layout.lines) and not layout.lines[below]:
        below += 1
    if below >= len(layout.lines) or below - line > 4 or below in taken:
        return ""
    text = layout.lines[below]
    likely = len(text) < 70 and layout.below[below] > 0 and not text.endswith((",", ";", ":", "-", "—"))
    if not likely or text[0] in "“‘\"'_" or (text[-1] in ".!?" and not text.isupper()):
        return ""
    return text if _in_title_case(text) else ""


def _in_title_case(text: str) -> bool:
    words = [word for word in re.findall(r"[^\W\d_]+", text) if len(word) > 3]
    return text.isupper() or (bool(words) and sum(word[0].isupper() for word in words) * 3 >= len(words) * 2)


def _in_capitals(text: str) -> bool:
    if len(text) >= _CAPITALS or not text.isupper() or sum(map(str.isalpha, text)) < 3:
        return False
    speech = text[0] in "“‘\"'(" or text[-1] in ",;:-—"
    return not speech and not _NO_TITLE.fullmatch(text)


def _has_prose_below(layout: Layout, line: int) -> bool:
    """Whether there is prose below, not just a list of names."""
    return layout.body(line, line + 12) >= _PROSE or len(layout.lines) - line < 12


def covers_text(layout: Layout, lines: Sequence[int]) -> bool:
    """Whether the titles divide the whole text and not only its front matter."""
    return layout.body(lines[0], lines[-1]) * 2 > layout.written[-1]


def _can_be_underlined(layout: Layout, line: int) -> bool:
    text = layout.lines[line]
    return 0 < len(text) < _CAPITALS and layout.above[line] > 0 and not is_rule(text) and text[-1] not in ".,;:"


# Lines that are only a date: the headings of a diary, in English, German and French.
#
# A date alone means little, since letters and telegrams have one as well; it is a diary if there are many, and they
# divide the whole text.


_FEWEST_DAYS = 3
# The least text under most days; a list of dates has less.
_ENTRY = 80
_LONGEST = 60

_MONTH = (
    r"(?:jan(?:uary|uar|vier)?|feb(?:ruary|ruar)?|février|fevrier|mar(?:ch|s)?|märz|apr(?:il)?|avril|may|mai|june?|juni|"
    r"juin|july?|juli|juillet|aug(?:ust)?|août|aout|sept?(?:ember|embre)?|o[ck]t(?:ober|obre)?|nov(?:ember|embre)?|"
    r"de[cz](?:ember)?|décembre|decembre)(?![^\W_])\.?"
)
_WEEKDAY = (
    r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonnabend|"
    r"sonntag|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)"
)
_DAY = r"(?:[12]?[0-9]|3[01])(?:st|nd|rd|th|er|\.)?"
_YEAR = r"(?:,?\s*[12][0-9]{3})"
_DATE = (
    rf"(?:(?:the\s+|den\s+|am\s+|le\s+)?{_DAY}(?:\s+of)?\s+{_MONTH}{_YEAR}?|{_MONTH}\s+(?:the\s+)?{_DAY}{_YEAR}?"
    r"|[12][0-9]{3}[-/.][01]?[0-9][-/.][0-3]?[0-9]|[0-3]?[0-9][./][01]?[0-9][./](?:[12][0-9])?[0-9]{2})"
)
# What may follow: the time, the place, the end of a sentence.
_AFTER = r"(?:[,.;:—–-]+\s*.{0,30})?"
_LINE = re.compile(rf"[_*\[\s]*(?:{_WEEKDAY}[,.]?\s+{_DATE}|{_DATE}|{_WEEKDAY}){_AFTER}[\W_]*", re.IGNORECASE)


def is_date(text: str) -> bool:
    """Whether a line is a date and next to nothing else."""
    return len(text) <= _LONGEST and _LINE.fullmatch(text) is not None


def days(layout: Layout) -> Sequence[int]:
    """The lines where the days of a diary begin; none if the dates do not make one."""
    found = [
        line
        for line, text in enumerate(layout.lines)
        if layout.above[line] and is_date(text) and layout.after_a_finished_sentence(line)
    ]
    if len(found) < _FEWEST_DAYS or not covers_text(layout, found):
        return ()
    ends = [*found[1:], len(layout.lines)]
    written = sorted(layout.body(line, end) for line, end in zip(found, ends, strict=True))
    return found if written[len(written) // 2] >= _ENTRY else ()
