"""Runs of characters, each of which knows who put it in and who took it out, and how edits change them.

Run(text)                          saved: the disk has it
Run(text, by=USER)                 typed by the person, not saved yet
Run(text, by="turn#3.0")           put in by an agent: part 0 of suggestion 3 of that turn
Run(text, gone=("turn#3.0",))      taken out by that edit
Run(text, by=USER, gone=(USER,))   what stood there before a conflict of the person's with another program; unseen
Run(..., clash=True)               somebody else changed the same words: agents' marks here are not carried out
                                   in the working text, and what the person typed over another program's words
                                   is not saved, until a person has chosen
"""

from __future__ import annotations

import re
from collections import deque
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from redraft.text.diff.word_runs import word_runs
from redraft.text.edits import Change, Edit, parts_word

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

USER = "user"
# Nobody decides more changes of one line one by one: beyond that, neighbours are decided together.
MAX_LINE_EDITS = 500


class Run(NamedTuple):
    """Characters with the same history. See the module."""

    text: str
    by: str = ""
    gone: tuple[str, ...] = ()
    clash: bool = False

    @property
    def plain(self) -> bool:
        """Whether all three readings contain it, and nobody waits for a decision."""
        return not self.by and not self.gone and not self.clash

    @property
    def taken_out_by_agent(self) -> bool:
        return any(mark != USER for mark in self.gone)

    @property
    def in_proposed(self) -> bool:
        return self.by != USER and not self.taken_out_by_agent

    @property
    def in_working(self) -> bool:
        if self.clash:
            return not self.is_agents and USER not in self.gone
        return not self.gone

    @property
    def in_own(self) -> bool:
        """Whether saving would write it; agents' marks do not count."""
        return not self.is_agents and USER not in self.gone

    @property
    def overwritten(self) -> bool:
        """Whether another program wrote it over words that the person had changed: the person's words take its place,
        and came first. (If the person later deletes words of a conflict with an agent, the agent's mark comes
        first.)"""
        return self.clash and not self.by and self.gone[:1] == (USER,)

    @property
    def forgotten(self) -> bool:
        """Whether it is what was there before the person and another program changed it: no reading contains it, and it
        is kept only to compare it with what that program writes next."""
        return self.by == USER and USER in self.gone

    @property
    def is_agents(self) -> bool:
        return self.by not in ("", USER)

    @property
    def marks(self) -> list[str]:
        """The agents' edits that this run belongs to."""
        return [mark for mark in (self.by, *self.gone) if mark not in ("", USER)]

    def without(self, *marks: str) -> Run:
        return self._replace(gone=tuple(mark for mark in self.gone if mark not in marks))


def turn_of(mark: str) -> str:
    """The token of the turn that an edit belongs to."""
    return mark.rpartition("#")[0]


def suggestion_of(mark: str) -> str:
    """The suggestion (one edit of one call) that a run of words belongs to."""
    return mark.rpartition(".")[0]


def number_of(mark: str) -> int:
    """The number of an edit's suggestion in its review: a later suggestion has a higher number."""
    return int(mark.rpartition("#")[2].partition(".")[0])


class RunEdit(NamedTuple):
    """A stretch of the working text and its new text. In a clash the old text stays, and `new` is put beside it."""

    start: int
    end: int
    new: str
    mark: str = USER
    clash: bool = False


def agent_run_edits(
    edits: Sequence[Edit],
    wide: Sequence[Edit],
    turn: str,
    number: int,
    is_typed: Callable[[int, int], bool] = lambda _start, _end: False,
) -> list[RunEdit]:
    """An agent's edits by runs of words, each with a mark of its own, numbered from `number`; `wide` are the same edits
    as `widen_edits` returns them. If a word becomes another one, only the characters that differ are touched, and the
    rest keeps its author. But words that contain unsaved typing (`is_typed`) are replaced as a whole, as far as the
    edit reaches: nobody can decide about half a word."""
    return [
        RunEdit(words.at + part.at, words.at + part.end, part.new, f"{turn}#{number + index}.{place}")
        for index, (edit, wide) in enumerate(zip(edits, wide, strict=True))
        for place, run in enumerate(word_runs(wide))
        for words in run
        for part in _find_changed_characters(words, edit, is_typed)
    ]


def _find_changed_characters(words: Edit, edit: Edit, is_typed: Callable[[int, int], bool]) -> Iterable[Edit]:
    """The part of an edit by words that changes anything: whole words if several become one or one becomes several, so
    that nothing can be typed between two words and end up inside one when the edit is rejected. It leaves alone
    whatever the agent's own `edit` does, of which `words` may be a wider view."""
    old, new = words.old, words.new
    edits = Change.between(old, new).edits
    first, last = max(words.at, edit.at), min(words.end, edit.end)
    if not edits or not (len(old.split()) > 1 or len(new.split()) > 1 or is_typed(first, last)):
        return edits
    start, kept = edits[0].at, len(old) - edits[0].end
    while start > first - words.at and any(parts_word(text, start) for text in (old, new)):
        start -= 1
    while kept > words.end - last and any(parts_word(text, len(text) - kept) for text in (old, new)):
        kept -= 1
    return (Edit(start, old[start : len(old) - kept], new[start : len(new) - kept]),)


def join_crowded(touches: list[RunEdit], text: str) -> list[RunEdit]:
    """The edits of a text. In a line with more edits than anybody decides one by one, neighbours share a mark."""
    joined: list[RunEdit] = []
    for line in _by_lines(touches, text):
        marks = list(dict.fromkeys(touch.mark for touch in line))
        if len(marks) <= MAX_LINE_EDITS:
            joined += line
            continue
        several = -(-len(marks) // MAX_LINE_EDITS)
        shared = {mark: marks[index - index % several] for index, mark in enumerate(marks)}
        joined += [touch._replace(mark=shared[touch.mark]) for touch in line]
    return joined


def _by_lines(touches: list[RunEdit], text: str) -> list[list[RunEdit]]:
    """The edits line by line; those of one suggestion stay together, and a clash stands alone."""
    lines: list[list[RunEdit]] = []
    for touch in touches:
        before = lines[-1][-1] if lines else None
        if before is None or touch.clash or before.clash:
            lines.append([touch])
        elif touch.mark == before.mark or all(text.find(each, before.start, touch.start) < 0 for each in "\r\n"):
            lines[-1].append(touch)
        else:
            lines.append([touch])
    return lines


def rewrite(runs: Sequence[Run], touches: Sequence[RunEdit], at: int = 0) -> list[Run]:
    """The runs after these edits of their working text, which begins at offset `at`. The edits are in order and do not
    overlap. Inserted text goes right after the character before it, so before anything that is hidden there; a
    replacement goes after what it replaces."""
    out: list[Run] = []
    waiting = deque(touches)
    _insert_at(out, waiting, at)
    for run in runs:
        if not run.in_working:
            out.append(run)
            continue
        done = 0
        while left := len(run.text) - done:
            touch = waiting[0] if waiting else None
            if touch is None or touch.start >= at + left:
                length = left
            else:
                length = touch.start - at if touch.start > at else min(left, touch.end - at)
            piece = run._replace(text=run.text[done : done + length])
            inside = touch is not None and touch.start <= at < touch.end
            out += _remove(piece, touch) if inside and touch is not None else [piece]
            done, at = done + length, at + length
            if inside and touch is not None and at == touch.end:
                _insert(out, waiting.popleft())
            _insert_at(out, waiting, at)
    for touch in waiting:
        _insert(out, touch)
    return out


def _insert_at(out: list[Run], waiting: deque[RunEdit], at: int) -> None:
    while waiting and waiting[0].start == waiting[0].end == at:
        _insert(out, waiting.popleft())


def _insert(out: list[Run], touch: RunEdit) -> None:
    if touch.new:
        out.append(Run(touch.new, touch.mark, (), touch.clash))


def _remove(run: Run, touch: RunEdit) -> list[Run]:
    if touch.mark == USER:
        return [] if run.by == USER else [run._replace(gone=(*run.gone, USER))]
    if run.is_agents and turn_of(run.by) == turn_of(touch.mark):
        return []  # a turn that writes over its own words leaves no trace of them
    if touch.clash and run.is_agents and not run.clash:
        return [run]  # the edit waits: until then, nothing is taken out
    return [run._replace(gone=(*run.gone, touch.mark), clash=run.clash or touch.clash)]


# Where the person takes an agent's words out, or types the old ones again


def return_kept_characters(runs: list[Run]) -> list[Run]:
    """The runs after the person deleted an agent's words, together with the characters that the agent kept of the old
    words and the blanks between. Those characters are no words of their own, so the agent's edit is taken to have
    replaced them too: a reject brings the old words back whole. Saved words that the person deleted beside them stay
    deleted."""
    out: list[Run] = []
    for removed, stretch in groupby(runs, lambda run: not run.in_working):
        some = list(stretch)
        if removed and any(run.is_agents and run.gone == (USER,) for run in some):
            some = list(_give_to_agent(some))
        out += some
    return out


def _give_to_agent(runs: list[Run]) -> Iterator[Run]:
    """See `return_kept_characters`: these runs are a stretch that is now invisible to the person."""
    pieces = [run._replace(text=piece) for run in runs for piece in re.findall(r"\s+|\S+", run.text)]
    seen = [index for index, run in enumerate(pieces) if run.gone == (USER,) and run.by != USER and not run.clash]
    marks: dict[int, str] = {}
    for word in _words(pieces, seen):
        mark = next((pieces[index].by for index in word if pieces[index].is_agents), "")
        marks.update(dict.fromkeys(word, mark))
    for place, index in enumerate(seen):
        if pieces[index].text.isspace() and not marks[index]:
            beside = (marks[seen[other]] for other in (place - 1, place + 1) if 0 <= other < len(seen))
            marks[index] = next(filter(None, beside), "")
    for index, run in enumerate(pieces):
        if not run.by and marks.get(index):
            yield run._replace(gone=(marks[index],))
            yield run._replace(by=marks[index])
        else:
            yield run


def _words(pieces: list[Run], seen: list[int]) -> Iterator[list[int]]:
    """The places of pieces that formed a word together, or the blanks between two words."""
    for _, word in groupby(seen, lambda index: pieces[index].text.isspace()):
        yield list(word)


def restore_retyped(runs: list[Run]) -> list[Run]:
    """If the person typed again what they or an agent had just deleted there, restore it. That rejects the agent's
    edit, if nothing else of it is left to see."""
    for index, run in enumerate(runs):
        if run.by != USER or run.gone or run.clash:
            continue
        for other in _find_hidden_beside(runs, index):
            hidden = runs[other]
            if hidden.text == run.text and hidden.by != USER and not hidden.clash and not hidden.is_agents:
                refused = [mark for mark in hidden.marks if not _is_seen(runs, mark)]
                if len(refused) == len(hidden.marks):
                    restored = [
                        each._replace(gone=()) if place == other else each
                        for place, each in enumerate(runs)
                        if place != index and not (each.is_agents and each.by in refused)
                    ]
                    return restore_retyped(restored)
            elif hidden.is_agents and hidden.text == run.text and hidden.gone == (USER,) and not hidden.clash:
                restored = [each.without(USER) if place == other else each for place, each in enumerate(runs)]
                return [each for place, each in enumerate(restored) if place != index]
    return runs


def _find_hidden_beside(runs: list[Run], index: int) -> Iterator[int]:
    """The invisible runs right before and after a place."""
    for step in (-1, 1):
        place = index + step
        while 0 <= place < len(runs) and not runs[place].in_working:
            yield place
            place += step


def _is_seen(runs: list[Run], mark: str) -> bool:
    return any(run.by == mark and run.in_working for run in runs)
