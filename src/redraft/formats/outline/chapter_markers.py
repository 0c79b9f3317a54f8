"""Chapter markers: numbers as headings write them, lines that look like headings, and the tables that list them.

A number is written as 12, XII, twelve or the twelfth.

`NUMBER` is a regular expression for one; `number_value` returns its value. Only well-formed Roman numerals below 400
count, because "MILD" and "CIVIL" are words, and no book has so many chapters.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from redraft.formats.outline.layout import SHORT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from redraft.formats.outline.layout import Layout


Style = Literal["arabic", "roman", "word"]

_ONES = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
_TEENS = ["ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_FIRSTS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"]
_TENTHS = [
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
]
_TWENTIETHS = ["twentieth", "thirtieth", "fortieth", "fiftieth", "sixtieth", "seventieth", "eightieth", "ninetieth"]

_SMALL = {word: number for words in ([*_ONES, *_TEENS], [*_FIRSTS, *_TENTHS]) for number, word in enumerate(words, 1)}
_ROUND = {word: 10 * number for words in (_TENS, _TWENTIETHS) for number, word in enumerate(words, 2)}
_ORDINALS = {*_FIRSTS, *_TENTHS, *_TWENTIETHS}

_ROMAN = r"(?=[IVXLC])C{0,3}(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,4})"
_WORD = rf"(?:{'|'.join(_TENS)})[- ](?:{'|'.join([*_ONES, *_FIRSTS])})|{'|'.join([*_SMALL, *_ROUND])}"
_DIGITS = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}

# The ordinals of German ("Erstes Kapitel", "Das einundzwanzigste Kapitel") and French ("Première partie").
_GERMAN = ["ers", "zwei", "drit", "vier", "fünf", "sechs", "sieb", "ach", "neun", "zehn", "elf", "zwölf", "dreizehn",
           "vierzehn", "fünfzehn", "sechzehn", "siebzehn", "achtzehn", "neunzehn"]  # fmt: skip
_GERMAN_ONES = ["ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun"]
_GERMAN_TENS = ["zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig"]
_FRENCH = ["premi(?:er|ère)", "deuxième|seconde?", "troisième", "quatrième", "cinquième", "sixième",
           "septième", "huitième", "neuvième", "dixième", "onzième", "douzième",
           "treizième", "quatorzième", "quinzième"]  # fmt: skip
_GERMAN_ORDINAL = (
    rf"(?:(?:(?:{'|'.join(_GERMAN_ONES)})und)?(?:{'|'.join(_GERMAN_TENS)})s|{'|'.join(sorted(_GERMAN, reverse=True))})"
    r"te[rsn]?"
)
_FOREIGN = rf"(?:{_GERMAN_ORDINAL}|{'|'.join(_FRENCH)})(?![\w’'])"

# Longest first, and each ends at a word boundary, so that "I" is not found in "In" nor "six" in "sixty".
NUMBER = rf"(?:\d{{1,3}}(?:st|nd|rd|th)?|{_WORD}|{_ROMAN})(?![\w’'])"
ORDINAL = rf"(?:{'|'.join(sorted(_ORDINALS, key=len, reverse=True))}|{_FOREIGN})"
_NUMBERED_FRENCH = [re.compile(rf"(?:{word})") for word in _FRENCH]


def number_style(number: str) -> Style:
    """How a number that `NUMBER` matched is written."""
    if number[0].isdigit():
        return "arabic"
    return "roman" if set(number.lower()) <= _DIGITS.keys() else "word"


def number_value(number: str) -> int:
    """The value of a number that `NUMBER` matched."""
    match number_style(number):
        case "arabic":
            digits = re.match(r"\d+", number)
            return int(digits.group()) if digits else 0
        case "roman":
            return _roman(number.lower())
        case "word":
            words = re.split(r"[- ]", number.lower())
            if words[0] not in _SMALL and words[0] not in _ROUND:
                return _foreign(number.lower())
            return sum(_ROUND.get(word, 0) + _SMALL.get(word, 0) for word in words)


def _roman(letters: str) -> int:
    total = 0
    for letter, following in zip(letters, [*letters[1:], ""], strict=True):
        digit = _DIGITS[letter]
        total += -digit if following and _DIGITS[following] > digit else digit
    return total


def _foreign(word: str) -> int:
    """The value of a German or French ordinal in lower case; 0 if it is none."""
    for number, french in enumerate(_NUMBERED_FRENCH, 1):
        if french.fullmatch(word):
            return number
    stem = re.sub(r"te[rsn]?$", "", word)
    if stem in _GERMAN:
        return _GERMAN.index(stem) + 1
    ones, _, tens = stem.removesuffix("s").rpartition("und")
    if tens not in _GERMAN_TENS:
        return 0
    return 10 * (_GERMAN_TENS.index(tens) + 2) + (_GERMAN_ONES.index(ones) + 1 if ones in _GERMAN_ONES else 0)


# Lines that look like headings: "Chapter 1", "PART THE SECOND", "Act II, Scene 3", "IV.", "3. The Voyage".
#
# Each becomes a `ChapterMarker` with a number, so that its family can be checked for a plausible sequence. Whether a
# line really is a heading is decided elsewhere; this only reads one line at a time.


Kind = Literal["keyword", "word", "titled", "bare"]

# The words that divide books, with their rank: a lower rank contains a higher one.
RANKS = {
    "volume": 1, "part": 2, "book": 2, "act": 2,
    "chapter": 4, "letter": 4, "canto": 4, "stave": 4, "episode": 4, "act scene": 4, "scene": 5, "section": 5,
}  # fmt: skip
RANK_OF_WORD, RANK_OF_TITLED, RANK_OF_BARE = 4, 4, 6

_ANY_CASE = re.IGNORECASE
# The same words abbreviated, and in German, French, Spanish and Italian.
_SHORTENED = {
    "vol": "volume", "chap": "chapter", "bk": "book", "pt": "part",
    "kapitel": "chapter", "chapitre": "chapter", "capítulo": "chapter", "capitulo": "chapter", "capitolo": "chapter",
    "teil": "part", "partie": "part", "buch": "book", "livre": "book", "libro": "book", "tome": "volume",
    "akt": "act", "acte": "act", "aufzug": "act", "scène": "scene", "szene": "scene", "auftritt": "scene",
    "lettre": "letter",
}  # fmt: skip
_KEYWORD = "|".join(word for word in sorted([*RANKS, *_SHORTENED], key=len, reverse=True) if " " not in word)
# What may be between a number and its title. Without any of it the title must begin like one.
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
# A cheap test that spares nearly every line of prose the patterns.
_LOOK = re.compile(
    rf"(?:the |das |der |die |la |le )?(?:{_KEYWORD}|{ORDINAL})\b|[A-Za-z]+\.? +(?:the +)?{NUMBER}|{NUMBER}", _ANY_CASE
)


@dataclass(frozen=True, slots=True)
class ChapterMarker:
    """A numbered line: its keyword, its number, and the rest as a title."""

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


def read_marker(line: int, text: str) -> ChapterMarker | None:
    """The line as a marker, or None."""
    plain = text.strip(_ORNAMENT)
    if not _LOOK.match(plain):
        return None
    for kind, pattern in _PATTERNS:
        match = pattern.match(plain)
        if match and _is_believable(kind, match):
            return _marker(line, kind, match, plain)
    return None


def _is_believable(kind: Kind, match: re.Match[str]) -> bool:
    title, mark = match["title"].strip(), (match["mark"] or "").strip()
    if kind == "bare":
        return True
    if kind == "titled":
        # "I went home" begins with a numeral too: the numeral must be followed by punctuation, and not be a word.
        closed = mark.startswith((".", ")", ":", "—", "–", "--")) or match["rest"].startswith("  ")
        return bool(title) and closed and number_style(match["number"]) != "word" and bool(_BEGINS.match(title))
    if title and not mark and not match["rest"].startswith("  ") and not title[0].isupper():
        return title[0] in "(“‘\"'[_"
    return not title or bool(_BEGINS.match(title)) or mark not in ("", ",")


def _marker(line: int, kind: Kind, match: re.Match[str], plain: str) -> ChapterMarker:
    word = match["word"].lower()
    word, number, title = _SHORTENED.get(word, word), match["number"], match["title"].strip(_ORNAMENT + ".:")
    if word == "act" and (scene := _ACT_SCENE.match(title)):
        return ChapterMarker(
            line, kind, "act scene", number_value(scene["number"]), number_style(scene["number"]), "", plain
        )
    return ChapterMarker(line, kind, word, number_value(number), number_style(number), title, plain)


def chapter_markers(layout: Layout) -> Iterator[ChapterMarker]:
    """Every line that reads as a marker and is where a heading may be."""
    previous = -2
    for line, text in enumerate(layout.lines):
        if not text or len(text) > SHORT or not (layout.above[line] or previous == line - 1):
            continue
        marker = read_marker(line, text)
        if marker is None or (marker.kind != "keyword" and not _stands_apart(layout, marker)):
            continue
        previous = line
        yield marker


def _stands_apart(layout: Layout, marker: ChapterMarker) -> bool:
    """A number may have its title or its text right below it, but not the next number: that is a list."""
    line = marker.line
    if layout.above[line] == 0 or layout.below[line] > 0:
        return layout.above[line] > 0
    return marker.kind in ("bare", "titled") and read_marker(line + 1, layout.lines[line + 1]) is None


# Tables of contents: where they are, and which later lines they list.
#
# A table of contents is a dense run of short lines that occur again later, far apart. It is not part of the outline,
# but the lines that it lists are, however they look: nothing else distinguishes a lower-case title from a line of
# prose.


# A table's lines follow one another within this many characters: an entry may have a summary of a few lines.
_DENSE = 500
_FEWEST = 3
# A title occurs in the table, in the text, and perhaps on a page of its own. What occurs more often is a running head
# or the name of a speaker.
_MOST_TIMES = 3
# The sections that a table lists are at least this many times as long as the table.
_SPREAD = 4

_PAGE = re.compile(r"(?:[\s.·…_]{2,}|\s)(?:\d{1,4}|[ivxl]{1,6})$")
_NOISE = re.compile(r"[\W_]+")
_HEAD = re.compile(r"(?:table of )?contents\W*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TableOfContents:
    """The lines of the tables of contents (half-open ranges) and the lines that they list."""

    ranges: tuple[tuple[int, int], ...]
    announced: tuple[int, ...]

    def holds(self, line: int) -> bool:
        return any(first <= line < last for first, last in self.ranges)


def tables_of_contents(layout: Layout) -> TableOfContents:
    """The tables of contents of a text."""
    places = _find_repeated_lines(layout)
    ranges: list[tuple[int, int]] = []
    announced: set[int] = set()
    for run in _dense_runs(layout, sorted({line for lines in places.values() for line in lines})):
        entries = _entries(layout, places, run)
        later = _find_announced_lines(layout, places, entries)
        if len(later) < _FEWEST or len(later) * 2 < len(entries):
            continue
        ranges.append((_first_line(layout, run[0]), max(entries) + 1))
        announced.update(later)
    return TableOfContents(tuple(ranges), tuple(sorted(line for line in announced if not _within(ranges, line))))


def title_keys(text: str) -> tuple[str, ...]:
    """What two spellings of a heading have in common: its title without page, punctuation and case, or its number."""
    marker = read_marker(0, text)
    if marker is None or (marker.kind == "word" and not marker.title and _PAGE.search(text)):
        return tuple(filter(None, [_words(text)]))
    number = f"{marker.word} #{marker.number}"
    return (words, number) if (words := _words(marker.title)) else (number,)


def _words(title: str) -> str:
    return _NOISE.sub(" ", _PAGE.sub("", title)).strip().casefold()


def _find_repeated_lines(layout: Layout) -> dict[str, list[int]]:
    """The short lines that occur more than once, by key."""
    places: dict[str, list[int]] = defaultdict(list)
    for line, text in enumerate(layout.lines):
        if text and len(text) <= SHORT and _short_paragraph(layout, line):
            for key in title_keys(text):
                places[key].append(line)
    return {
        key: lines
        for key, lines in places.items()
        if len(lines) > 1 and (key.rpartition("#")[2].isdigit() or len(lines) <= _MOST_TIMES)
    }


def _short_paragraph(layout: Layout, line: int) -> bool:
    """Whether this is not wrapped prose, whose lines begin in lower case, or continue in one that does."""
    following = layout.lines[line + 1] if line + 1 < len(layout.lines) else ""
    return not layout.lines[line][0].islower() and not following[:1].islower()


def _dense_runs(layout: Layout, lines: Sequence[int]) -> list[list[int]]:
    """Groups of lines that follow one another closely. The last may include the first headings of the text itself."""
    runs: list[list[int]] = []
    for line in lines:
        if runs and layout.body(runs[-1][-1], line) < _DENSE:
            runs[-1].append(line)
        else:
            runs.append([line])
    return [run for run in runs if len(run) >= _FEWEST]


def _entries(layout: Layout, places: dict[str, list[int]], run: Sequence[int]) -> dict[int, tuple[str, int]]:
    """The entries of a table in a run of lines: each with its key, and how often the key has occurred in the run.

    A table and its text contain a key equally often ("Chapter 1" once for each part), so the text has begun where a key
    has occurred more often than it is still to occur.
    """
    entries: dict[int, tuple[str, int]] = {}
    times: dict[str, int] = defaultdict(int)
    for line in run:
        key = next(key for key in title_keys(layout.lines[line]) if key in places)
        times[key] += 1
        if times[key] * 2 > len(places[key]) and times[key] > 1:
            break
        entries[line] = (key, times[key])
    return entries


def _find_announced_lines(
    layout: Layout, places: dict[str, list[int]], entries: dict[int, tuple[str, int]]
) -> list[int]:
    """For each entry the same line after the table, if these are far enough apart."""
    if not entries:
        return []
    first, last = min(entries), max(entries)
    found: set[int] = set()
    keys = {key for key, _ in entries.values()}
    later = {key: [place for place in places[key] if place > last and layout.above[place]] for key in keys}
    for key, time in entries.values():
        found.update(later[key][time - 1 : time])
    spread = layout.body(min(found), max(found)) if found else 0
    return sorted(found) if spread > _SPREAD * (layout.body(first, last) + 1) else []


def _first_line(layout: Layout, first: int) -> int:
    """The table's own heading, if there is one right above it."""
    line = first - 1
    while line >= 0 and layout.body(line, first) < _DENSE:
        if _HEAD.match(layout.lines[line]):
            return line
        line -= 1
    return first


def _within(ranges: Sequence[tuple[int, int]], line: int) -> bool:
    return any(first <= line < last for first, last in ranges)
