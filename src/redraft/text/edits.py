"""Changes of a text as values: `Span`, `Edit`, and `Change`, a set of edits against one text.

All offsets are code points of the text that the change applies to, never of a half-changed one, so edits of one change
do not depend on each other: any subset of them is a change as well. An edit has the text that it removes, so a change
can be inverted without the text, and is refused if something else is there. Nothing here compares texts to find good
edits (that is `diff`), and nothing here resolves a disagreement (that is `merge`).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, cast

from redraft.errors import Refused, Stale
from redraft.text.diff.sequence_diff import common_prefix, common_suffix

if TYPE_CHECKING:
    from redraft.text.text import Text


@dataclass(frozen=True, order=True, slots=True)
class Span:
    """A passage, from `start` up to but not including `end`."""

    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            raise ValueError(f"no span from {self.start} to {self.end}")

    def __len__(self) -> int:
        return self.end - self.start

    def __bool__(self) -> bool:
        # Without this an empty span would be false, and `if span` would mistake an insertion's position for None.
        return True

    def contains(self, offset: int) -> bool:
        """Whether the code point at `offset` is in the span."""
        return self.start <= offset < self.end

    def touches(self, other: Span) -> bool:
        """Whether they overlap or meet, so that nothing is between them."""
        return max(self.start, other.start) <= min(self.end, other.end)


@dataclass(frozen=True, slots=True)
class Edit:
    """At offset `at` the passage `old` becomes `new`."""

    at: int
    old: str
    new: str

    def __post_init__(self) -> None:
        if self.at < 0:
            raise ValueError(f"no edit at {self.at}")

    @property
    def end(self) -> int:
        """Where the removed passage ends."""
        return self.at + len(self.old)

    @property
    def span(self) -> Span:
        """The removed passage."""
        return Span(self.at, self.end)

    @property
    def growth(self) -> int:
        """How many code points longer the text becomes."""
        return len(self.new) - len(self.old)

    @property
    def inverted(self) -> Edit:
        """The edit that reverts this one, if it is the only one; see `Change.invert` for several."""
        return Edit(self.at, self.new, self.old)

    def shift(self, distance: int) -> Edit:
        """The same edit at another place."""
        return Edit(self.at + distance, self.old, self.new)

    def as_json(self) -> dict[str, Any]:
        return {"at": self.at, "old": self.old, "new": self.new}

    @classmethod
    def from_json(cls, data: object) -> Edit:
        """The value that `as_json` returned; raises `Refused` for anything else."""
        if isinstance(data, Mapping):
            fields = cast("Mapping[str, object]", data)
            at, old, new = fields.get("at"), fields.get("old"), fields.get("new")
            if type(at) is int and at >= 0 and isinstance(old, str) and isinstance(new, str):
                return cls(at, old, new)
        raise Refused("an edit must be an object with `at` (an offset), `old` and `new` (text)")


@dataclass(frozen=True)
class Change:
    """Edits against one text, in order and without overlaps. Several insertions may share a position."""

    edits: tuple[Edit, ...] = ()

    def __post_init__(self) -> None:
        for before, edit in pairwise(self.edits):
            if before.end > edit.at:
                raise ValueError(f"the edit at {edit.at} is out of order or overlaps the one at {before.at}")

    @classmethod
    def between(cls, old: str, new: str, *, words: bool = False) -> Change:
        """The one smallest edit that turns `old` into `new`, none if they are equal; it never splits a "\\r\\n".

        If it only removes or inserts, and can do so in whole words, it does: `two `, not `wo t`. With `words` it never
        begins or ends inside a word."""
        if old == new:
            return cls()
        start = common_prefix(old, new)
        if _parts_crlf(old, start) or _parts_crlf(new, start):
            start -= 1
        suffix = common_suffix(old, new, min(len(old), len(new)) - start)
        if _parts_crlf(old, len(old) - suffix) or _parts_crlf(new, len(new) - suffix):
            suffix -= 1
        if start + suffix in (len(old), len(new)):
            shift = _shift_to_word(max(old, new, key=len), start, suffix)
            start, suffix = start - shift, suffix + shift
        if words:
            while parts_word(old, start) or parts_word(new, start):
                start -= 1
            while parts_word(old, len(old) - suffix) or parts_word(new, len(new) - suffix):
                suffix -= 1
        return cls((Edit(start, old[start : len(old) - suffix], new[start : len(new) - suffix]),))

    @property
    def is_empty(self) -> bool:
        """Whether the text stays as it is."""
        return all(edit.old == edit.new for edit in self.edits)

    def apply(self, text: str) -> str:
        """The changed text; raises `Stale` if an edit's `old` is not what is there."""
        pieces: list[str] = []
        end = 0
        for edit in self.edits:
            if not text.startswith(edit.old, edit.at):
                raise _stale(edit)
            pieces += (text[end : edit.at], edit.new)
            end = edit.end
        pieces.append(text[end:])
        return "".join(pieces)

    def apply_to(self, text: Text) -> Text:
        """`apply`, for a `Text`."""
        for edit in reversed(self.edits):
            if edit.end > len(text) or text.slice(edit.at, edit.end) != edit.old:
                raise _stale(edit)
            text = text.replace(edit.at, edit.end, edit.new)
        return text

    def invert(self) -> Change:
        """The change of the changed text that restores the original."""
        return Change(
            tuple(edit.inverted.shift(growth) for edit, growth in zip(self.edits, self._growth_before, strict=False))
        )

    def map(self, offset: int, *, after: bool = True) -> int:
        """Where a position between two code points moves.

        The edges of a replaced passage move to the edges of its replacement. A position inside it moves to the end of
        that if `after`, else to its start. A position where something is inserted comes after it if `after`, else
        before.
        """
        passed = (bisect_right if after else bisect_left)(self._ends, offset)
        if not after and passed < len(self.edits) and self.edits[passed].at < offset == self._ends[passed]:
            passed += 1  # the passage ends here: the position is its edge, not one where something is inserted
        growth = self._growth_before[passed]
        if passed < len(self.edits) and self.edits[passed].at < offset:
            edit = self.edits[passed]
            return edit.at + growth + (len(edit.new) if after else 0)
        return offset + growth

    def only(self, indices: Iterable[int]) -> Change:
        """The change with only these edits, counted from 0; raises IndexError if there is no such edit."""
        chosen = sorted(set(indices))
        if chosen and not 0 <= chosen[0] <= chosen[-1] < len(self.edits):
            raise IndexError(f"there are {len(self.edits)} edits; no subset {chosen}")
        return Change(tuple(self.edits[index] for index in chosen))

    def then(self, other: Change) -> Change:
        """This change and then `other`, as one: `a.then(b).apply(t) == b.apply(a.apply(t))`.

        Edits of the two that meet become one; if they cancel out, none. Raises `Stale` if `other` cannot follow.
        """
        return Change(tuple(_compose(self.invert().edits, other.edits)))

    def rebase(self, since: Change) -> Change | None:
        """This change at the positions that its passages have after `since`, a change of the same text; None if that
        changed one of them, inserted something into it, or inserted something exactly where this does: nobody knows
        which of the two comes first."""
        edits: list[Edit] = []
        for edit in self.edits:
            passed = bisect_left(since._ends, edit.at)
            for other in since.edits[passed:]:
                if not edit.old and other.at == other.end == edit.at and other.new:
                    return None
                if other.at >= edit.end and (other.at > edit.at or other.old):
                    break
                if (other.at < edit.end and edit.at < other.end) or other.at < edit.at < other.end:
                    return None
                if edit.at < other.at < edit.end:
                    return None
            edits.append(edit.shift(since.map(edit.at, after=bool(edit.old)) - edit.at))
        return Change(tuple(edits))

    def as_json(self) -> list[dict[str, Any]]:
        return [edit.as_json() for edit in self.edits]

    @classmethod
    def from_json(cls, data: object) -> Change:
        """The value that `as_json` returned; raises `Refused` for anything else."""
        if not isinstance(data, Sequence) or isinstance(data, str):
            raise Refused("a change must be a list of edits")
        try:
            return cls(tuple(map(Edit.from_json, cast("Sequence[object]", data))))
        except ValueError as error:
            raise Refused(str(error)) from error

    @cached_property
    def _ends(self) -> tuple[int, ...]:
        return tuple(edit.end for edit in self.edits)

    @cached_property
    def _growth_before(self) -> tuple[int, ...]:
        """By how much the edits before each one, and finally all of them, move what follows."""
        return tuple(accumulate((edit.growth for edit in self.edits), initial=0))


def _compose(undo: Sequence[Edit], redo: Sequence[Edit]) -> Iterator[Edit]:
    """The edits of a composition, seen from the text in the middle: `undo` leads back from there, `redo` forward.

    Edits of the two sides that meet form a group. Within a group every character of the middle text is known from an
    `old` of one side or the other, so that both of its ends can be computed without the text itself.
    """
    back, forth = 0, 0
    growth = 0
    while back < len(undo) or forth < len(redo):
        first_back, first_forth = back, forth
        if forth == len(redo) or (back < len(undo) and undo[back].at <= redo[forth].at):
            back += 1
        else:
            forth += 1
        while True:
            if back < len(undo) and forth > first_forth and undo[back].at <= redo[forth - 1].end:
                back += 1
            elif forth < len(redo) and back > first_back and redo[forth].at <= undo[back - 1].end:
                forth += 1
            else:
                break
        edit = _join(undo[first_back:back], redo[first_forth:forth])
        if edit.old != edit.new or back == first_back or forth == first_forth:
            yield edit.shift(growth)
        growth += sum(edit.growth for edit in undo[first_back:back])


def _join(undo: Sequence[Edit], redo: Sequence[Edit]) -> Edit:
    """One group of `_compose` as an edit, still at its place in the middle text."""
    edits = sorted([*undo, *redo], key=lambda edit: edit.at)
    start = edits[0].at
    middle = ""
    for edit in edits:
        middle += edit.old[start + len(middle) - edit.at :]
    try:
        old, new = (Change(tuple(edit.shift(-start) for edit in side)).apply(middle) for side in (undo, redo))
    except Stale as error:
        raise Stale("the second change is not one of the text that the first one makes", code="conflict") from error
    return Edit(start, old, new)


def _parts_crlf(text: str, offset: int) -> bool:
    return offset > 0 and text.startswith("\r\n", offset - 1)


def _shift_to_word(text: str, start: int, suffix: int) -> int:
    """How far to the left a passage, up to `suffix` characters before the end, begins and ends beside words rather than
    inside them while it stays the same change; 0 if nowhere."""
    end = len(text) - suffix
    for shift in range(min(start, end - start) + 1):
        first, last = start - shift, end - shift
        if not any(parts_word(text, place) or _parts_crlf(text, place) for place in (first, last)):
            return shift
        if not shift < start or text[first - 1] != text[last - 1]:
            break
    return 0


def parts_word(text: str, offset: int) -> bool:
    """Whether a position is inside a word."""
    return 0 < offset < len(text) and text[offset - 1].isalnum() and text[offset].isalnum()


def _stale(edit: Edit) -> Stale:
    return Stale(f"the text at {edit.at} is not what the edit takes out", code="conflict", at=edit.at)


# The log of what happened to a document between two of its versions, as far as this process knows it exactly.
#
# Everything that is typed or committed in this process adds a step: the change from one version to the next. A version
# is a hash of the content, so a step stays true. `rebase.carry_forward` carries an edit made for an earlier version
# along these steps, which can tell two equal lines apart; where the log ends, it compares the texts. The log is bounded
# and is only a cache: what it has forgotten is compared.


MAX_DOCUMENTS = 64
MAX_STEPS = 1000
MAX_CHARACTERS = 4_000_000


@dataclass(frozen=True, slots=True)
class ChangeStep:
    """`change` leads from the version `before` to `after`. It was asked for as `asked`, an edit of version `made_for`;
    `by` is the token of its turn, empty for typing."""

    before: str
    after: str
    change: Change
    made_for: str
    asked: Change
    by: str = ""

    @property
    def size(self) -> int:
        return sum(len(edit.old) + len(edit.new) for edit in self.change.edits)


class ChangeLog:
    """The last steps of the documents that were changed last."""

    def __init__(self) -> None:
        self._steps: OrderedDict[str, list[ChangeStep]] = OrderedDict()
        self._sizes: dict[str, int] = {}

    def add(self, path: str, steps: Iterable[ChangeStep]) -> None:
        new = list(steps)
        known = self._steps.setdefault(path, [])
        known.extend(new)
        self._steps.move_to_end(path)
        self._sizes[path] = self._sizes.get(path, 0) + sum(step.size for step in new)
        # Cut back now and then rather than each time: somebody is typing.
        if len(known) > 2 * MAX_STEPS or self._sizes[path] > MAX_CHARACTERS:
            size, kept = 0, 0
            for step in reversed(known[-MAX_STEPS:]):
                if size + step.size > MAX_CHARACTERS:
                    break
                size, kept = size + step.size, kept + 1
            del known[: len(known) - kept]
            self._sizes[path] = size
        while len(self._steps) > MAX_DOCUMENTS:
            forgotten, _ = self._steps.popitem(last=False)
            del self._sizes[forgotten]

    def since(self, path: str, version: str, until: str) -> list[ChangeStep]:
        """The steps from `version` on, as far as they are known: to `until`, or to where nobody knows how it went on.
        Empty where none is known."""
        known = self._steps.get(path, [])
        start = next((at for at in range(len(known) - 1, -1, -1) if known[at].before == version), len(known))
        return [] if version == until else follow(known[start:], version, until)

    def text_of(self, path: str, version: str, now: Text, until: str) -> Text | None:
        """The text of an earlier version, from the present one, whose version is `until`."""
        steps = self.since(path, version, until)
        if not steps or steps[-1].after != until:
            return None
        for step in reversed(steps):
            now = step.change.invert().apply_to(now)
        return now


def follow(steps: Iterable[ChangeStep], version: str, until: str) -> list[ChangeStep]:
    """Those of the steps that lead on from a version, one after the other, to where they reach `until` last; where they
    never do, as far as they go."""
    found: list[ChangeStep] = []
    reached = 0
    for step in steps:
        if step.before == version:
            found.append(step)
            version = step.after
            reached = len(found) if version == until else reached
    return found[:reached] if reached else found
