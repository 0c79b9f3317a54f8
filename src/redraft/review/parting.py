"""Taking an agent's change back out of a text that a person has typed into since.

Word by word, `working` is what the person made of `proposed`, and `proposed` what the agent made of `base`. So a word
of working that came by way of proposed from base stays, one that proposed alone has is the agent's and goes, and any
other was typed and stays. A word that the agent took out of base comes back where it was, unless the person has put it
back already. Nothing of base and nothing typed is lost, even where the two touch.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from redraft.text.matching import changed
from redraft.text.words import tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

Origin = Literal["kept", "typed", "brought back"]

# Up to here pairs are found exactly; `changed` would call two short texts with little in common unrelated.
EXACT = 40_000


def take_back(base: str, proposed: str, working: str) -> tuple[str, bool]:
    """`working` with the step from `base` to `proposed` undone, and whether a person should look at the result."""
    old, theirs, mine = tokens(base), tokens(proposed), tokens(working)
    by_proposed = pairs(mine, theirs)
    kept_by_agent = pairs(old, theirs)
    from_base = set(kept_by_agent.values())
    typed = [i for i in range(len(mine)) if i not in by_proposed]
    back = _to_bring_back(old, kept_by_agent, [mine[i] for i in typed])
    own: list[tuple[str, Origin]] = []
    for i, word in enumerate(mine):
        place = by_proposed.get(i)
        if place is None:
            own.append((word, "typed"))
            continue
        while back and back[0][0] <= place:
            _append(own, back.pop(0)[1], "brought back")
        if place in from_base:
            _append(own, word, "kept")
    for _, word in back:
        _append(own, word, "brought back")
    return "".join(word for word, _ in own), _is_doubtful(own)


def _is_doubtful(own: list[tuple[str, Origin]]) -> bool:
    """Whether words brought back stand right beside words that were typed: perhaps instead of them."""
    origins = [origin for word, origin in own if not word.isspace()]
    return any({left, right} == {"typed", "brought back"} for left, right in pairwise(origins))


def _to_bring_back(old: Sequence[str], kept: dict[int, int], typed: Sequence[str]) -> list[tuple[int, str]]:
    """The words that the agent took out and the person has not typed again, each with its place in proposed."""
    gone = [i for i in range(len(old)) if i not in kept]
    again = pairs([old[i] for i in gone], typed)
    found: list[tuple[int, str]] = []
    place = 0
    wanted = {i for number, i in enumerate(gone) if number not in again}
    for i, word in enumerate(old):
        if i in kept:
            place = kept[i] + 1
        elif i in wanted:
            found.append((place, word))
    return found


def _append(own: list[tuple[str, Origin]], word: str, origin: Origin) -> None:
    """Put a word after what stands there, never joining two words into one."""
    before = own[-1][0] if own else ""
    # Many scripts put nothing between words: there two that stand side by side are still two.
    if before and before[-1].isalnum() and word[0].isalnum() and len(tokens(before + word)) == 1:
        own.append((" ", origin))
    own.append((word, origin))


def pairs(one: Sequence[str], other: Sequence[str]) -> dict[int, int]:
    """Which word of `one` is which of `other`, in order."""
    if len(one) * len(other) <= EXACT:
        return _longest(one, other)
    found: dict[int, int] = {}
    at = other_at = 0
    for region in changed(one, other):
        found.update(zip(range(at, region.old_start), range(other_at, region.new_start), strict=True))
        at, other_at = region.old_end, region.new_end
    found.update(zip(range(at, len(one)), range(other_at, len(other)), strict=True))
    return found


def _longest(one: Sequence[str], other: Sequence[str]) -> dict[int, int]:
    """The longest common subsequence."""
    lengths = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i in range(len(one) - 1, -1, -1):
        for j in range(len(other) - 1, -1, -1):
            same = one[i] == other[j]
            lengths[i][j] = lengths[i + 1][j + 1] + 1 if same else max(lengths[i + 1][j], lengths[i][j + 1])
    found: dict[int, int] = {}
    i = j = 0
    while i < len(one) and j < len(other):
        if one[i] == other[j]:
            found[i] = j
            i, j = i + 1, j + 1
        elif lengths[i + 1][j] >= lengths[i][j + 1]:
            i += 1
        else:
            j += 1
    return found
