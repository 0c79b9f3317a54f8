"""An edit as the smallest edits that a person can decide one by one: changed runs of words.

Words that change side by side are one edit; unchanged words between two changes separate them. Parts of a change that
make no sense without each other stay together: a passage that moves within a few lines, sentences or lines that trade
places, a word that moves within its sentence, and the line breaks of a rewrapped paragraph. Applied all together the
edits do exactly what the one edit did.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from redraft.text.diff.hunk_limits import is_oversized, split_oversized
from redraft.text.diff.hunks import diff
from redraft.text.diff.word_diff import MAX_WORD, has_word, is_reflow, tokens, word_before, word_behind, word_edits
from redraft.text.edits import Change, Edit, Span
from redraft.text.lines import count_breaks, split_lines
from redraft.text.sentences import sentences

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

# A passage this long that is removed here and inserted nearby has moved; shorter ones recur by chance.
MOVED = 12
TRIFLE = 4
NEARBY = 1_000


def widen_edits(edits: Sequence[Edit], text: str) -> list[Edit]:
    """The edits of a text, extended so that they can be cut: to the words in which each begins and ends, and if several
    words are replaced, to the sentences. The smallest edit between two texts begins where characters differ, but words
    that only begin alike are different words."""
    limits = [*(edit.at for edit in edits[1:]), len(text)] if edits else []
    wide: list[Edit] = []
    for edit, limit in zip(edits, limits, strict=True):
        reach = NEARBY if edit.old.strip().count(" ") and edit.new.strip().count(" ") else MAX_WORD
        before = text[max(wide[-1].end if wide else 0, edit.at - reach) : edit.at]
        behind = text[edit.end : min(limit, edit.end + reach)]
        if reach == NEARBY:
            before, behind = "".join(sentences(before)[-1:]), "".join(sentences(behind)[:1])
        else:
            before, behind = word_before(before), word_behind(behind)
        wide.append(Edit(edit.at - len(before), before + edit.old + behind, before + edit.new + behind))
    return wide


def word_runs(edit: Edit) -> list[list[Edit]]:
    """What a person decides one by one: groups of word edits, at positions of the same text, that belong together."""
    if edit.old != edit.new and _is_word(edit.old) and _is_word(edit.new):
        return [[edit]]  # a shortcut with the same result: thousands of small replacements are planned at once
    edits, borders = _part_moved_units(word_edits(edit.old, edit.new, tidy=False))
    found: list[list[Edit]] = []
    for part in _join_dependent(edit.old, _join_neighbours(edit.old, edits, borders)):
        whole = hull(edit.old, part)
        if not is_oversized(whole.old, whole.new):
            found.append(part)
            continue
        pieces = [hunk.edit.shift(whole.at) for hunk in split_oversized(diff(whole.old, whole.new), whole.old)]
        # Cut smaller, lines that were too many to be compared at once can be compared by words.
        found += [run for piece in pieces for run in (word_runs(piece) if len(pieces) > 1 else [[piece]])]
    return [[each.shift(edit.at) for each in part] for part in found]


def _is_word(text: str) -> bool:
    return len(text) <= MAX_WORD and text.isascii() and text.isalnum()


def hull(text: str, edits: Sequence[Edit]) -> Edit:
    """Several edits of a text as one, including what is between them."""
    start, end = edits[0].at, edits[-1].end
    old = text[start:end]
    return Edit(start, old, Change(tuple(each.shift(-start) for each in edits)).apply(old))


def _part_moved_units(edits: Sequence[Edit]) -> tuple[list[Edit], set[Edit]]:
    """The edits, and those of them that are not part of the change right before them: a sentence or line that another
    edit removes or inserts stays separate from words beside it that were merely replaced."""
    moved = [
        {_content(side) for side, other in sides if has_word(side) and not has_word(other)}
        for sides in ([(edit.old, edit.new) for edit in edits], [(edit.new, edit.old) for edit in edits])
    ]
    found: list[Edit] = []
    borders: set[Edit] = set()
    for edit in edits:
        pieces = [edit]
        if has_word(edit.old) and has_word(edit.new):
            if cut := _edge_of_moved_unit(edit.new, moved[0]):
                pieces = _cut(edit, 0 if _content(edit.new[:cut]) in moved[0] else len(edit.old), cut)
            elif cut := _edge_of_moved_unit(edit.old, moved[1]):
                pieces = _cut(edit, cut, 0 if _content(edit.old[:cut]) in moved[1] else len(edit.new))
        found += pieces
        borders.update(pieces[1:])
    return found, borders


def _cut(edit: Edit, old: int, new: int) -> list[Edit]:
    """An edit as two, cut at these positions of its old and new text."""
    return [Edit(edit.at, edit.old[:old], edit.new[:new]), Edit(edit.at + old, edit.old[old:], edit.new[new:])]


def _content(text: str) -> tuple[str, ...]:
    """The words of a text, unordered: if a sentence is moved, its first words may be those of the next one."""
    return tuple(sorted(_words(text)))


def _edge_of_moved_unit(text: str, moved: set[tuple[str, ...]]) -> int:
    """If a text begins or ends with one of the moved sentences or lines, where that ends or begins; 0 if there is
    none."""
    for units in (sentences(text), split_lines(text)) if moved else ():
        if len(units) > 1 and _content(units[0]) in moved:
            return len(units[0])
        if len(units) > 1 and _content(units[-1]) in moved:
            return len(text) - len(units[-1])
    return 0


def _join_neighbours(old: str, edits: Iterable[Edit], borders: set[Edit]) -> list[list[Edit]]:
    """The edits as runs: edits are one if only blanks are unchanged between them, or a word of one or two letters
    between rewritings of several words each, which they share by chance. Mere wrapping stays separate."""
    joined: list[list[Edit]] = []
    for edit in edits:
        joined.append([edit])
        while len(joined) > 1 and joined[-1][0] not in borders and _are_neighbours(old, *joined[-2:]):
            joined[-2:] = [joined[-2] + joined[-1]]
    return joined


def _are_neighbours(old: str, first: list[Edit], second: list[Edit]) -> bool:
    between = old[first[-1].end : second[0].at]
    if not between:
        return True
    if len(between) > TRIFLE or count_breaks(between) or is_reflow(first[-1]) or is_reflow(second[0]):
        return False
    return not between.strip() or (has_word(between) and _is_rewriting(first) and _is_rewriting(second))


def _is_rewriting(run: list[Edit]) -> bool:
    """Whether a run replaces several words with several others."""
    return all(len("".join(side).split()) > 1 for side in ([edit.old for edit in run], [edit.new for edit in run]))


class _Run(NamedTuple):
    """A run of edits, with what decides whether it depends on another one."""

    edits: list[Edit]
    reflow: bool
    lost: list[str]
    gained: list[str]
    lost_words: frozenset[str]
    gained_words: frozenset[str]

    @staticmethod
    def of(old: str, edits: list[Edit]) -> _Run:
        lost, gained = _find_exchanged_words(hull(old, edits))
        return _Run(edits, all(map(is_reflow, edits)), lost, gained, frozenset(lost), frozenset(gained))

    def shares_words(self, other: _Run) -> bool:
        """Whether one of the two removes a word that the other inserts."""
        return not (self.lost_words.isdisjoint(other.gained_words) and other.lost_words.isdisjoint(self.gained_words))


def _words(text: str) -> list[str]:
    """The words of a text, ignoring case."""
    return [token.casefold() for token in tokens(text) if has_word(token)]


def _find_exchanged_words(edit: Edit) -> tuple[list[str], list[str]]:
    """The words that an edit removes and inserts, without those that stay at either end."""
    lost, gained = _words(edit.old), _words(edit.new)
    for end in (0, -1):
        while lost and gained and lost[end] == gained[end]:
            del lost[end], gained[end]
    return lost, gained


def _join_dependent(old: str, runs: list[list[Edit]]) -> list[list[Edit]]:
    """The runs, with those that depend on each other, and those between them, joined."""
    if len(runs) < 2:
        return runs
    known = [_Run.of(old, edits) for edits in runs]
    reaches = _reaches_of_moved_units(old, known)
    joined: list[list[Edit]] = []
    index = 0
    while index < len(runs):
        reach = last = index
        while reach <= last:
            last = max(last, reaches.get(reach, last))
            for later in range(last + 1, len(runs)):
                if runs[later][0].at - runs[reach][-1].end > NEARBY:
                    break
                if _depend(old, known[reach], known[later]):
                    last = later
            reach += 1
        joined.append([edit for run in runs[index : last + 1] for edit in run])
        index = last + 1
    return joined


def _depend(old: str, first: _Run, second: _Run) -> bool:
    if first.reflow and second.reflow:
        return "\n\n" not in old[first.edits[-1].end : second.edits[0].at]
    if not first.shares_words(second):
        return False
    if _is_moved(first.lost, second.gained) or _is_moved(second.lost, first.gained):
        return True
    return _trade_words(first, second) and _is_one_sentence(old[first.edits[0].at : second.edits[-1].end])


def _is_moved(lost: list[str], gained: list[str]) -> bool:
    """Whether a passage that one run removes is inserted by another: the words of the shorter side in a row, or nearly
    all the words of both."""
    words, among = sorted((lost, gained), key=len)
    if len(words) < 2 or sum(map(len, words)) + len(words) <= MOVED or len(set(words)) < 2:
        return False
    if f" {' '.join(words)} " in f" {' '.join(among)} ":
        return True
    return 4 * len(words) >= 3 * len(among) and 4 * (Counter(words) & Counter(among)).total() >= 3 * len(among)


def _trade_words(first: _Run, second: _Run) -> bool:
    """Whether a word moves from one run to the other, or two words trade places: decided separately, the sentence would
    have a word twice, or not at all."""
    if all(
        sorted(lost) == sorted(gained) for lost, gained in ((first.lost, second.gained), (second.lost, first.gained))
    ):
        return bool(first.lost or first.gained)
    return _is_moved_word(first.lost, second.gained) or _is_moved_word(second.lost, first.gained)


def _is_moved_word(lost: list[str], gained: list[str]) -> bool:
    """Whether everything lost is part of what is gained, or the other way round; short words recur by chance."""
    words, among = (lost, gained) if len(lost) < len(gained) else (gained, lost)
    if not words or words[0] not in among:
        return False
    places = range(len(among) - len(words) + 1)
    return max(map(len, words)) > TRIFLE and any(among[at : at + len(words)] == words for at in places)


def _is_one_sentence(text: str) -> bool:
    """On one line, too: equal words in lines below each other are chance, as in a list of settings."""
    return not count_breaks(text) and len(sentences(text)) == 1


def _reaches_of_moved_units(old: str, runs: list[_Run]) -> dict[int, int]:
    """For the first of the runs that move a sentence or a line, the last one of them: decided separately, they would
    leave it twice, or not at all."""
    traded = set[str]().union(*(run.lost_words for run in runs)) & set[str]().union(*(run.gained_words for run in runs))
    reaches: dict[int, int] = {}
    for first, last in _stretches(runs, traded):
        for start, end in _find_moved_units(old, runs[first : last + 1]):
            reaches[first + start] = max(first + end, reaches.get(first + start, 0))
    return reaches


def _stretches(runs: list[_Run], traded: set[str]) -> Iterator[tuple[int, int]]:
    """The first and last of runs that are near each other and exchange words."""
    first = last = -1
    for index, run in enumerate(runs):
        if traded.isdisjoint(run.lost_words) and traded.isdisjoint(run.gained_words):
            continue
        if first < 0 or run.edits[0].at - runs[last].edits[-1].end > NEARBY:
            if first < last:
                yield first, last
            first = index
        last = index
    if first < last:
        yield first, last


def _find_moved_units(old: str, runs: list[_Run]) -> Iterator[tuple[int, int]]:
    """The first and last of the runs that remove a sentence or a line in one place and insert it in another."""
    edits = [edit for run in runs for edit in run.edits]
    start = max(0, edits[0].at - NEARBY)
    change = Change(tuple(edit.shift(-start) for edit in edits))
    before = old[start : edits[-1].end + NEARBY]
    after = change.apply(before)
    removed, added = ([edit.span for edit in side] for side in (change.edits, change.invert().edits))
    owners = [index for index, run in enumerate(runs) for _ in run.edits]
    for cut in (sentences, split_lines):
        there = _find_changed_units(cut(after), added)
        for words, out in _find_changed_units(cut(before), removed).items():
            if back := there.get(words):
                first, last = owners[min(out.start, back.start)], owners[max(out.end, back.end)]
                reach = NEARBY if len(" ".join(words)) >= MOVED else NEARBY // 10
                if runs[last].edits[0].at - runs[first].edits[-1].end <= reach:
                    yield first, last


def _find_changed_units(units: list[str], changed: list[Span]) -> dict[tuple[str, ...], Span]:
    """The sentences or lines with changed words, by all their words: from which of these changes to which. Not those
    that say too little, or nearly everything, and not those that occur twice."""
    found: dict[tuple[str, ...], Span | None] = {}
    starts, ends = [change.start for change in changed], [change.end for change in changed]
    for unit, end in zip(units, accumulate(map(len, units)), strict=True):
        start = end - len(unit)
        touched = [
            index
            for index in range(bisect_right(ends, start), bisect_left(starts, end))
            if has_word(unit[max(starts[index] - start, 0) : ends[index] - start])
        ]
        if touched and len(unit) <= NEARBY:
            words = tuple(_words(unit))
            if len(words) > 1 or len("".join(words)) > TRIFLE:
                found[words] = None if words in found else Span(touched[0], touched[-1])
    return {words: changes for words, changes in found.items() if changes}
