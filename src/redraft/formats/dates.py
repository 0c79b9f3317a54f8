"""Lines that are nothing but a date: the headings of a diary, in English, German and French.

A date alone says little, since letters and telegrams carry one as well; it is their number, and that they divide the
whole text, that makes a diary of it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from redraft.formats.titles import covers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redraft.formats.layout import Layout

_FEWEST = 3
# The least that is written under most days; a list of dates has less.
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
# What may follow: the hour, the place, the end of a sentence.
_AFTER = r"(?:[,.;:—–-]+\s*.{0,30})?"
_LINE = re.compile(rf"[_*\[\s]*(?:{_WEEKDAY}[,.]?\s+{_DATE}|{_DATE}|{_WEEKDAY}){_AFTER}[\W_]*", re.IGNORECASE)


def is_date(text: str) -> bool:
    """Whether a line is a date and next to nothing else."""
    return len(text) <= _LONGEST and _LINE.fullmatch(text) is not None


def days(layout: Layout) -> Sequence[int]:
    """The lines where the days of a diary begin; none where the dates do not make one."""
    found = [
        line
        for line, text in enumerate(layout.lines)
        if layout.above[line] and is_date(text) and layout.after_a_finished_sentence(line)
    ]
    if len(found) < _FEWEST or not covers(layout, found):
        return ()
    ends = [*found[1:], len(layout.lines)]
    written = sorted(layout.body(line, end) for line, end in zip(found, ends, strict=True))
    return found if written[len(written) // 2] >= _ENTRY else ()
