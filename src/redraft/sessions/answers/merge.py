"""Merge an agent's changes of a text into its current state. Pure.

The base is the text that the answer was made for, named by the caller. An answer changes components and appends to the
end, so only those are merged, each separately; all other bytes are the person's. If both changed the same words,
`merge` marks both versions as in git's diff3, and `crdt` keeps both, each whole and once, the existing one first. What
was typed below the prompt stays below the answer. The result does not depend on anything stored earlier.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from redraft.errors import Refused
from redraft.formats.components import FillOptions, component, components, fill_component, is_undisturbed, swap_fences
from redraft.sessions.answers.fills import FOR_THE_REST, USER, is_block_start
from redraft.text.diff.line_diff import diff_lines
from redraft.text.lines import adopt_newlines, split_lines
from redraft.text.merge.conflicts import MergeRow, whole_lines
from redraft.text.merge.three_way import CleanRegion, merge

if TYPE_CHECKING:
    from redraft.sessions.answers.fills import AppliedAnswer
    from redraft.sessions.session_fields import Strategy
    from redraft.text.merge.three_way import Conflict, Merge, Piece

# Where a prompt ended, in a text that was typed into since. Pure.
#
# The boundary is the end of the prompt's last non-blank line, wherever that line is now. What a person types below it
# while an agent answers was not asked yet: it stays below the answer, byte for byte. What they add to that line, or
# change above it, belongs to the question. If the line itself was rewritten, there is no boundary.


_LINE_END = re.compile(r"[\r\n]|\Z")
_INDENT = re.compile(r"(?<![^\r\n])[ \t]*\Z")


class BoundaryText(NamedTuple):
    """The text as if nothing had been typed below the boundary, and what was typed."""

    above: str
    below: str


def split_at_boundary(base: str, now: str, made: str) -> BoundaryText | None:
    """The text split at the boundary of its prompt; None if there is nothing below it, or only what is `made` of the
    prompt: a change that both sides made counts once."""
    asked = base.rstrip()
    at = _boundary(asked, now)
    if at is None or not now[at:].strip() or _has_prefix(now[at:], _answer_addition(asked, made)):
        return None
    blank = base[len(asked) :]
    shared = _break_at(now, at) if not blank and asked else 0  # the line's own end, which it did not have then
    while shared < len(blank) and now.startswith(blank[shared], at + shared):
        shared += 1
    return BoundaryText(now[:at] + blank, now[at + shared :])


def _boundary(asked: str, now: str) -> int | None:
    """Where the last line of the prompt ends in the current text; None if unknown."""
    if now.startswith(asked):
        return _line_end(now, len(asked)) if asked else 0
    if (found := _find_unique_line(asked, now, split_lines(asked)[-1])) is not None:
        return found
    old = asked + adopt_newlines("\n", now)
    *_, last = diff_lines(old, now)
    if last.until < len(old):
        return _find_first_run(now, last.new_at, split_lines(old[last.until :]))
    return _before_break(now, last.new_at) if last.at == last.until else None


def _answer_addition(asked: str, made: str) -> str:
    """What an answer adds below the prompt."""
    if made.startswith(asked):
        return made[len(asked) :].strip()
    *_, last = diff_lines(asked + adopt_newlines("\n", made), made)
    return made[last.new_at : last.new_until].strip()


def _has_prefix(below: str, added: str) -> bool:
    """Whether `below` begins with these whole lines."""
    stripped = below.lstrip()
    return stripped.startswith(added) and stripped[len(added) : len(added) + 1] in ("", "\r", "\n")


def _find_unique_line(asked: str, now: str, line: str) -> int | None:
    """The end of the one line that equals this one, or starts with it, if there was only one before, too."""
    start = rf"(?<![^\r\n]){re.escape(line)}"
    for pattern in (re.compile(rf"{start}(?![^\r\n])"), re.compile(start)):
        places = [found.end() for found in pattern.finditer(now)]
        if len(places) == 1 and len(pattern.findall(asked)) == 1:
            return _line_end(now, places[0])
    return None


def _find_first_run(now: str, at: int, known: list[str]) -> int:
    """Where these lines, with which the text ends, end for the first time from there on: what was typed may repeat
    them."""
    lines = split_lines(now[at:])
    for start in range(len(lines) - len(known) + 1):
        if lines[start] == known[0] and lines[start : start + len(known)] == known:
            return _before_break(now, at + sum(map(len, lines[: start + len(known)])))
    return len(now)


def _break_at(text: str, at: int) -> int:
    return 2 if text.startswith("\r\n", at) else 1


def _line_end(text: str, at: int) -> int:
    found = _LINE_END.search(text, at)
    return len(text) if found is None else found.start()


def _before_break(text: str, at: int) -> int:
    return at - 2 if text.endswith("\r\n", 0, at) else at - 1


def join_at_boundary(above: str, below: str, *, apart: bool) -> str:
    """Both in order; `apart` with a blank line between them, unless there is one."""
    if not apart or below[0] in "\r\n" or not above.strip():
        return above + below
    indent = _INDENT.search(above)
    at = len(above) if indent is None else indent.start()
    return above[:at] + adopt_newlines("\n", above) + above[at:] + below


_WORD = re.compile(r"\w+|\r\n|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class MergedAnswer:
    """The merged text, and the number of conflicts."""

    text: str
    conflicts: int = 0


def merge_answer(
    base: str, current: str, applied: AppliedAnswer, strategy: Strategy, author: str = "agent"
) -> MergedAnswer:
    """The current text with the changes of `applied`; raises `conflict` if a component that it needs is missing."""
    if current == base:
        return MergedAnswer(applied.text)
    text, conflicts = current, 0
    for name in _outermost(base, applied):
        text, number = _merge_component(base, text, applied, name, strategy, author)
        conflicts += number
    if applied.tail:
        text, number = _merge_tail(text, applied, strategy, author)
        conflicts += number
    return MergedAnswer(text, conflicts)


def _merge_tail(text: str, applied: AppliedAnswer, strategy: Strategy, author: str) -> tuple[str, int]:
    """The text with the answer's tail at its end; an exchange that somebody else began meanwhile is continued."""
    place = component(text, "exchange") if applied.new_exchange else None
    if place is not None:
        there = components(applied.tail)[0].inner(applied.tail).strip() in place.inner(text)
        # A change that both sides made counts once.
        return text if there else fill_component(text, place, applied.new_exchange, FillOptions("append")), 0
    names = [each.name for each in components(text)]
    # Only the text after the last component can conflict with the tail; a conflict must not include markers.
    start, base = _last_end(text), applied.filled[_last_end(applied.filled) :]
    for tail in (applied.tail, swap_fences(applied.tail)):
        found, result = _append_tail(base, text[start:], tail, strategy, author)
        result = text[:start] + result
        if _names(result) == [*names, *["exchange"] * bool(applied.new_exchange)]:
            return result, len(found.conflicts)
    raise Refused("With this answer the document's markers would no longer match.", code="conflict")


def _append_tail(base: str, now: str, tail: str, strategy: Strategy, author: str) -> tuple[Merge, str]:
    """The end of a document with the tail: below the prompt, and above what was typed since."""
    cut = split_at_boundary(base, now, base + tail)
    if cut is None:
        found = merge(base, now, base + tail)
        return found, resolve_conflicts(found, strategy, author)
    own = is_block_start(cut.below)
    if own:  # then it needs no block of the person's around it
        tail = tail.rstrip().removesuffix(USER).rstrip() + adopt_newlines("\n", tail)
    found = merge(base, cut.above, base + tail)
    return found, join_at_boundary(resolve_conflicts(found, strategy, author), cut.below, apart=own)


def _last_end(text: str) -> int:
    return max((each.end for each in components(text)), default=0)


def _names(text: str) -> list[str] | None:
    try:
        return [each.name for each in components(text)]
    except Refused:
        return None


def resolve_conflicts(found: Merge, strategy: Strategy, author: str) -> str:
    """The merged text, with its conflicts resolved by the strategy."""
    if found.clean:
        return found.text
    return found.mark_conflicts(("person", "before", author)) if strategy == "merge" else keep_both(found)


def keep_both(found: Merge) -> str:
    """The merged text with both sides of every conflict.

    Additions of both sides in one place follow one another. If both changed words, their lines follow one another, each
    as its author wrote it: mixing two versions of a sentence would give neither.
    """
    blocks = whole_lines(map(_row, found.pieces))
    return "".join(_join_sides(block) if block.text is None else block.text for block in blocks)


def _row(piece: Piece) -> MergeRow:
    text = piece.text if isinstance(piece, CleanRegion) else _join_additions(piece)
    return MergeRow(text, piece.base, piece.ours, piece.theirs)


def _join_additions(conflict: Conflict) -> str | None:
    """Both additions, if both sides only added; None if one of them removed something."""
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
    """What a side adds before each word of the base; None if it lacks one of them."""
    front = _common_prefix_length(base, side)
    back = _common_prefix_length(base[front:][::-1], side[front:][::-1])
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


def _common_prefix_length(*sides: list[str]) -> int:
    """How many words all sides begin with."""
    count = 0
    for words in zip(*sides, strict=False):
        if len(set(words)) > 1:
            break
        count += 1
    return count


def _join_sides(block: MergeRow) -> str:
    ours, theirs = block.ours, block.theirs
    glued = ours and theirs and ours[-1] not in "\r\n"
    return ours + (adopt_newlines("\n", ours + theirs) if glued else "") + theirs


def _outermost(base: str, applied: AppliedAnswer) -> list[str]:
    """The components that the answer changes, without those nested in another of them."""
    names = dict.fromkeys(fill.component for fill in applied.fills)
    places = [place for name in names if (place := component(base, name)) is not None]
    return [place.name for place in places if not any(other.holds(place) for other in places)]


def _merge_component(
    base: str, text: str, applied: AppliedAnswer, name: str, strategy: Strategy, author: str
) -> tuple[str, int]:
    was, made, now = component(base, name), component(applied.filled, name), component(text, name)
    if was is None or made is None or now is None:
        raise Refused(f"The component {name!r} is no longer in the document.", code="conflict", component=name)
    old, new = was.inner(base), made.inner(applied.filled)
    cut = split_at_boundary(old, now.inner(text), new) if _is_conversation(name, applied) else None
    found = merge(old, now.inner(text) if cut is None else cut.above, new)
    inner = resolve_conflicts(found, strategy, author)
    if cut is not None:
        inner = join_at_boundary(inner, cut.below, apart=True)
    result = text[: now.inner_start] + inner + text[now.inner_end :]
    if is_undisturbed(text, result, now):
        return result, len(found.conflicts)
    # Both versions of a piece of code or of a nested component, one after the other, would not parse: so the person's
    # text stays as it is, and the entries come after it.
    for fill in applied.fills:
        place = component(text, name)
        if fill.component == name and place is not None:
            mode = "prepend" if fill.filling.mode == "prepend" else "append"
            text = fill_component(text, place, fill.content, FillOptions(mode))
    return text, len(found.conflicts)


def _is_conversation(name: str, applied: AppliedAnswer) -> bool:
    """Whether the answer continues a conversation there. Log entries stay in order of arrival."""
    modes = {fill.filling.mode for fill in applied.fills if fill.component == name}
    return name in FOR_THE_REST and modes == {"append"}
