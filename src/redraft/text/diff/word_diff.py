"""Words as units of change: what was reworded, not which lines were rewrapped.

A text is cut into words, punctuation and blanks that join back to it. For alignment a line break inside a paragraph is
a space, so a rewrapped paragraph aligns word by word; the difference is still an edit, because applying the edits
always gives exactly the new text. Nothing here knows what a line or a hunk is.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING

from redraft.text.diff.line_diff import diff_lines
from redraft.text.diff.sequence_diff import Region, diff_sequences, is_trivial
from redraft.text.edits import Change, Edit
from redraft.text.lines import count_breaks, split_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Scripts without spaces between words are cut by character: Thai and Lao, Burmese, Khmer, kana, Han.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
# Combining marks belong to the character before them. Indic scripts, whose words are full of them, as whole blocks.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u1ab0-\u1aff\u20d0-\u20f0\u3099\u309a"
    "\ufe00-\ufe0f\U0001f3fb-\U0001f3ff"
)
_LETTER = rf"(?:[^\W_{_UNSPACED}]|[{_MARKS}])"
# What continues a word: a hyphen or an apostrophe, what joins the parts of a date, a time, a version or a name in
# code, and the comma of "1,000.50" or "7,50", not that between the cells of "1,2,3". Most words end before a blank, so
# all of these are tested at once first.
_JOINT = (
    r"(?=['’\-‐‑·.:/_,])(?:['’\-‐‑·]|(?<=\d)[.:/](?=\d)|\.(?=[\da-z])"
    rf"|_+(?={_LETTER})|(?<=\d),(?:(?=\d{{3}}(?!\d))|(?<!,\d,)(?<!,\d\d,)(?<!,\d{{3}},)(?=\d{{1,2}}(?!\d|,\d))))"
)
_TOKEN_PATTERN = (
    rf"{_LETTER}+(?:{_JOINT}{_LETTER}+)*"  # a word or a number
    r"|[^\S\r\n]+"  # blanks
    r"|[\r\n]+"  # line breaks
    r"|[\U0001f1e6-\U0001f1ff]{2}"  # a flag
    rf"|.(?:[{_MARKS}]|\u200d.)*"  # any other character, with what is joined to it
)
# An address ends before a bracket, a quote or a blank, and before the punctuation that ends its sentence.
_NO_ADDRESS = rf"\s<>()\[\]{{}}\"'`|{_UNSPACED}"
_ADDRESS = (
    rf"(?:[A-Za-z][A-Za-z\d+.\-]{{1,15}}+://|(?:[\w\-]{{1,63}}\.){{1,5}}[A-Za-z]{{2,24}}/)"
    rf"(?:[^{_NO_ADDRESS}]*[^{_NO_ADDRESS}.,;:!?*_~])?"
    r"|[\w.+\-]{1,64}+@[^\W_][\w\-]{0,62}+(?:\.[^\W_][\w\-]{0,62}+)+"
)
_TOKEN_OR_ADDRESS_PATTERN = f"{_ADDRESS}|{_TOKEN_PATTERN}"
_WORD_PATTERN = rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+"
_HARD_BREAK = re.compile(r" {2,}(?:\r\n?|\n)")
# An unchanged stretch does not separate two edits if it is this short and each of them twice as long, or if it has no
# letter in it.
_TRIFLE = 4
# No word is longer than this.
MAX_WORD = 100
_STRETCH, _STRETCH_BEFORE = re.compile(r"\S+"), re.compile(r"\S+\Z")
# Longer texts are first compared by lines; what is then still longer, line by line.
_LARGE = 100_000


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    """When it is first needed: these take a tenth of the time in which a command that compares nothing is done."""
    return re.compile(pattern, re.DOTALL)


def tokens(text: str) -> list[str]:
    """The words, punctuation and blanks of a text; they join back to it. A number, a date, a version, a name in code,
    and a web or mail address are one word each: half-changed, each would be something that nobody wrote."""
    return _compile(_TOKEN_OR_ADDRESS_PATTERN if "/" in text or "@" in text else _TOKEN_PATTERN).findall(text)


def has_word(text: str) -> bool:
    """Whether there is a letter or a digit in it."""
    return any(map(str.isalnum, text))


def word_before(text: str) -> str:
    """The end of a text that may be the beginning of a word that continues after it."""
    found = _STRETCH_BEFORE.search(text, max(0, len(text) - MAX_WORD))
    return found[0] if found and has_word(found[0]) else ""


def word_behind(text: str) -> str:
    """The beginning of a text that may be the end of a word that began before it."""
    found = _STRETCH.match(text, 0, MAX_WORD)
    return found[0] if found and has_word(found[0]) else ""


def word_around(text: str, at: int) -> tuple[int, int]:
    """The start and end of the word across a position; the position itself, twice, if there is none."""
    before, behind = word_before(text[max(0, at - MAX_WORD) : at]), word_behind(text[at : at + MAX_WORD])
    start = at - len(before)
    for token in tokens(before + behind) if before and behind else ():
        if start < at < start + len(token):
            return start, start + len(token)
        start += len(token)
    return at, at


def vocabulary(text: str) -> set[str]:
    """The distinct words of a text, in lower case: what similar passages have in common."""
    return set(_compile(_WORD_PATTERN).findall(text.lower()))


def are_alike(old: str, new: str) -> bool:
    """Whether two texts have at least half of their words in common."""
    before, after = (Counter(_compile(_WORD_PATTERN).findall(text.casefold())) for text in (old, new))
    return 4 * (before & after).total() >= before.total() + after.total() > 0


def is_reflow(edit: Edit) -> bool:
    """Whether an edit only wraps or unwraps a line: a space for a line break, or a line break for a space."""
    breaks = sorted((count_breaks(edit.old), count_breaks(edit.new)))
    return breaks == [0, 1] and _key(edit.old) == " " == _key(edit.new)


def word_edits(old: str, new: str, *, tidy: bool = True) -> tuple[Edit, ...]:
    """The edits by words that turn `old` into `new`; `tidy` joins those that are separated only by a trifle."""
    edits = _edits(old, new) if len(old) + len(new) <= _LARGE else _edits_by_lines(old, new)
    return tuple(_join_confetti(old, edits) if tidy else edits)


def _edits_by_lines(old: str, new: str) -> Iterator[Edit]:
    for region in diff_lines(old, new):
        removed, added = old[region.at : region.until], new[region.new_at : region.new_until]
        if len(removed) + len(added) <= _LARGE:
            yield from (edit.shift(region.at) for edit in _edits(removed, added))
        else:
            yield from _edits_line_by_line(region.at, removed, added)


def _edits_line_by_line(at: int, removed: str, added: str) -> Iterator[Edit]:
    """Lines replaced by as many others are compared one by one; otherwise all of them are one edit."""
    old, new = split_lines(removed), split_lines(added)
    if len(old) != len(new):
        yield Edit(at, removed, added)
        return
    for line, other in zip(old, new, strict=True):
        if line != other:
            yield from (edit.shift(at) for edit in _edits(line, other))
        at += len(line)


def _edits(old: str, new: str) -> Iterator[Edit]:
    left, right = _pieces(old), _pieces(new)
    regions = diff_sequences([_key(piece) for piece in left], [_key(piece) for piece in right])
    at = x = y = 0
    for region in (*regions, Region(len(left), len(left), len(right), len(right))):
        for piece, other in zip(left[x : region.old_start], right[y : region.new_start], strict=True):
            if piece != other:
                yield Edit(at, piece, other)
            at += len(piece)
        x, y = region.old_end, region.new_end
        removed, added = "".join(left[region.old_start : x]), "".join(right[region.new_start : y])
        if removed != added:
            yield Edit(at, removed, added)
        at += len(removed)


def _pieces(text: str) -> list[str]:
    """The tokens, with a line break and the blanks around it as one."""
    pieces: list[str] = []
    for blank, group in groupby(tokens(text), str.isspace):
        if blank:
            pieces.append("".join(group))
        else:
            pieces.extend(group)
    return pieces


def _key(piece: str) -> str:
    """What a piece is compared by: a blank that does not end a paragraph or force a line break is a space."""
    if not piece.isspace():
        return piece
    return " " if count_breaks(piece) < 2 and not _HARD_BREAK.match(piece) else "\n\n"


def _join_confetti(old: str, edits: Iterable[Edit]) -> list[Edit]:
    """Join edits that are separated only by a trifle. Mere wrapping stays separate."""
    joined: list[Edit] = []
    for edit in edits:
        joined.append(edit)
        while len(joined) > 1 and _belong_together(old, *joined[-2:]):
            first, second = joined[-2:]
            between = old[first.end : second.at]
            joined[-2:] = [Edit(first.at, first.old + between + second.old, first.new + between + second.new)]
    return joined


def _belong_together(old: str, first: Edit, second: Edit) -> bool:
    if second.at - first.end > _TRIFLE or is_reflow(first) or is_reflow(second):
        return False
    between = old[first.end : second.at]
    smaller = min(max(len(edit.old), len(edit.new)) for edit in (first, second))
    return (is_trivial(between) or 2 * len(between) <= smaller) and not count_breaks(between)


def refine(edit: Edit) -> list[Edit]:
    """The parts of an edit that change anything, to the character."""
    if not edit.old or not edit.new:
        return [edit]
    return [
        part.shift(edit.at + words.at)
        for words in word_edits(edit.old, edit.new, tidy=False)
        for part in Change.between(words.old, words.new).edits
    ]


def compare(old: str, new: str) -> Change:
    """The change from one text to another, to the character, found by comparing their words."""
    return Change(tuple(refine(Edit(0, old, new)) if old != new else ()))
