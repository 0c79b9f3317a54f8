"""What happened to a document between two of its versions, as far as this process knows it exactly.

Everything that is typed or committed here leaves a step: the change that leads from one version to the next. A version
is a hash of the content, so a step is true for good, whatever becomes of it later. An edit that was made for an earlier
version is carried forward along these steps, which know one of two equal lines from the other; where they end, the
texts are compared instead. The log is a memory, not a record: it is bounded, and what it forgets is compared.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from functools import reduce
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from redraft.text.edits import Change, Edit
from redraft.text.rebase import rebase_over_change, rebase_over_difference, rebase_over_own

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from redraft.text.text import Text

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


class KnownChange(NamedTuple):
    """A part of the way from an earlier text to a later one: what is known of it, and the text that it leads to."""

    steps: Sequence[ChangeStep]
    text: Text


def carry_forward(
    asked: Change,
    version: str,
    then: Text,
    legs: Iterable[KnownChange],
    is_own: Callable[[ChangeStep], bool] = lambda _: False,
) -> Change | None:
    """Edits of `then`, whose version is given, as edits of the text to which the legs lead; None where one of them
    cannot be carried there.

    Past the caller's own steps an edit goes unless they overlap; past anybody else's, known or not, only if its text
    and the lines beside it are what they were.
    """
    text, places = then, [edit.at for edit in asked.edits]
    for leg in legs:
        for own, group in groupby(leg.steps, is_own):
            steps = list(group)
            found = (
                _rebase_over_own(asked, version, places, steps)
                if own
                else _rebase_over_others(asked, places, steps, text)
            )
            if found is None:
                return None
            places = found
            text = reduce(lambda before, step: step.change.apply_to(before), steps, text)
        if text != leg.text:
            found = rebase_over_difference(_at(asked, places), str(text), str(leg.text))
            if found is None:
                return None
            places = found
        text = leg.text
    return Change(tuple(_at(asked, places)))


def _rebase_over_own(asked: Change, version: str, places: list[int], steps: list[ChangeStep]) -> list[int] | None:
    found: list[int] | None = places
    for step in steps:
        # Edits for one version are told apart there: since then, two places may have become one.
        together = step.made_for == version
        edits = asked.edits if together else _at(asked, found)
        found = rebase_over_own(edits, found, step.asked if together else step.change, step.change)
        if found is None:
            return None
    return found


def _rebase_over_others(asked: Change, places: list[int], steps: list[ChangeStep], text: Text) -> list[int] | None:
    change = reduce(Change.then, [step.change for step in steps])
    old = str(text)
    return rebase_over_change(_at(asked, places), change, old, change.apply(old))


def _at(asked: Change, places: Sequence[int]) -> list[Edit]:
    return [Edit(place, edit.old, edit.new) for edit, place in zip(asked.edits, places, strict=True)]
