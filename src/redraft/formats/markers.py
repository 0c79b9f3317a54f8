"""Lines that say they are headings: "Chapter 1", "PART THE SECOND", "Act II, Scene 3", "IV.", "3. The Voyage".

Each becomes a `Marker` with a number, so that its family can be tried for a plausible sequence. Whether a line is
believed is decided elsewhere; this only reads one line at a time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from redraft.formats.layout import SHORT
from redraft.formats.numerals import NUMBER, ORDINAL, Style, style, value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from redraft.formats.layout import Layout

Kind = Literal["keyword", "word", "titled", "bare"]

# The words that divide books, with their rank: a smaller one holds a larger one.
RANKS = {
    "volume": 1, "part": 2, "book": 2, "act": 2,
    "chapter": 4, "letter": 4, "canto": 4, "stave": 4, "episode": 4, "act scene": 4, "scene": 5, "section": 5,
}  # fmt: skip
RANK_OF_WORD, RANK_OF_TITLED, RANK_OF_BARE = 4, 4, 6

_ANY_CASE = re.IGNORECASE
# The same words shortened, and in German, French, Spanish and Italian.
_SHORTENED = {
    "vol": "volume", "chap": "chapter", "bk": "book", "pt": "part",
    "kapitel": "chapter", "chapitre": "chapter", "capítulo": "chapter", "capitulo": "chapter", "capitolo": "chapter",
    "teil": "part", "partie": "part", "buch": "book", "livre": "book", "libro": "book", "tome": "volume",
    "akt": "act", "acte": "act", "aufzug": "act", "scène": "scene", "szene": "scene", "auftritt": "scene",
    "lettre": "letter",
}  # fmt: skip
_KEYWORD = "|".join(word for word in sorted([*RANKS, *_SHORTENED], key=len, reverse=True) if " " not in word)
# What may stand between a number and its title. Without any of it the title must begin like one.
_REST = r"(?P<rest>(?P<mark>\s*(?:[.:)\]—–,]+|-+))?\s*(?P<title>.*))"
_PATTERNS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    (
        "keyword",
        re.compile(
            rf"(?:the )?(?P<word>{_KEYWORD})\.? +(?:the +|no\.? *)?(?P<number>{NUMBER}|{ORDINAL}){_REST}", _ANY_CASE
        ),
    ),
    (
        "keyword",
        re.compile(
            rf"(?:the |das |der |die |la |le )?(?P<number>{ORDINAL}|\d{{1,3}}\.) +(?P<word>{_KEYWORD})\b{_REST}",
            _ANY_CASE,
        ),
    ),
    ("word", re.compile(rf"(?P<word>[A-Z][A-Za-z]+)\.? +(?:(?i:the) +)?(?P<number>(?i:{NUMBER})){_REST}")),
    ("bare", re.compile(rf"(?P<number>(?i:{NUMBER})|[ivxl]+)(?P<word>)(?P<rest>[.:)]?(?P<mark>)(?P<title>))$")),
    ("titled", re.compile(rf"(?P<number>{NUMBER})(?P<word>){_REST}")),
)
_ACT_SCENE = re.compile(rf"scene +(?P<number>{NUMBER})(?P<rest>.*)", _ANY_CASE)
# Ornaments around a heading: "--- Section 1 ---", "_Chapter 1_", "[ 4 ]".
_ORNAMENT = " \t_*=~#[]—–-"
_BEGINS = re.compile(r"[^\w(“‘\"'¿¡\[]*[A-Z0-9À-ÞΑ-ΩА-Я(“‘\"'\[]")
# A cheap look that spares the patterns nearly every line of prose.
_LOOK = re.compile(
    rf"(?:the |das |der |die |la |le )?(?:{_KEYWORD}|{ORDINAL})\b|[A-Za-z]+\.? +(?:the +)?{NUMBER}|{NUMBER}", _ANY_CASE
)


@dataclass(frozen=True, slots=True)
class Marker:
    """A line that counts: which word, which number, what is left as a title."""

    line: int
    kind: Kind
    word: str
    number: int
    style: Style
    title: str
    text: str

    @property
    def rank(self) -> int:
        if self.kind == "bare":
            return RANK_OF_BARE
        return RANKS.get(self.word, RANK_OF_WORD)


def read_marker(line: int, text: str) -> Marker | None:
    """The line as a marker, or None."""
    plain = text.strip(_ORNAMENT)
    if not _LOOK.match(plain):
        return None
    for kind, pattern in _PATTERNS:
        match = pattern.match(plain)
        if match and _believable(kind, match):
            return _marker(line, kind, match, plain)
    return None


def _believable(kind: Kind, match: re.Match[str]) -> bool:
    title, mark = match["title"].strip(), (match["mark"] or "").strip()
    if kind == "bare":
        return True
    if kind == "titled":
        # "I went home" begins with a numeral as well: the numeral must be closed, and be no word.
        closed = mark.startswith((".", ")", ":", "—", "–", "--")) or match["rest"].startswith("  ")
        return bool(title) and closed and style(match["number"]) != "word" and bool(_BEGINS.match(title))
    if title and not mark and not match["rest"].startswith("  ") and not title[0].isupper():
        return title[0] in "(“‘\"'[_"
    return not title or bool(_BEGINS.match(title)) or mark not in ("", ",")


def _marker(line: int, kind: Kind, match: re.Match[str], plain: str) -> Marker:
    word = match["word"].lower()
    word, number, title = _SHORTENED.get(word, word), match["number"], match["title"].strip(_ORNAMENT + ".:")
    if word == "act" and (scene := _ACT_SCENE.match(title)):
        return Marker(line, kind, "act scene", value(scene["number"]), style(scene["number"]), "", plain)
    return Marker(line, kind, word, value(number), style(number), title, plain)


def markers(layout: Layout) -> Iterator[Marker]:
    """Every line that reads as a marker and stands where a heading may stand."""
    previous = -2
    for line, text in enumerate(layout.lines):
        if not text or len(text) > SHORT or not (layout.above[line] or previous == line - 1):
            continue
        marker = read_marker(line, text)
        if marker is None or (marker.kind != "keyword" and not _apart(layout, marker)):
            continue
        previous = line
        yield marker


def _apart(layout: Layout, marker: Marker) -> bool:
    """A number may have its title or its text right below it, but not the next number: that is a list."""
    line = marker.line
    if layout.above[line] == 0 or layout.below[line] > 0:
        return layout.above[line] > 0
    return marker.kind in ("bare", "titled") and read_marker(line + 1, layout.lines[line + 1]) is None
