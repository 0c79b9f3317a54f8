"""What an agent made of a text, brought into what the text has become meanwhile. Pure.

The base is the text that the answer was made for, as its caller names it. An answer changes components and adds to the
end, so only those are merged, each by itself; all other bytes are the person's. Where both changed the same words,
`merge` marks both versions as git's diff3 does, and `crdt` keeps both, each whole and once, the one that stood there
first. What was typed below the prompt stays below the answer (`boundary`). Nothing that was stored before has a say, so
the result is the same whatever was.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from redraft.errors import Refused
from redraft.formats.components import component, components, refenced, undisturbed
from redraft.formats.components_filled import Filling, filled
from redraft.sessions.applying import FOR_THE_REST, USER, begins_block
from redraft.sessions.boundary import joined, parted
from redraft.text.lines import adopt_newlines
from redraft.text.markers import Row, whole_lines
from redraft.text.merge import Clean, merge

if TYPE_CHECKING:
    from redraft.sessions.applying import Applied
    from redraft.sessions.fields import Strategy
    from redraft.text.merge import Conflict, Merge, Piece

_WORD = re.compile(r"\w+|\r\n|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Merged:
    """The text that both sides come to, and how many places both had changed."""

    text: str
    conflicts: int = 0


def merge_answer(base: str, current: str, applied: Applied, strategy: Strategy, author: str = "agent") -> Merged:
    """The current text with what `applied` made of `base`; `conflict` where a component that it needs is gone."""
    if current == base:
        return Merged(applied.text)
    text, conflicts = current, 0
    for name in _outermost(base, applied):
        text, number = _merge_component(base, text, applied, name, strategy, author)
        conflicts += number
    if applied.tail:
        text, number = _merge_tail(text, applied, strategy, author)
        conflicts += number
    return Merged(text, conflicts)


def _merge_tail(text: str, applied: Applied, strategy: Strategy, author: str) -> tuple[str, int]:
    """The text with what the answer adds to its end; an exchange that another began meanwhile is gone on with."""
    place = component(text, "exchange") if applied.new_exchange else None
    if place is not None:
        there = components(applied.tail)[0].inner(applied.tail).strip() in place.inner(text)
        # The same change of both sides stands once.
        return text if there else filled(text, place, applied.new_exchange, Filling("append")), 0
    names = [each.name for each in components(text)]
    # Only what follows the last component can meet the tail; a conflict must not take markers with it.
    start, base = _last_end(text), applied.filled[_last_end(applied.filled) :]
    for tail in (applied.tail, refenced(applied.tail)):
        found, result = _with_tail(base, text[start:], tail, strategy, author)
        result = text[:start] + result
        if _names(result) == [*names, *["exchange"] * bool(applied.new_exchange)]:
            return result, len(found.conflicts)
    raise Refused("With this answer the markers of the document would no longer pair.", code="conflict")


def _with_tail(base: str, now: str, tail: str, strategy: Strategy, author: str) -> tuple[Merge, str]:
    """The end of a document with the tail in it: below what was asked, and above what was typed since."""
    cut = parted(base, now, base + tail)
    if cut is None:
        found = merge(base, now, base + tail)
        return found, kept(found, strategy, author)
    own = begins_block(cut.below)
    if own:  # then it needs no block of the person's to stand in
        tail = tail.rstrip().removesuffix(USER).rstrip() + adopt_newlines("\n", tail)
    found = merge(base, cut.above, base + tail)
    return found, joined(kept(found, strategy, author), cut.below, apart=own)


def _last_end(text: str) -> int:
    return max((each.end for each in components(text)), default=0)


def _names(text: str) -> list[str] | None:
    try:
        return [each.name for each in components(text)]
    except Refused:
        return None


def kept(found: Merge, strategy: Strategy, author: str) -> str:
    """The merged text, with its conflicts as the strategy has them."""
    if found.clean:
        return found.text
    return found.marked(("person", "before", author)) if strategy == "merge" else keep_both(found)


def keep_both(found: Merge) -> str:
    """The merged text with both sides of every conflict.

    What both only added in one place stands there in turn. Where both changed words, their lines stand in turn, each as
    its author has it: two versions of a sentence poured into one would be neither's.
    """
    blocks = whole_lines(map(_row, found.pieces))
    return "".join(_in_turn(block) if block.text is None else block.text for block in blocks)


def _row(piece: Piece) -> Row:
    text = piece.text if isinstance(piece, Clean) else _both_added(piece)
    return Row(text, piece.base, piece.ours, piece.theirs)


def _both_added(conflict: Conflict) -> str | None:
    """What both sides only added to, with both additions; None where one of them took something away."""
    base, ours, theirs = (_WORD.findall(side) for side in (conflict.base, conflict.ours, conflict.theirs))
    mine, other = _additions(base, ours), _additions(base, theirs)
    if mine is None or other is None:
        return None
    pieces: list[str] = []
    for place in range(len(base) + 1):
        first, second = mine.get(place, ""), other.get(place, "")
        gap = "" if not first or not second or first[-1].isspace() or second[0].isspace() else " "
        pieces += [first, gap, second, *base[place : place + 1]]
    return "".join(pieces)


def _additions(base: list[str], side: list[str]) -> dict[int, str] | None:
    """What a side adds before which word of the base; None where it lacks one of them."""
    front = _same(base, side)
    back = _same(base[front:][::-1], side[front:][::-1])
    if front + back == len(base):
        return {front: "".join(side[front : len(side) - back])}
    added: dict[int, str] = {}
    place = 0
    for each in side:
        if place < len(base) and each == base[place]:
            place += 1
        else:
            added[place] = added.get(place, "") + each
    return added if place == len(base) else None


def _same(*sides: list[str]) -> int:
    """How many words all sides begin with."""
    count = 0
    for words in zip(*sides, strict=False):
        if len(set(words)) > 1:
            break
        count += 1
    return count


def _in_turn(block: Row) -> str:
    ours, theirs = block.ours, block.theirs
    glued = ours and theirs and ours[-1] not in "\r\n"
    return ours + (adopt_newlines("\n", ours + theirs) if glued else "") + theirs


def _outermost(base: str, applied: Applied) -> list[str]:
    """The components that the answer changes, without those that lie in another of them."""
    names = dict.fromkeys(fill.component for fill in applied.fills)
    places = [place for name in names if (place := component(base, name)) is not None]
    return [place.name for place in places if not any(other.holds(place) for other in places)]


def _merge_component(
    base: str, text: str, applied: Applied, name: str, strategy: Strategy, author: str
) -> tuple[str, int]:
    was, made, now = component(base, name), component(applied.filled, name), component(text, name)
    if was is None or made is None or now is None:
        raise Refused(f"The component {name!r} is no longer in the document.", code="conflict", component=name)
    old, new = was.inner(base), made.inner(applied.filled)
    cut = parted(old, now.inner(text), new) if _converses(name, applied) else None
    found = merge(old, now.inner(text) if cut is None else cut.above, new)
    inner = kept(found, strategy, author)
    if cut is not None:
        inner = joined(inner, cut.below, apart=True)
    result = text[: now.inner_start] + inner + text[now.inner_end :]
    if undisturbed(text, result, now):
        return result, len(found.conflicts)
    # Both versions of a piece of code or of a component within, one after the other, would not parse: so all that the
    # person has stays as it is, and the entries come after it.
    for fill in applied.fills:
        place = component(text, name)
        if fill.component == name and place is not None:
            mode = "prepend" if fill.filling.mode == "prepend" else "append"
            text = filled(text, place, fill.content, Filling(mode))
    return text, len(found.conflicts)


def _converses(name: str, applied: Applied) -> bool:
    """Whether the answer goes on with a conversation there. Entries of a log stand as they come."""
    modes = {fill.filling.mode for fill in applied.fills if fill.component == name}
    return name in FOR_THE_REST and modes == {"append"}
