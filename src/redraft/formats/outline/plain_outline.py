"""The outline of plain text: chapters if it has any, else its paragraphs.

The first two passes look for numbered markers (`chapter_markers`) and for titles. The third divides by blank lines and
scene breaks, for a text that has no other structure.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from redraft.formats.markdown_headings import Heading
from redraft.formats.outline.chapter_markers import RANK_OF_TITLED, ChapterMarker, chapter_markers, tables_of_contents
from redraft.formats.outline.layout import Layout
from redraft.formats.outline.outline import NOTE, Confidence, Outline, Rule, nest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from redraft.formats.outline.chapter_markers import TableOfContents


# Titles without a number: capitals between blank lines, underlined lines, and the names of a book's parts.
#
# Their surroundings distinguish them from shouting, signatures, speakers and running heads: a title occurs once, after
# a finished sentence, with more space above it than a paragraph has, and prose follows.


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


# Which numbered lines of a family are headings: those that form a sequence.
#
# A family is all markers of one form. Headings count up from 1 and start again in a new part; a mention in prose, a
# list and a line of a poem do not fit. `chain` finds the best such sequence in one pass. Nothing here reads text.


# The cost of a step; a marker that fits scores 1. A skipped number is an overlooked heading; starting again gains
# nothing unless at least two markers follow.
_SKIP = 0.6
_AGAIN = 0.9
_MOST_SKIPPED = 3
# A later start means that something is missing, and beyond this that it is no sequence at all.
_LATE_START = 0.4


@dataclass(slots=True)
class _Link:
    marker: ChapterMarker
    score: float
    before: _Link | None


def chain(family: Sequence[ChapterMarker], dividers: Sequence[int] = ()) -> list[ChapterMarker]:
    """The best sequence in a family, in line order; `dividers` are lines where numbers may start again."""
    best: _Link | None = None
    latest: dict[int, _Link] = {}
    places = iter(sorted(dividers))
    divider = next(places, None)
    divided = False
    for marker in family:
        while divider is not None and divider <= marker.line:
            divided, divider = True, next(places, None)
        link = _extend(marker, latest, best, 0.0 if divided else _AGAIN)
        rival = latest.get(marker.number)
        if rival is None or link.score >= rival.score:
            latest[marker.number] = link
        if best is None or link.score >= best.score:
            best = link
        divided = divided and marker.number != 1
    return _unroll(best)


def _extend(marker: ChapterMarker, latest: dict[int, _Link], best: _Link | None, again: float) -> _Link:
    options: list[tuple[float, _Link | None]] = [(1 - _LATE_START * (marker.number - 1), None)]
    options += [
        (before.score + 1 - _SKIP * (step - 1), before)
        for step in range(1, _MOST_SKIPPED + 1)
        if (before := latest.get(marker.number - step))
    ]
    if best is not None and marker.number == 1:
        options.append((best.score + 1 - again, best))
    score, before = max(options, key=lambda option: option[0])
    return _Link(marker, score, before)


def _unroll(link: _Link | None) -> list[ChapterMarker]:
    found: list[ChapterMarker] = []
    while link is not None:
        found.append(link.marker)
        link = link.before
    return found[::-1]


# The chapters of a plain text, chosen by families.
#
# Lines that may be headings are grouped in families (one keyword and its numbers, bare numerals, titles in capitals,
# titles that a table of contents lists). A family is accepted if its members count up, follow finished sentences and
# have text between them; the families that explain the document make its outline, nested by rank. A table of contents
# itself, with everything in it, is left out.


# The fewest members of a family without a keyword.
_FEWEST_BARE = 2
_FEWEST_OTHER = 3
# The share of a family that must follow a finished sentence; page numbers reach about a third.
_FINISHED = 0.6
# The share of a family without a keyword that must be part of its sequence.
_PURE = 0.5
# Lists have less text between their numbers than this, sections have more; used if chapters are already known.
_SECTION = 600
# What may be between the title of a book and its first section: an author, a place, a year.
_TITLE_PAGE = 300


def chapters(layout: Layout) -> list[Heading]:
    """The headings that a plain text marks with words, numbers or capitals."""
    table = tables_of_contents(layout)
    numbered = _find_numbered(layout, [marker for marker in chapter_markers(layout) if not table.holds(marker.line)])
    found: dict[int, tuple[int, str, Rule]] = {
        marker.line: (marker.rank, marker.text, "chapter_marker") for marker in numbered
    }
    rank = min((marker.rank for marker in numbered if marker.rank >= RANK_OF_TITLED), default=RANK_OF_TITLED)
    for line in _titles(layout, table, numbered):
        found.setdefault(line, (rank, layout.lines[line], "visual_pattern"))
    for line, title in find_dashed_titles(layout):
        found.setdefault(line, (rank, title, "chapter_marker"))
    return _levels(layout, found)


def _find_numbered(layout: Layout, candidates: Sequence[ChapterMarker]) -> list[ChapterMarker]:
    families: dict[tuple[str, str], list[ChapterMarker]] = defaultdict(list)
    for marker in candidates:
        families[_family(marker)].append(marker)
        if marker.kind == "word" and marker.title:
            # "ADVENTURE VI. A TITLE" may be followed by "VII. ANOTHER".
            families["titled", marker.style].append(marker)
    believed: dict[int, ChapterMarker] = {}
    for family in sorted(families.values(), key=lambda family: family[0].rank):
        family.sort(key=lambda marker: marker.line)
        higher = [marker.line for marker in believed.values() if marker.rank < family[0].rank]
        best = chain(family, higher)
        if _is_believed(layout, family, best, among=believed):
            believed.update((marker.line, marker) for marker in best)
    return _drop_mentions(sorted(believed.values(), key=lambda marker: marker.line))


def _drop_mentions(believed: Sequence[ChapterMarker]) -> list[ChapterMarker]:
    """Drop a lone "Letter 4" among the chapters; alone in a text it may be the only heading."""
    times = Counter(map(_family, believed))
    if len(believed) <= _FEWEST_OTHER:
        return list(believed)
    return [marker for marker in believed if times[_family(marker)] > 1 or marker.number == 1]


def _family(marker: ChapterMarker) -> tuple[str, str]:
    return (marker.kind, marker.word if marker.kind in ("keyword", "word") else marker.style)


def _is_believed(
    layout: Layout, family: Sequence[ChapterMarker], best: Sequence[ChapterMarker], among: Iterable[int]
) -> bool:
    finished = sum(layout.after_a_finished_sentence(marker.line) for marker in best)
    if finished < _FINISHED * len(best):
        return False
    kind = family[0].kind
    if kind == "keyword":
        return True
    fewest = _FEWEST_BARE if kind == "bare" and family[0].style == "roman" else _FEWEST_OTHER
    if len(best) < fewest or len(best) < _PURE * len(family) or best[0].number != 1:
        return False
    if max(marker.number for marker in best) < fewest:
        return False  # the same number repeated, such as the word "I"
    return not any(among) or _middle_body(layout, best) >= _SECTION


def _middle_body(layout: Layout, members: Sequence[ChapterMarker]) -> int:
    bodies = sorted(layout.body(one.line, other.line) for one, other in pairwise(members))
    return bodies[len(bodies) // 2] if bodies else 0


def _titles(layout: Layout, table: TableOfContents, numbered: Sequence[ChapterMarker]) -> list[int]:
    found = {line for line in find_named_parts(layout) if not table.holds(line)}
    found.update(table.announced)
    if not _is_explained(layout, numbered):
        found.update(line for line in _visual(layout, table) if not table.holds(line))
    return _drop_title_page(layout, sorted(found), [marker.line for marker in numbered])


def _visual(layout: Layout, table: TableOfContents) -> Sequence[int]:
    """Titles by their look alone: like those in a table of contents, dates, underlined, or in capitals."""
    if table.announced:
        return _similar_titles(layout, capital_titles(layout), table.announced)
    diary = days(layout)
    if diary:
        return diary
    underlined = find_underlined_titles(layout)
    if len(underlined) >= _FEWEST_OTHER and covers_text(layout, underlined):
        return underlined
    return [*underlined, *capital_titles(layout)]


def _drop_title_page(layout: Layout, found: list[int], numbered: Sequence[int]) -> list[int]:
    """Drop the title and the author before the first section: lines with next to nothing below them."""
    least = min(_TITLE_PAGE, layout.written[-1] // 50)
    for place, line in enumerate(found):
        after = min([*found[place + 1 : place + 2], *numbered[:1]], default=line)
        if after <= line or layout.body(line, after) >= least:
            return found[place:]
    return []


def _similar_titles(layout: Layout, lines: Sequence[int], models: Sequence[int]) -> list[int]:
    """The lines that look like most of the models: a table of contents may have a misprint."""
    room = sorted(layout.above[line] for line in models)[len(models) // 4]
    if sum(layout.lines[line].isupper() for line in models) * 4 < len(models) * 3:
        return []
    return [line for line in lines if models[0] < line and layout.above[line] >= room]


def _is_explained(layout: Layout, numbered: Sequence[ChapterMarker]) -> bool:
    """Whether numbered headings divide most of the text: capitals between them are then something else."""
    if not numbered:
        return False
    return layout.body(numbered[0].line, numbered[-1].line) * 2 > layout.written[-1]


def _levels(layout: Layout, found: dict[int, tuple[int, str, Rule]]) -> list[Heading]:
    order = sorted({rank for rank, _, _ in found.values()})
    numbers = {line for line, (_, _, rule) in found.items() if rule == "chapter_marker"}
    marks: list[Heading] = []
    for line in sorted(found):
        rank, title, rule = found[line]
        if marks and rule == "visual_pattern" and layout.body(marks[-1].line, line) == 0:
            continue  # the title of the heading above it
        if rule == "chapter_marker" and (more := title_below(layout, line, numbers)):
            title = f"{title.rstrip('.:')}: {more}"
        confidence: Confidence = "high" if rule == "chapter_marker" else "medium"
        marks.append(Heading(title, order.index(rank) + 1, line, rule, confidence))
    return marks


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
    marks = marks or list(paragraph_breaks(layout))
    shown = [mark for mark in marks if mark.level <= max_depth]
    return Outline("heuristic", nest(shown), _confidence(marks), NOTE) if shown else Outline("none")


def paragraph_breaks(layout: Layout) -> Iterator[Heading]:
    """Paragraphs as sections: of level 1 after three blank lines or a scene break, else of level 2.

    A single paragraph is no structure.
    """
    starts = list(_starts(layout))
    if len(starts) < 2:
        return
    divided = any(level == 1 for _, level, _ in starts[1:])
    for number, (line, level, rule) in enumerate(starts):
        yield Heading(_first_words(layout, line), level if number else 2 - divided, line, rule, "low")


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


def _confidence(marks: Sequence[Heading]) -> Confidence | None:
    """How far the rule that found most of the sections can be trusted."""
    rules: list[Rule] = [mark.detected_by for mark in marks if mark.detected_by]
    return _CONFIDENCE[max(_CONFIDENCE, key=rules.count)] if rules else None
