"""The chapters of a plain text, by a vote of families.

Lines that may be headings are gathered in families (one keyword and its numbers, bare numerals, titles in capitals,
titles that a table of contents announces). A family is believed when its members count up, follow finished sentences
and have text between them; the families that explain the document make its outline, nested by rank. A table of contents
itself, and what belongs to its lines, is left out.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING

from redraft.formats import titles
from redraft.formats.contents import contents
from redraft.formats.dates import days
from redraft.formats.markers import RANK_OF_TITLED, Marker, markers
from redraft.formats.marks import Mark
from redraft.formats.sequences import chain

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from redraft.formats.contents import Contents
    from redraft.formats.entries import Confidence, Rule
    from redraft.formats.layout import Layout

# The fewest members of a family that no keyword vouches for.
_FEWEST_BARE = 2
_FEWEST_OTHER = 3
# The share of a family that must follow a finished sentence; page numbers reach about a third.
_FINISHED = 0.6
# The share of a family without a keyword that must be part of its sequence.
_PURE = 0.5
# A list has less text between its numbers than this, sections have more; used where chapters are known already.
_SECTION = 600
# What stands between the title of a book and its first section: an author, a place, a year.
_TITLE_PAGE = 300


def chapters(layout: Layout) -> list[Mark]:
    """The headings of a plain text that it marks by words, numbers or capitals."""
    table = contents(layout)
    numbered = _numbered(layout, [marker for marker in markers(layout) if not table.holds(marker.line)])
    found: dict[int, tuple[int, str, Rule]] = {
        marker.line: (marker.rank, marker.text, "chapter_marker") for marker in numbered
    }
    rank = min((marker.rank for marker in numbered if marker.rank >= RANK_OF_TITLED), default=RANK_OF_TITLED)
    for line in _titles(layout, table, numbered):
        found.setdefault(line, (rank, layout.lines[line], "visual_pattern"))
    for line, title in titles.dashed(layout):
        found.setdefault(line, (rank, title, "chapter_marker"))
    return _levels(layout, found)


def _numbered(layout: Layout, candidates: Sequence[Marker]) -> list[Marker]:
    families: dict[tuple[str, str], list[Marker]] = defaultdict(list)
    for marker in candidates:
        families[_family(marker)].append(marker)
        if marker.kind == "word" and marker.title:
            # "ADVENTURE VI. A TITLE" may be followed by "VII. ANOTHER".
            families["titled", marker.style].append(marker)
    believed: dict[int, Marker] = {}
    for family in sorted(families.values(), key=lambda family: family[0].rank):
        family.sort(key=lambda marker: marker.line)
        higher = [marker.line for marker in believed.values() if marker.rank < family[0].rank]
        best = chain(family, higher)
        if _believed(layout, family, best, among=believed):
            believed.update((marker.line, marker) for marker in best)
    return _without_mentions(sorted(believed.values(), key=lambda marker: marker.line))


def _without_mentions(believed: Sequence[Marker]) -> list[Marker]:
    """Leaves out a lone "Letter 4" among the chapters; alone in a text it may be all that there is."""
    times = Counter(map(_family, believed))
    if len(believed) <= _FEWEST_OTHER:
        return list(believed)
    return [marker for marker in believed if times[_family(marker)] > 1 or marker.number == 1]


def _family(marker: Marker) -> tuple[str, str]:
    return (marker.kind, marker.word if marker.kind in ("keyword", "word") else marker.style)


def _believed(layout: Layout, family: Sequence[Marker], best: Sequence[Marker], among: Iterable[int]) -> bool:
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
        return False  # the same number again and again, such as the word "I"
    return not any(among) or _middle_body(layout, best) >= _SECTION


def _middle_body(layout: Layout, members: Sequence[Marker]) -> int:
    bodies = sorted(layout.body(one.line, other.line) for one, other in pairwise(members))
    return bodies[len(bodies) // 2] if bodies else 0


def _titles(layout: Layout, table: Contents, numbered: Sequence[Marker]) -> list[int]:
    found = {line for line in titles.named(layout) if not table.holds(line)}
    found.update(table.announced)
    if not _explained(layout, numbered):
        found.update(line for line in _visual(layout, table) if not table.holds(line))
    return _without_title_page(layout, sorted(found), [marker.line for marker in numbered])


def _visual(layout: Layout, table: Contents) -> Sequence[int]:
    """Titles by their look alone: like those that a table announces, dates, underlined, or in capitals."""
    if table.announced:
        return _like(layout, titles.capitals(layout), table.announced)
    diary = days(layout)
    if diary:
        return diary
    underlined = titles.underlined(layout)
    if len(underlined) >= _FEWEST_OTHER and titles.covers(layout, underlined):
        return underlined
    return [*underlined, *titles.capitals(layout)]


def _without_title_page(layout: Layout, found: list[int], numbered: Sequence[int]) -> list[int]:
    """Leaves out the title and the author before the first section: lines with next to nothing below them."""
    least = min(_TITLE_PAGE, layout.written[-1] // 50)
    for place, line in enumerate(found):
        after = min([*found[place + 1 : place + 2], *numbered[:1]], default=line)
        if after <= line or layout.body(line, after) >= least:
            return found[place:]
    return []


def _like(layout: Layout, lines: Sequence[int], models: Sequence[int]) -> list[int]:
    """The lines that look as most of the models do: a table of contents may have a misprint."""
    room = sorted(layout.above[line] for line in models)[len(models) // 4]
    if sum(layout.lines[line].isupper() for line in models) * 4 < len(models) * 3:
        return []
    return [line for line in lines if models[0] < line and layout.above[line] >= room]


def _explained(layout: Layout, numbered: Sequence[Marker]) -> bool:
    """Numbered headings divide most of the text: capitals between them are something else."""
    if not numbered:
        return False
    return layout.body(numbered[0].line, numbered[-1].line) * 2 > layout.written[-1]


def _levels(layout: Layout, found: dict[int, tuple[int, str, Rule]]) -> list[Mark]:
    order = sorted({rank for rank, _, _ in found.values()})
    numbers = {line for line, (_, _, rule) in found.items() if rule == "chapter_marker"}
    marks: list[Mark] = []
    for line in sorted(found):
        rank, title, rule = found[line]
        if marks and rule == "visual_pattern" and layout.body(marks[-1].line, line) == 0:
            continue  # the title of the heading above it
        if rule == "chapter_marker" and (more := titles.title_below(layout, line, numbers)):
            title = f"{title.rstrip('.:')}: {more}"
        confidence: Confidence = "high" if rule == "chapter_marker" else "medium"
        marks.append(Mark(title, order.index(rank) + 1, line, rule, confidence))
    return marks
