"""Split text into sentences: the units of prose whose paragraphs are single lines.

The rules are few and err on the side of too long: a sentence ends at its punctuation if the next one visibly begins,
never after an initial or a known abbreviation, and always at a blank line.
"""

from __future__ import annotations

import re

# Closing punctuation may follow a sentence's end, including markdown's emphasis.
_CLOSERS = r"""["'”’»›)\]}*_~`]*"""
# One set of characters comes first, because then a search takes half the time; which of them it was is checked later.
_END = re.compile(
    r"[.!?…。！？｡．\r\n](?:"
    rf"(?<=[.!?…])(?<![.!?…][.!?…])(?P<more>[.!?…]*+){_CLOSERS}\s+"
    r"|(?<=[。！？｡．])[。！？｡．]*[”’」』）】》〉\"']*\s*"
    r"|(?<=[\r\n])(?:(?<=\r)\n)?+[^\S\r\n]*(?:\r\n?+|\n)\s*)"
)
_LAST_WORD = re.compile(r"[\w.\-’']*\Z")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]\Z")
_ABBREVIATION = re.compile(
    r"mr|mrs|ms|mx|dr|prof|rev|hon|gen|col|sgt|capt|lt|st|sr|jr|sen|rep|gov|inc|ltd|co|vs|cf|viz|approx|e\.g|i\.e|z\.b"
    r"|d\.h|bzw|ca",
    re.IGNORECASE,
)
_BEFORE_A_NUMBER = re.compile(
    r"no|nr|nos|fig|figs|vol|vols|p|pp|ch|art|sec|eq|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec", re.IGNORECASE
)


def sentences(text: str) -> list[str]:
    """The sentences of a text, each with the blanks after it; they join back to it."""
    found: list[str] = []
    start = 0
    for match in _END.finditer(text):
        if match["more"] is None or _is_end(text, match):
            found.append(text[start : match.end()])
            start = match.end()
    if start < len(text):
        found.append(text[start:])
    return found


def _is_end(text: str, match: re.Match[str]) -> bool:
    if match.end() == len(text):
        return True
    follows = text[match.end()]
    if follows.islower():
        return False  # a pause, a quotation within a sentence, an abbreviation
    if match["more"] or text[match.start()] != ".":
        return True
    word = _last_word(text, match.start())
    if _BEFORE_A_NUMBER.fullmatch(word):
        return not follows.isdigit()
    return not _ABBREVIATION.fullmatch(word) and (word == "I" or not _INITIALS.fullmatch(word))


def _last_word(text: str, end: int) -> str:
    # Looking back further than the longest abbreviation would make a text of one endless word quadratic.
    start = max(0, end - 40)
    match = _LAST_WORD.search(text, max(start, text.rfind(" ", start, end) + 1), end)
    return match[0] if match else ""
