"""A review: a document as runs of characters, each of which knows who inserted it and who deleted it.

What a person has accepted, what agents propose and what the person sees are three readings of the same runs, so nothing
is ever guessed from equal words: rejecting an agent's edit removes exactly the characters that it inserted and brings
back exactly those that it deleted, whoever typed between them since.

Runs that belong to one edit, with whatever was typed inside it, form a part; a part that differs from what the person
accepted is a hunk.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise, takewhile
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from redraft.errors import Refused
from redraft.review.runs import USER, Run, RunEdit, agent_run_edits, number_of, rewrite, suggestion_of, turn_of
from redraft.text.diff.hunk_limits import is_oversized
from redraft.text.diff.word_diff import MAX_WORD, word_around, word_edits
from redraft.text.diff.word_runs import widen_edits
from redraft.text.edits import Change
from redraft.text.lines import count_breaks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from redraft.review.labels import HunkLabel

HunkAuthor = Literal["none", "agent", "user", "mixed"]
# The turn of a proposal whose own is not known any more.
EARLIER = "earlier"


@dataclass(frozen=True)
class Part:
    """One stretch of a review: text in which nothing is pending, one edit of an agent's, or something that the person
    typed."""

    runs: tuple[Run, ...]
    id: str = ""

    @cached_property
    def base(self) -> str:
        """The text that a reject brings back: the saved text. If an agent deletes what the person typed, that typing,
        and not what it replaced."""
        return "".join([run.text for run in self.runs if self.has_in_base(run)])

    def has_in_base(self, run: Run) -> bool:
        """Whether `base` contains a run of this part."""
        if self._takes_out_typing:
            return (not run.by and USER not in run.gone) or (run.by == USER and run.taken_out_by_agent)
        return not run.by

    @cached_property
    def proposed(self) -> str:
        hidden = USER if self._takes_out_typing else None
        return "".join([run.text for run in self.runs if run.in_proposed and (run.by or hidden not in run.gone)])

    @cached_property
    def _takes_out_typing(self) -> bool:
        return any(run.by == USER and run.taken_out_by_agent for run in self.runs)

    @cached_property
    def working(self) -> str:
        return "".join([run.text for run in self.runs if run.in_working])

    @cached_property
    def saved(self) -> str:
        """The disk's text of this part."""
        return "".join([run.text for run in self.runs if not run.by])

    @cached_property
    def own(self) -> str:
        """What saving would write: without agents' edits, with the person's."""
        return "".join([run.text for run in self.runs if run.in_own])

    @cached_property
    def same(self) -> bool:
        return all(run.plain for run in self.runs)

    @cached_property
    def conflict(self) -> bool:
        return any(run.clash for run in self.runs)

    @cached_property
    def overwrites(self) -> bool:
        """Whether saving the part would overwrite what another program wrote meanwhile, or bring back what that
        deleted."""
        return any(run.overwritten or (run.forgotten and not self.saved) for run in self.runs)

    @cached_property
    def beside(self) -> bool:
        """Whether what the person typed and what another program wrote meanwhile stand side by side, undecided."""
        typed = any(run.clash and run.by == USER and not run.gone for run in self.runs)
        return typed and not self.marks and any(run.clash and not run.by and not run.gone for run in self.runs)

    @property
    def unsaveable(self) -> bool:
        """Whether the part cannot be saved before the person has chosen between their words and another program's."""
        return self.overwrites or self.beside

    @property
    def unsettled(self) -> bool:
        """Whether the person has to choose before the part can be accepted: between an agent's words and somebody
        else's, or between their own and another program's."""
        return self.conflict and (bool(self.marks) or self.unsaveable)

    @cached_property
    def is_hunk(self) -> bool:
        return not self.same and (self.conflict or self.working != self.base)

    @cached_property
    def author(self) -> HunkAuthor:
        if self.same:
            return "none"
        if self.conflict and self.marks:
            return "mixed"
        if self.working == self.base:
            return "none"
        if self.working == self.proposed:
            return "agent"
        return "user" if self.proposed == self.base else "mixed"

    @cached_property
    def marks(self) -> tuple[str, ...]:
        """The agents' edits in the part, newest last."""
        found = {mark for run in self.runs for mark in run.marks}
        return tuple(sorted(found, key=lambda mark: (number_of(mark), mark)))

    @cached_property
    def turns(self) -> tuple[str, ...]:
        """The agents' turns that have words in the part, newest last."""
        return tuple(dict.fromkeys(turn_of(mark) for mark in self.marks))

    @property
    def turn(self) -> str:
        return self.turns[-1] if self.turns else ""

    def find_entangled_turns(self, turn: str) -> EntangledTurns:
        """Which other turns changed the same words as a turn: those before it, and those after it. The turn cannot be
        accepted without the former, nor rejected without the latter. Words beside each other are not the same words."""
        earlier, later = set[str](), set[str]()
        for words in self._find_changed_words():
            marks = [mark for run in words for mark in run.marks]
            mine = [number_of(mark) for mark in marks if turn_of(mark) == turn]
            for mark in marks if mine else ():
                if turn_of(mark) != turn:
                    (later if number_of(mark) > min(mine) else earlier).add(turn_of(mark))
        return EntangledTurns(earlier, later)

    def _find_changed_words(self) -> Iterator[tuple[Run, ...]]:
        """Each changed run, and each two that meet inside a word."""
        for run in self.runs:
            if not run.plain:
                yield (run,)
        for first, second in pairwise(self.runs):
            if not (first.plain or second.plain) and first.text[-1:].isalnum() and second.text[:1].isalnum():
                yield (first, second)


class EntangledTurns(NamedTuple):
    """Turns that changed the same words as another turn, by whether they did so before or after it."""

    earlier: set[str]
    later: set[str]


@dataclass(frozen=True, slots=True)
class ReviewHunk:
    """A part that differs from what the person has accepted, with its place in the base and in the working text."""

    id: str
    author: HunkAuthor
    conflict: bool
    unsettled: bool
    beside: bool
    turns: tuple[str, ...]
    suggestion: str
    base: str
    proposed: str
    working: str
    at: int
    line: int
    working_at: int
    working_line: int
    working_column: int

    @property
    def turn(self) -> str:
        """The newest of the agents' turns that have words in the hunk."""
        return self.turns[-1] if self.turns else ""

    @property
    def oversized(self) -> bool:
        """Whether the hunk is too large to judge at once and cannot be split: it is accepted or rejected as a whole."""
        return is_oversized(self.base, self.working)

    def as_json(self) -> dict[str, Any]:
        return {
            "hunk_id": self.id,
            "author": self.author,
            "conflict": self.conflict,
            "oversized_hunk": self.oversized,
            "base": self.base,
            "proposed": self.proposed,
            "working": self.working,
            "start_line": self.line + 1,
            "working_start_line": self.working_line + 1,
            "working_column": self.working_column,
            "working_at": self.working_at,
        }


@dataclass(frozen=True)
class Review:
    """The parts of one document, in order. Made by the operations, which keep it consistent."""

    parts: tuple[Part, ...]

    @staticmethod
    def of(text: str) -> Review:
        """A review in which nothing is pending."""
        return Review((Part((Run(text),)),) if text else ())

    @staticmethod
    def of_runs(runs: Iterable[Run]) -> Review:
        return Review(join_parts(group_runs(runs)))

    @staticmethod
    def between(base: str, proposed: str, working: str, turn: str = "") -> Review:
        """A review with these three readings, for data from before runs were stored: words are matched by comparing."""
        edits = Change.between(base, proposed).edits
        runs = rewrite([Run(base)], agent_run_edits(edits, widen_edits(edits, base), turn or EARLIER, 1))
        typed = [RunEdit(edit.at, edit.end, edit.new) for edit in word_edits(proposed, working)]
        return Review.of_runs(rewrite(runs, typed))

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        return tuple(run for part in self.parts for run in part.runs)

    @cached_property
    def base(self) -> str:
        return "".join([part.base for part in self.parts])

    @cached_property
    def proposed(self) -> str:
        return "".join([part.proposed for part in self.parts])

    @cached_property
    def working(self) -> str:
        return "".join([part.working for part in self.parts])

    @cached_property
    def saved(self) -> str:
        """The disk's text."""
        return "".join([part.saved for part in self.parts])

    @cached_property
    def to_save(self) -> str:
        """What saving now would write: what the person accepted or typed; an agent's pending edits wait."""
        return "".join([part.own for part in self.parts])

    @property
    def pending(self) -> bool:
        """Whether anything of an agent's is left to decide."""
        return any(part.is_hunk and part.author in ("agent", "mixed") for part in self.parts)

    @property
    def unsaveable(self) -> bool:
        """Whether the review cannot be saved before the person has chosen between their words and another program's."""
        return any(part.unsaveable for part in self.parts)

    @cached_property
    def turns(self) -> frozenset[str]:
        """The agents' turns that still have words in the review, even if no hunk shows them."""
        return frozenset(turn for part in self.parts for turn in part.turns)

    @cached_property
    def hunks(self) -> tuple[ReviewHunk, ...]:
        return tuple(self._hunks())

    @cached_property
    def labels(self) -> dict[str, tuple[HunkLabel, ...]]:
        """The labels that say what to look at first, by the id of the hunk."""
        from redraft.review.labels import hunk_labels  # its patterns take longer to compile than some commands run

        found = zip(self.hunks, hunk_labels(self.base, self.working, self.hunks), strict=True)
        return {hunk.id: labels for hunk, labels in found if labels}

    def label_counts(self) -> dict[HunkLabel, int]:
        """How many hunks have each label."""
        return dict(Counter(label for labels in self.labels.values() for label in labels))

    def _hunks(self) -> Iterator[ReviewHunk]:
        at = line = working_at = working_line = line_at = 0
        for part in self.parts:
            if part.is_hunk:
                yield ReviewHunk(
                    part.id,
                    part.author,
                    part.conflict,
                    part.unsettled,
                    part.beside,
                    part.turns,
                    suggestion_of(part.marks[-1]) if part.marks else "",
                    part.base,
                    part.proposed,
                    part.working,
                    at,
                    line,
                    working_at,
                    working_line,
                    working_at - line_at,
                )
            if breaks := count_breaks(part.base):
                line += breaks - _tears_a_break(self.base, at)
            at += len(part.base)
            if breaks := count_breaks(part.working):
                working_line += breaks - _tears_a_break(self.working, working_at)
                line_at = working_at + max(part.working.rfind("\n"), part.working.rfind("\r")) + 1
            working_at += len(part.working)

    def require_hunks(self, ids: Iterable[str]) -> set[str]:
        """Refuse ids that do not name a hunk."""
        wanted = set(ids)
        missing = wanted - {part.id for part in self.parts if part.is_hunk}
        if missing:
            names = ", ".join(sorted(missing))
            raise Refused(f"No such hunk in this review: {names}.", code="hunk_not_found", hunk_ids=sorted(missing))
        return wanted

    @cached_property
    def text(self) -> str:
        """Every character of the review, whoever inserted or deleted it. Together with `cuts`, this is the whole
        review."""
        return "".join([run.text for part in self.parts for run in part.runs])

    def cuts(self) -> list[list[Any]]:
        """For each part its id and its runs, each with its length in `text` and its marks."""
        return [
            [part.id, [[len(run.text), run.by, list(run.gone), int(run.clash)] for run in part.runs]]
            for part in self.parts
        ]

    @staticmethod
    def from_cuts(text: str, cuts: Iterable[list[Any]]) -> Review:
        parts: list[Part] = []
        at = 0
        for name, rows in cuts:
            runs: list[Run] = []
            for length, by, gone, clash in rows:
                runs.append(Run(text[at : at + length], by, tuple(gone), bool(clash)))
                at += length
            parts.append(Part(tuple(runs), name))
        return Review(tuple(parts))


def _tears_a_break(text: str, at: int) -> bool:
    """Whether this place splits a line break of two characters, which would then be counted on both sides."""
    return at > 0 and text.startswith("\r\n", at - 1)


# How runs form parts


def group_runs(runs: Iterable[Run]) -> list[Part]:
    """Group runs into parts. An edit of an agent's is one part with everything inside it; edits that share characters
    are one part; what the person typed elsewhere is a part of its own."""
    listed = [run for run in runs if run.text]
    ends: dict[str, int] = {}
    for index, run in enumerate(listed):
        for mark in run.marks:
            ends[mark] = index
    parts: list[Part] = []
    index = 0
    while index < len(listed):
        start = last = index
        if listed[index].marks:
            while index <= last:
                last = max([last, *(ends[mark] for mark in listed[index].marks)])
                index += 1
        elif listed[index].plain:
            while index < len(listed) and listed[index].plain:
                index += 1
        else:
            while index < len(listed) and not listed[index].plain and not listed[index].marks:
                index += 1
        parts.append(Part(tuple(listed[start:index])))
    return _with_words([_settle(part) for part in _join_related(parts)])


def _join_related(parts: list[Part]) -> list[Part]:
    """Join neighbouring parts that are about the same words."""
    joined: list[Part] = []
    for part in parts:
        before = joined[-1] if joined else None
        if before is not None and (
            _is_about_conflict(before, part) or _is_one_word(before, part) or _is_replacement(before, part)
        ):
            joined[-1] = Part((*before.runs, *part.runs))
        else:
            joined.append(part)
    return joined


def _is_one_word(part: Part, behind: Part) -> bool:
    """Whether edits of several turns meet inside a word: nobody can decide about half a word."""
    if not part.turns or not behind.turns or part.turns == behind.turns:
        return False
    return part.runs[-1].text[-1].isalnum() and behind.runs[0].text[0].isalnum()


def _is_replacement(part: Part, behind: Part) -> bool:
    """Whether one part is what the person typed in place of the agent's words in the other."""
    return (_is_typing(behind) and has_lost_words(reversed(part.runs))) or (
        _is_typing(part) and has_lost_words(behind.runs)
    )


def _is_typing(part: Part) -> bool:
    return not part.same and not part.marks and not part.conflict


def has_lost_words(runs: Iterable[Run]) -> bool:
    """Whether these runs begin with an agent's words that the person deleted, possibly after other invisible runs."""
    hidden = takewhile(lambda run: not run.in_working, runs)
    return any(run.is_agents and USER in run.gone and not run.clash for run in hidden)


def _is_about_conflict(part: Part, behind: Part) -> bool:
    """Whether one part is a conflict and the other what the person changed right beside it."""
    if part.same or behind.same or (part.marks and behind.marks):
        return False
    return part.conflict or behind.conflict


def _with_words(parts: list[Part]) -> list[Part]:
    """Extend an agent's edit inside a word to the whole word, because people decide about words. Not if another change
    is in the same word."""
    framed = list(parts)
    for index, part in enumerate(parts):
        if not part.marks or part.conflict:
            continue
        runs = part.runs
        before = framed[index - 1].saved if index and parts[index - 1].same else ""
        behind = parts[index + 1].saved if index + 1 < len(parts) and parts[index + 1].same else ""
        lead, tail = _rest_of_words(before, part, behind)
        if lead and (lead < len(before) or index == 1):
            framed[index - 1] = Part((Run(before[:-lead]),))
            runs = (Run(before[-lead:]), *runs)
        if tail and (tail < len(behind) or index + 2 == len(parts)):
            framed[index + 1] = Part((Run(behind[tail:]),))
            runs = (*runs, Run(behind[:tail]))
        framed[index] = Part(runs, part.id)
    return [part for part in framed if part.runs and any(run.text for run in part.runs)]


def _rest_of_words(before: str, part: Part, behind: str) -> tuple[int, int]:
    """How many characters of the words in which a part begins and ends are before and after it."""
    before, behind = before[-MAX_WORD:], behind[:MAX_WORD]
    lead = tail = 0
    for text in {part.base, part.working} - {""}:
        whole = before + text + behind
        lead = max(lead, len(before) - word_around(whole, len(before))[0])
        tail = max(tail, word_around(whole, len(before + text))[1] - len(before + text))
    return lead, tail


def _settle(part: Part) -> Part:
    """The part with equal neighbouring runs joined; plain text if nothing is left to decide. An agent's words that
    another agent deleted are kept although nobody sees them: rejecting the deletion needs them."""
    part = Part(tuple(join_runs(part.runs)))
    if all(run.forgotten for run in part.runs):
        return Part(())
    kept = part.conflict or any(run.is_agents and run.gone for run in part.runs)
    if not kept and part.saved == part.base == part.proposed == part.working == part.own:
        return Part((Run(part.base),))
    if not part.conflict and part.working == part.base == part.saved != part.own:
        return Part((Run(part.base),))  # the person typed the old words again: the agent's edit is refused by that
    return part


def join_runs(runs: Iterable[Run]) -> Iterator[Run]:
    """Join neighbouring runs that have the same state."""
    for (by, gone, clash), alike in groupby(runs, lambda run: run[1:]):
        yield Run("".join([run.text for run in alike]), by, gone, clash)


def join_parts(parts: Iterable[Part], known: Iterable[Part] = ()) -> tuple[Part, ...]:
    """Join neighbours in which nothing is pending, and give every other part an id of its own. A part that contains an
    edit of one of the `known` parts keeps its id; a new part is named by its content, so that the same change gets the
    same id when it is proposed again."""
    tidied: list[Part] = []
    listed = list(parts)
    names = {mark: part.id for part in known for mark in part.marks}
    used = {part.id for part in listed if part.id}
    equal = Counter[bytes]()  # how many of the same content have a name already
    for same, alike in groupby(listed, lambda part: part.same):
        if same:
            tidied += _join_same([part for part in alike if part.saved])
            continue
        for part in alike:
            tidied.append(part if part.id else Part(part.runs, _name(part, names, used, equal)))
    return tuple(tidied)


def _join_same(parts: list[Part]) -> list[Part]:
    """Join neighbours in which nothing is pending. A part that stands alone is kept as an object, with what it has
    computed."""
    return parts if len(parts) < 2 else [Part((Run("".join([part.saved for part in parts])),))]


def _name(part: Part, names: dict[str, str], used: set[str], equal: Counter[bytes]) -> str:
    for mark in part.marks:
        name = names.get(mark, "")
        if name and name not in used:
            used.add(name)
            return name
    content = f"{part.base}\0{part.proposed}\0{part.working}".encode()
    while True:
        name = "h_" + hashlib.sha256(content + equal[content].to_bytes(4, "big")).hexdigest()[:10]
        equal[content] += 1
        if name not in used:
            used.add(name)
            return name
