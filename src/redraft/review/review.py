"""A review: one document as the person accepted it, as agents made it, and as it is being worked on.

The value is a row of parts, each holding its stretch of the three texts; joined, they give base, proposed and working.
The cuts between the parts are kept rather than derived anew after every act, because a diff may align equal lines
differently once one of its hunks is gone: kept cuts are why decisions commute and hunk ids stay. What is shown (hunks,
authors, the text to save) is derived. Nothing here knows a file, a clock, or who is asking. See `acts` for what changes
a review.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal

from redraft.errors import Refused
from redraft.review.parting import take_back
from redraft.text.guard import is_oversized
from redraft.text.lines import count_breaks
from redraft.text.threeway import cut

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

HunkAuthor = Literal["none", "agent", "user", "mixed"]


@dataclass(frozen=True, slots=True)
class Part:
    """One stretch of the three texts. `turn` is the token of the agent's turn that last touched it."""

    base: str
    proposed: str
    working: str
    id: str = ""
    conflict: bool = False
    turn: str = ""

    @property
    def same(self) -> bool:
        return self.base == self.proposed == self.working and not self.conflict

    @property
    def is_hunk(self) -> bool:
        return self.working != self.base or self.conflict

    @property
    def author(self) -> HunkAuthor:
        if self.conflict and self.proposed != self.base:
            return "mixed"
        if self.working == self.base:
            return "none"
        if self.working == self.proposed:
            return "agent"
        return "user" if self.proposed == self.base else "mixed"

    def persons_own(self) -> tuple[str, bool]:
        """This stretch with the agent's part taken back, and whether the two could not be parted."""
        if self.author == "agent":
            return self.base, False
        if self.author != "mixed" or self.conflict:
            return self.working, False
        return take_back(self.base, self.proposed, self.working)


@dataclass(frozen=True, slots=True)
class ReviewHunk:
    """A part that differs from what the person has accepted, with its place in base and in working."""

    id: str
    author: HunkAuthor
    conflict: bool
    turn: str
    base: str
    proposed: str
    working: str
    at: int
    line: int
    working_at: int
    working_line: int
    working_column: int

    @property
    def oversized(self) -> bool:
        """Too large to be judged at once, and with no place to split it: taken or refused as one."""
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
    """The parts of one document, in order."""

    parts: tuple[Part, ...]

    @staticmethod
    def of(text: str) -> Review:
        """A review in which nothing is pending."""
        return Review((Part(text, text, text),) if text else ())

    @staticmethod
    def between(base: str, proposed: str, working: str, turn: str = "") -> Review:
        return Review(tidy(cut_parts(base, proposed, working, turn)))

    def recut(self, base: str, proposed: str, working: str, *others: Review) -> list[Part]:
        """The parts of other texts for the same review. A hunk that is still there, here or in one of the `others`,
        keeps its id; one that changed keeps the turn of the agent's hunk nearest to it, so that no pending hunk is ever
        without one, and its mark, without which a proposal that stands beside the text would be out of sight."""
        known: dict[tuple[str, str, str], Part] = {}
        agents: list[tuple[int, Part]] = []
        for review in (self, *others):
            for end, part in zip(accumulate(len(part.proposed) for part in review.parts), review.parts, strict=True):
                if not part.same:
                    known.setdefault((part.base, part.proposed, part.working), part)
                if part.turn:
                    agents.append((end, part))
        parts: list[Part] = []
        at = 0
        for part in cut_parts(base, proposed, working):
            at += len(part.proposed)
            if part.proposed != part.base and agents:
                _, like = min(agents, key=lambda agent: abs(agent[0] - at))
                conflict = like.conflict and part.working != part.proposed
                part = replace(part, turn=like.turn, conflict=conflict)  # noqa: PLW2901
            # Each known part is handed out once: two equal changes are still two hunks.
            parts.append(known.pop((part.base, part.proposed, part.working), part))
        return parts

    @cached_property
    def base(self) -> str:
        return "".join(part.base for part in self.parts)

    @cached_property
    def proposed(self) -> str:
        return "".join(part.proposed for part in self.parts)

    @cached_property
    def working(self) -> str:
        return "".join(part.working for part in self.parts)

    @cached_property
    def to_save(self) -> str:
        """What saving now would write: base and the person's own edits; an agent's pending hunks wait."""
        return "".join(part.persons_own()[0] for part in self.parts)

    @property
    def pending(self) -> bool:
        """Whether there is anything of an agent's left to decide."""
        return any(part.is_hunk and part.author in ("agent", "mixed") for part in self.parts)

    @cached_property
    def hunks(self) -> tuple[ReviewHunk, ...]:
        return tuple(self._hunks())

    def _hunks(self) -> Iterator[ReviewHunk]:
        at = line = working_at = working_line = line_at = 0
        for part in self.parts:
            if part.is_hunk:
                yield ReviewHunk(
                    part.id,
                    part.author,
                    part.conflict,
                    part.turn,
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

    def chosen(self, ids: Iterable[str]) -> set[str]:
        """The ids, all of which must name a hunk that is there."""
        wanted = set(ids)
        missing = wanted - {part.id for part in self.parts if part.is_hunk}
        if missing:
            names = ", ".join(sorted(missing))
            raise Refused(f"No such hunk in this review: {names}.", code="hunk_not_found", hunk_ids=sorted(missing))
        return wanted

    def cuts(self) -> list[list[Any]]:
        """The lengths and marks of the parts: with the three texts, all there is to a review."""
        return [
            [len(part.base), len(part.proposed), len(part.working), part.id, int(part.conflict), part.turn]
            for part in self.parts
        ]

    @staticmethod
    def from_cuts(base: str, proposed: str, working: str, cuts: Iterable[list[Any]]) -> Review:
        parts: list[Part] = []
        b = p = w = 0
        for base_length, proposed_length, working_length, name, conflict, turn in cuts:
            parts.append(
                Part(
                    base[b : b + base_length],
                    proposed[p : p + proposed_length],
                    working[w : w + working_length],
                    name,
                    bool(conflict),
                    turn,
                )
            )
            b, p, w = b + base_length, p + proposed_length, w + working_length
        if (b, p, w) != (len(base), len(proposed), len(working)):
            return Review.between(base, proposed, working)
        return Review(tuple(parts))


def _tears_a_break(text: str, at: int) -> bool:
    """Whether this place lies within a line break of two characters, which would be counted on either side."""
    return at > 0 and text.startswith("\r\n", at - 1)


def cut_parts(base: str, proposed: str, working: str, turn: str = "") -> list[Part]:
    return [
        Part(chunk.base, chunk.proposed, chunk.working, turn="" if chunk.base == chunk.proposed else turn)
        for chunk in cut(base, proposed, working)
    ]


def tidy(parts: Iterable[Part]) -> tuple[Part, ...]:
    """Join neighbours in which nothing differs, drop empty parts, and give every other part an id of its own.

    A part in which no agent has a say belongs to no turn: who refuses the turn must not refuse the person's own words.
    """
    tidied: list[Part] = []
    used = set[str]()
    listed = [replace(part, turn="") if part.turn and part.proposed == part.base else part for part in parts]
    used.update(part.id for part in listed if part.id)
    for part in listed:
        if not part.same:
            tidied.append(part if part.id else replace(part, id=fresh_id(part, used)))
        elif part.base:
            if tidied and tidied[-1].same:
                text = tidied.pop().base + part.base
                tidied.append(Part(text, text, text))
            else:
                tidied.append(Part(part.base, part.base, part.base))
    return tuple(tidied)


def fresh_id(part: Part, used: set[str]) -> str:
    """Named by content, so that the same change gets the same id when it is proposed again."""
    content = f"{part.base}\0{part.proposed}\0{part.working}".encode()
    number = 0
    while True:
        name = "h_" + hashlib.sha256(content + number.to_bytes(4, "big")).hexdigest()[:10]
        if name not in used:
            used.add(name)
            return name
        number += 1
