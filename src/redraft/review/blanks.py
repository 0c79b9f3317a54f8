"""Blanks that separate words on the disk, which has neither what agents propose nor unsaved typing.

Accepting a hunk saves no typing beside it. But if an agent replaced a word that the person had typed, the blank after
it is the person's: without it, the words on the disk would run together. So such a blank is saved with the hunk, even
if another proposal deletes it: that proposal stays pending. A blank is named by its part and its place there, so that
the history can tell it from the rest of what was typed.

Saving takes nothing of an agent's. So what the person types among an agent's words has its blank on the side where the
disk has a word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from redraft.review.review import Part, Review, group_runs, join_parts, join_runs
from redraft.review.runs import USER, Run, turn_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence


class BlankPosition(NamedTuple):
    """A blank of a part: how much of the part's text, and of what the disk has of it, is before it."""

    part: str
    place: int
    saved_at: int
    length: int
    taken_out: bool  # by a proposal that waits

    @property
    def name(self) -> str:
        return f"{self.part}.{self.place}"


def blanks_to_save(review: Review, ids: Iterable[str], turn: str = "") -> list[BlankPosition]:
    """The blanks to save with these hunks, in order; of hunks that several turns share, perhaps only one `turn` is
    accepted."""
    wanted, found = set(ids), list[BlankPosition]()
    last = ""  # what the disk then has in front of the run at hand
    new = False  # whether the two of them did not meet before
    blank: BlankPosition | None = None
    for part in review.parts:
        taken = part.id in wanted
        place = saved_at = 0
        for run in part.runs:
            if _is_saved_after(part, run, turn) if taken else not run.by:
                new = new or bool(run.by)
                if new and blank and last.isalnum() and run.text[0].isalnum():
                    found.append(blank)
                last, new, blank = run.text[-1], bool(run.by), None
            elif not run.by:
                new = True
            elif run.by == USER and USER not in run.gone and not taken and not part.conflict:
                # One that stays is the best; else the nearest to the words behind, with which it was taken out.
                blank = blank if blank and not blank.taken_out else _blank_in(part, run, place, saved_at) or blank
            place += len(run.text)
            saved_at += 0 if run.by else len(run.text)
    return found


def _is_saved_after(part: Part, run: Run, turn: str) -> bool:
    if not turn or turn not in part.turns or len(part.turns) == 1:
        return run.in_working
    mine = [mark for mark in run.marks if turn_of(mark) == turn]
    return run.by in ("", *mine) and not any(mark in run.gone for mark in mine) and (not run.by or USER not in run.gone)


def _blank_in(part: Part, run: Run, place: int, saved_at: int) -> BlankPosition | None:
    """The first blank of a run that begins at this place of a part."""
    at = next((index for index, char in enumerate(run.text) if char.isspace()), None)
    if at is None:
        return None
    return BlankPosition(part.id, place + at, saved_at, _length_at(run.text, at), taken_out=bool(run.gone))


def _length_at(text: str, at: int) -> int:
    return 2 if text.startswith("\r\n", at) else 1


def count_unsaved_from(review: Review, name: str) -> int | None:
    """How many characters in a row, from a blank on, are not on the disk; None if the name is not that of a blank."""
    part_id, _, place = name.rpartition(".")
    if not part_id:
        return None
    count = left = 0
    inside = False  # whether the blank is passed
    for part in review.parts:
        if part.id == part_id:
            inside, left = True, int(place)
        for run in part.runs if inside else ():
            if run.by:
                count += max(len(run.text) - left, 0)
            elif left < len(run.text):
                return count
            left = max(left - len(run.text), 0)
    return count


def save_blanks(review: Review, names: Iterable[str]) -> Review:
    """The review with these blanks saved. Edits that delete one still do."""
    places: dict[str, set[int]] = {}
    for name in names:
        part, _, place = name.rpartition(".")
        if part:
            places.setdefault(part, set()).add(int(place))
    if not places:
        return review
    parts: list[Part] = []
    for part in review.parts:
        if part.id not in places:
            parts.append(part)
            continue
        cut = group_runs(_save_at(part, places[part.id]))
        # What the person typed goes by its name, as far as the blank.
        first = next((index for index, each in enumerate(cut) if not part.marks and not each.same), None)
        parts += [Part(each.runs, part.id if index == first else "") for index, each in enumerate(cut)]
    return Review(join_parts(parts, review.parts))


def _save_at(part: Part, places: set[int]) -> Iterator[Run]:
    """The runs of a part with the blanks at these places saved."""
    at = 0
    for run in part.runs:
        done = 0
        for start in sorted(place - at for place in places if at <= place < at + len(run.text)):
            end = start + _length_at(run.text, start)
            yield run._replace(text=run.text[done:start])
            yield run._replace(text=run.text[start:end], by="")
            done = end
        yield run._replace(text=run.text[done:])
        at += len(run.text)


class SurroundingCharacters(NamedTuple):
    """The characters before and after some runs: of what saving would write, and of what the person sees."""

    own: tuple[str, str]
    seen: tuple[str, str]


def keep_words_apart(runs: list[Run], around: SurroundingCharacters) -> list[Run]:
    """The runs after text was inserted among an agent's words: of the blanks on its two sides, it gets the one that
    separates it from the next word once it is saved, or once the agent's edit is rejected. The text reads the same."""
    out: list[Run] = []
    left = list(join_runs(runs))[::-1]
    while left:
        run = left.pop()
        if run.by and run.in_working and not run.clash and run.text.strip():
            front, back = out[-1:], left[-1:]
            if (blank := _blank_at_end(run.text)) and _can_lend(front, run, _blank_at_end, blank):
                joined, then = _sides(out, left, around, front[0])
                if run.text[0].isalnum() and joined > then:
                    out[-1] = front[0]._replace(text=front[0].text.removesuffix(blank))
                    left.append(front[0]._replace(text=blank))
                    run = run._replace(text=blank + run.text.removesuffix(blank))
            elif (blank := _blank_at_start(run.text)) and _can_lend(back, run, _blank_at_start, blank):
                then, joined = _sides(out, left, around, back[0])
                if run.text[-1].isalnum() and joined > then:
                    left[-1] = back[0]._replace(text=back[0].text.removeprefix(blank))
                    out.append(back[0]._replace(text=blank))
                    run = run._replace(text=run.text.removeprefix(blank) + blank)
        out.append(run)
    return [run for run in out if run.text]


def _can_lend(beside: Sequence[Run], run: Run, find: Callable[[str], str], blank: str) -> bool:
    """Whether an agent has words with the same blank beside a run."""
    return any(
        other.is_agents and other.in_working and not other.clash and other.by != run.by and find(other.text) == blank
        for other in beside
    )


def _sides(
    before: list[Run], behind: list[Run], around: SurroundingCharacters, lender: Run
) -> tuple[tuple[bool, bool], tuple[bool, bool]]:
    """Whether words are before and after a place (the runs after it in reverse): first in what saving would write, then
    in what the person sees once the lender's edit is rejected."""
    turn = turn_of(lender.by)

    def stays(run: Run) -> bool:
        mine = [mark for mark in run.marks if turn_of(mark) == turn]
        return run.by not in mine and run.without(*mine).in_working

    def is_word(runs: list[Run], edge: int, has: Callable[[Run], bool], else_there: str) -> bool:
        return next((run.text[edge] for run in reversed(runs) if run.text and has(run)), else_there).isalnum()

    own, seen = around
    return (
        (is_word(before, -1, lambda run: run.in_own, own[0]), is_word(before, -1, stays, seen[0])),
        (is_word(behind, 0, lambda run: run.in_own, own[1]), is_word(behind, 0, stays, seen[1])),
    )


def set_insertions_apart(runs: list[Run], front: str = "", back: str = "") -> list[Run]:
    """The runs, with text that was inserted after the blank with which an agent's words begin, or before the one with
    which they end, moved beside them. The text reads the same, and no words run together once the agent's are gone. The
    same is done for deleted words. The runs stand between these two characters that the person sees."""
    out = [run for run in _set_removals_apart(list(join_runs(runs)), front, back) if run.text]
    out = list(join_runs(out))
    for index in range(1, len(out) - 1):
        before, inside, behind = out[index - 1 : index + 2]
        if not inside.by or inside.gone or inside.clash or not before.is_agents or behind.by != before.by:
            continue
        if before.text.isspace() and not before.gone and inside.text.endswith(before.text):
            text = before.text + inside.text.removesuffix(before.text)
            out[index - 1 : index + 1] = [inside._replace(text=text), before]
        elif behind.text.isspace() and not behind.gone and inside.text.startswith(behind.text):
            text = inside.text.removeprefix(behind.text) + behind.text
            out[index : index + 2] = [behind, inside._replace(text=text)]
    return out


def _set_removals_apart(runs: list[Run], before: str, behind: str) -> list[Run]:
    """The runs, which stand between these two characters that the person sees. If one edit deleted words with the blank
    after them, and another what stood around those, the first is taken to have deleted the blank before them instead,
    if rejecting it would otherwise join them to the word before, and would not join them to the word after."""
    out = list(runs)
    for index in range(len(runs) - 1, -1, -1):
        first = out[index]
        blank = _blank_at_end(first.text)
        if not first.gone or first.clash or not blank:
            continue
        last = index + 1
        while last < len(out) and out[last].gone == out[index + 1].gone != first.gone and out[last].gone:
            last += 1
        if last - index < 2 or last == len(out) or out[last].gone != first.gone:
            continue
        inner, follower = out[last - 1], out[last]
        if inner.clash or inner.is_agents != first.is_agents or _blank_at_end(inner.text) != blank:
            continue
        follower_end = next((place for place in range(last, len(out)) if out[place].in_working), len(out))
        seen_before = next((run.text[-1] for run in reversed(out[:index]) if run.in_working), before)
        seen_behind = out[follower_end].text[0] if follower_end < len(out) else behind
        if first.text != blank and (not seen_before.isalnum() or seen_behind.isalnum()):
            continue
        out[last - 1 : last + 1] = [
            inner._replace(text=inner.text.removesuffix(blank)),
            inner._replace(text=blank, gone=follower.gone),
            follower,
        ]
        out[index : index + 1] = [
            first._replace(text=first.text.removesuffix(blank)),
            first._replace(text=blank, gone=inner.gone),
        ]
    return out


def _blank_at_end(text: str) -> str:
    """The blank at the end of a text, or nothing."""
    return "\r\n" if text.endswith("\r\n") else text[-1:] if text[-1:].isspace() else ""


def _blank_at_start(text: str) -> str:
    return text[: _length_at(text, 0)] if text[:1].isspace() else ""


def keep_seen_words_apart(before: Review, after: Review) -> Review | None:
    """The review after words came back, perhaps inside what a pending edit deletes: of the blanks before and after
    them, that edit then deletes the one after. None if the person would see them run into another word all the same."""
    joined = len(_blanks_between_letters(before.runs))
    found = _blanks_between_letters(after.runs)
    if len(found) <= joined:
        return after
    runs = list(after.runs)
    for index in reversed(found):
        runs = _show_blank(runs, index)
    after = Review(join_parts(group_runs(runs), after.parts))
    return after if len(_blanks_between_letters(after.runs)) <= joined else None


def _blanks_between_letters(runs: Sequence[Run]) -> list[int]:
    """Which runs end with an invisible blank between two words that the person sees as one. Preferably one that no
    agent inserted, because it stays when that edit is rejected."""
    found: list[int] = []
    last, hidden = "", -1
    for index, run in enumerate(runs):
        if run.in_working:
            if hidden >= 0 and last.isalnum() and run.text[0].isalnum():
                found.append(hidden)
            last, hidden = run.text[-1], -1
        elif run.gone and not run.clash and _blank_at_end(run.text) and (hidden < 0 or not run.is_agents):
            hidden = index
    return found


def _show_blank(runs: list[Run], index: int) -> list[Run]:
    """If the visible text after this run ends with a blank, and the edit that deleted this run continues after it: show
    the blank at the end of this run, and delete the other instead."""
    first = runs[index]
    seen = next((place for place in range(index + 1, len(runs)) if runs[place].in_working), len(runs))
    last = next((place for place in range(seen + 1, len(runs)) if runs[place].gone == first.gone), len(runs))
    inner = last - 1
    while inner > index and not runs[inner].in_working:
        inner -= 1
    if last == len(runs) or inner == index or runs[inner].is_agents or not _blank_at_end(runs[inner].text):
        return runs
    front, back = _blank_at_end(first.text), _blank_at_end(runs[inner].text)
    return [
        *runs[:index],
        first._replace(text=first.text.removesuffix(front)),
        first._replace(text=front, gone=()),
        *runs[index + 1 : inner],
        runs[inner]._replace(text=runs[inner].text.removesuffix(back)),
        runs[inner]._replace(text=back, gone=first.gone),
        *runs[inner + 1 :],
    ]
