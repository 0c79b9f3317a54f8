"""What can happen to a review: a decision, typing, an agent's turn, saving.

Each operation takes a review and returns a new one. Decisions change only their own part, so their order cannot matter.
No operation of an agent removes a character that the person typed or saved: it marks the character as deleted, and a
reject removes the mark.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Literal

from redraft.errors import Refused
from redraft.review.blanks import (
    SurroundingCharacters,
    blanks_to_save,
    keep_seen_words_apart,
    keep_words_apart,
    save_blanks,
    set_insertions_apart,
)
from redraft.review.review import Part, Review, group_runs, has_lost_words, join_parts
from redraft.review.runs import (
    USER,
    Run,
    RunEdit,
    agent_run_edits,
    join_crowded,
    number_of,
    restore_retyped,
    return_kept_characters,
    rewrite,
    turn_of,
)
from redraft.text.diff.word_diff import word_edits
from redraft.text.diff.word_runs import widen_edits
from redraft.text.edits import Change, Edit
from redraft.text.merge.three_way import CleanRegion, merge
from redraft.text.sentences import sentences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

Unit = Literal["words", "suggestion", "sentence", "paragraph", "document"]


# Decisions


def accept(review: Review, ids: Iterable[str], turn: str = "") -> Review:
    """Accept the chosen hunks as they are in the working text. A conflict has to be settled first. With a `turn`, the
    words of other turns in the same hunk stay pending."""
    wanted = review.require_hunks(ids)
    review = save_blanks(review, [blank.name for blank in blanks_to_save(review, wanted, turn)])
    for part in review.parts:
        if part.id in wanted and part.unsettled:
            standing = "yours" if part.working != part.base else "the current text"
            choice = f"the agent's text or {standing}" if part.marks else "your text or theirs"
            raise Refused(
                f"Somebody else changed the same words: choose {choice} first.", code="conflict", hunk_id=part.id
            )
    for part in review.parts:
        if part.id in wanted and turn and part.find_entangled_turns(turn).earlier:
            raise _entangled_error(part, "before")
    return _decide(
        review, wanted, lambda part: _accept_turn(part, turn) if is_shared(part, turn) else _plain_part(part.working)
    )


def reject(review: Review, ids: Iterable[str], turn: str = "") -> Review:
    """Remove an agent's words and bring back those it deleted; in a hunk of the person's own, undo theirs. With a
    `turn`, only its words are rejected: those of other turns in the same hunk stay pending."""
    wanted = review.require_hunks(ids)
    if not turn:
        return _decide(review, wanted, _reject_part)
    mine = [part for part in review.parts if part.id in wanted and turn in part.turns]
    after = _without_turn(review, turn, {part.id for part in mine}) if mine else review
    if after is None:
        entangled = (part for part in mine if part.find_entangled_turns(turn).later)
        raise _entangled_error(next(entangled, mine[0]), "after")
    return after if after.pending else _without_traces(after)


def _entangled_error(part: Part, when: str) -> Refused:
    return Refused(
        f"Another turn changed the same words {when} this one: decide that one first, or the whole hunk.",
        code="conflict",
        hunk_id=part.id,
    )


def is_shared(part: Part, turn: str) -> bool:
    """Whether other turns have words in a part too."""
    return bool(turn) and turn in part.turns and len(part.turns) > 1


def take_theirs(review: Review, ids: Iterable[str]) -> Review:
    """Settle a conflict for the other side. An agent's proposal becomes the working text, still to be accepted. Against
    another program, its text stays and what the person typed there is dropped."""
    return _decide(review, review.require_hunks(ids), _take_part)


def resolve(review: Review, name: str, text: str) -> Review:
    """Settle a hunk with a text of the person's own, accepted at once."""
    return _decide(review, review.require_hunks([name]), lambda _: _plain_part(text))


def accept_all(review: Review) -> Review:
    """Accept everything except what has to be settled first."""
    return accept(review, [part.id for part in review.parts if part.is_hunk and not part.unsettled])


def reject_all(review: Review) -> Review:
    """Reject everything that agents propose. The person's own hunks stay."""
    return reject(review, [hunk.id for hunk in review.hunks if hunk.author in ("agent", "mixed")])


def withdraw(review: Review, turn: str) -> Review | None:
    """Remove everything that is pending from one turn, and only its own words, even if others wrote between them; None
    if that is impossible (see `_without_turn`)."""
    changed = {part.id for part in review.parts if turn in part.turns}
    return _without_turn(review, turn, changed) if changed else review


def _without_turn(review: Review, turn: str, wanted: set[str]) -> Review | None:
    """The review without the words of one turn in these parts, all of which contain some. None if a later turn changed
    the same words, which would lose what they were made from, or deleted what separates them from others."""
    mine = [part for part in review.parts if part.id in wanted]
    if any(part.find_entangled_turns(turn).later for part in mine):
        return None
    after = _regroup(
        review, lambda part: _without_marks(part, lambda mark: turn_of(mark) == turn) if part.id in wanted else part
    )
    newest = max(number_of(mark) for part in mine for mark in part.marks if turn_of(mark) == turn)
    is_last = all(number_of(mark) <= newest for part in after.parts for mark in part.marks)
    return keep_seen_words_apart(review, after) or (after if is_last else None)


def split_hunk(review: Review, name: str, at: int, base_at: int | None = None) -> Review:
    """Split an agent's hunk in two: its inserted text at `at`, its deleted text at `base_at` (by default the first half
    deletes all of it). No text changes; each half is decided separately from now on."""
    review.require_hunks([name])
    number = _next_number(review)
    parts: list[Part] = []
    for part in review.parts:
        if part.id != name:
            parts.append(part)
            continue
        if part.author != "agent" or part.conflict or any(run.by == USER and run.in_working for run in part.runs):
            raise Refused("Only a hunk that is entirely an agent's can be split.", hunk_id=part.id)
        place = len(part.base) if base_at is None else base_at
        for text, cut in ((part.working, at), (part.base, place)):
            if not 0 <= cut <= len(text) or text[cut - 1 : cut + 1] == "\r\n":
                raise Refused(f"The hunk cannot be split at {cut}.", hunk_id=part.id, at=cut)
        for half in _halves(part, at, place):
            if not any(run.marks for run in half):
                raise Refused("One half of the hunk would be empty.", hunk_id=part.id)
            parts += group_runs(_with_own_marks(half, part.turns, number))
            number += len(part.turns)
    return Review(join_parts(parts))


def _halves(part: Part, at: int, base_at: int) -> tuple[list[Run], list[Run]]:
    """The runs of a part before and after these places of its working text and its base. Words that stay, but that only
    one of the two places would split, are deleted in one half and inserted by the other."""
    halves: tuple[list[Run], list[Run]] = ([], [])
    mark = part.marks[-1]
    for run in part.runs:
        in_base, in_working, rest = part.has_in_base(run), run.in_working, run.text
        while rest:
            ahead = [places for places, has in ((base_at, in_base), (at, in_working)) if has and 0 < places < len(rest)]
            piece = run._replace(text=rest[: min(ahead, default=len(rest))])
            old, new = base_at <= 0, at <= 0
            if in_base and in_working and old != new:
                halves[old].append(piece._replace(gone=(mark,)))
                halves[new].append(Run(piece.text, mark))
            else:
                halves[old if in_base else new].append(piece)
            rest = rest[len(piece.text) :]
            base_at -= len(piece.text) if in_base else 0
            at -= len(piece.text) if in_working else 0
    return halves


def _with_own_marks(runs: Iterable[Run], turns: Sequence[str], number: int) -> Iterator[Run]:
    """The runs with one mark for each of these turns, oldest first, numbered from `number`."""
    marks = {turn: f"{turn}#{number + index}.0" for index, turn in enumerate(turns)}
    for run in runs:
        gone = dict.fromkeys(mark if mark == USER else marks[turn_of(mark)] for mark in run.gone)
        yield run._replace(by=marks[turn_of(run.by)] if run.is_agents else run.by, gone=tuple(gone))


def expand(review: Review, ids: Iterable[str], unit: Unit) -> list[str]:
    """Add the hunks that are decided together with these in a larger unit: everything that one call suggested, or that
    is in the same sentence or paragraph of the working text, or in the document. Hunks of the person's own are included
    only if they are named."""
    wanted = review.require_hunks(ids)
    found = [hunk for hunk in review.hunks if hunk.id in wanted or hunk.turns]
    if unit == "words":
        return sorted(wanted)
    chosen = [hunk for hunk in review.hunks if hunk.id in wanted]
    if unit == "document":
        return [hunk.id for hunk in found]
    if unit == "suggestion":
        suggestions = {hunk.suggestion for hunk in chosen} - {""}
        return [hunk.id for hunk in found if hunk.id in wanted or hunk.suggestion in suggestions]
    stretches = [
        _stretch(review.working, hunk.working_at, hunk.working_at + len(hunk.working), unit) for hunk in chosen
    ]
    return [
        hunk.id
        for hunk in found
        if hunk.id in wanted
        or any(start <= hunk.working_at and hunk.working_at + len(hunk.working) <= end for start, end in stretches)
    ]


def _stretch(text: str, start: int, end: int, unit: Unit) -> tuple[int, int]:
    """The paragraphs, or their sentences, that contain a stretch."""
    first = text.rfind("\n\n", 0, start) + 2 if "\n\n" in text[:start] else 0
    last = text.find("\n\n", end)
    last = len(text) if last < 0 else last
    if unit == "paragraph":
        return first, last
    places = [first, *accumulate((len(each) for each in sentences(text[first:last])), initial=first)]
    before = [place for place in places if place <= start]
    after = [place for place in places if place >= end and place > start]
    return (max(before, default=first), min(after, default=last))


def _plain_part(text: str) -> Part:
    return Part((Run(text),) if text else ())


def _accept_turn(part: Part, turn: str) -> Part:
    """The part with one turn's words accepted; what others did to them stays pending."""
    runs: list[Run] = []
    for run in part.runs:
        if any(turn_of(mark) == turn for mark in run.marks if mark in run.gone):
            continue
        if run.is_agents and turn_of(run.by) == turn:
            if USER not in run.gone:
                runs.append(run._replace(by=""))
        else:
            runs.append(run)
    return Part(tuple(runs), part.id)


def _take_part(part: Part) -> Part:
    if part.conflict and not part.marks:
        return _reject_part(part)
    return Part(tuple(run._replace(clash=False) for run in part.runs), part.id)


def _reject_part(part: Part) -> Part:
    if part.author != "user":
        return _without_marks(part, lambda _: True)
    kept = [run.without(USER)._replace(clash=False) for run in part.runs if run.by != USER]
    return Part(tuple(kept), part.id)


def _without_marks(part: Part, matches: Callable[[str], bool]) -> Part:
    """The part without some of the agents' edits. If words that come back meet words that the person typed, both may be
    meant for the same place: both stay, and the place is marked as a conflict."""
    kept: list[tuple[Run, Run]] = []  # each as it was, and as it is
    back = False
    for run in part.runs:
        if run.is_agents and matches(run.by):
            continue
        gone = [mark for mark in run.gone if mark != USER and matches(mark)]
        back = back or bool(gone and not run.without(*gone).gone and run.text.strip())
        kept.append((run, run.without(*gone)))
    agents = any(run.marks for _, run in kept)
    typed = any(run.by == USER and run.text.strip() for _, run in kept)
    doubtful = not agents and back and typed and not part.conflict and _is_inside(part)
    return Part(
        tuple(
            run._replace(
                clash=(was.clash and (agents or not was.marks or was.overwritten)) or (doubtful and run.by == USER)
            )
            for was, run in kept
        ),
        part.id,
    )


def _is_inside(part: Part) -> bool:
    """Whether the person typed inside or right after what the agent inserted, or in its place, so perhaps about it.
    Typing that an edit deleted was there before what that edit inserted."""
    return any(
        (behind.by == USER and before.is_agents and not _is_older(behind, before))
        or (before.by == USER and behind.is_agents and USER in behind.gone)
        for before, behind in pairwise(run for run in part.runs if run.by)
    )


def _is_older(typed: Run, of_agent: Run) -> bool:
    return any(mark != USER and number_of(mark) <= number_of(of_agent.by) for mark in typed.gone)


def _decide(review: Review, wanted: set[str], act: Callable[[Part], Part]) -> Review:
    after = _regroup(review, lambda part: act(part) if part.id in wanted and part.is_hunk else part)
    return after if after.pending else _without_traces(after)


def _regroup(review: Review, act: Callable[[Part], Part]) -> Review:
    """Each part after an operation on it, grouped anew if the operation changed it."""
    parts: list[Part] = []
    for part in review.parts:
        after = act(part)
        if after is part:
            parts.append(part)
        elif all(run.plain for run in after.runs):  # most are, of many that are decided at once
            parts.append(_plain_part("".join([run.text for run in after.runs])))
        else:
            parts += group_runs(after.runs)
    return Review(join_parts(parts, review.parts))


def _without_traces(review: Review) -> Review:
    """If nothing of an agent's is left to decide, drop what the person typed over and no hunk shows."""
    return Review(join_parts(part if part.is_hunk else _plain_part(part.base) for part in review.parts))


# The person types and saves


def type_into(review: Review, change: Change) -> Review:
    """Apply the person's edit to the working text."""
    change.apply(review.working)  # refuses a change that was made for another text
    retyped = _find_retyped_hunks(review, change)
    if retyped:
        return _regroup(review, lambda part: _without_marks(part, lambda _: True) if part.id in retyped else part)
    touches: list[RunEdit] = []
    for edit in change.edits:
        # Only the words that differ: whoever replaces a line by a longer one has typed the rest alone.
        parts = word_edits(edit.old, edit.new) if edit.old and edit.new else (Edit(0, edit.old, edit.new),)
        touches += [RunEdit(edit.at + part.at, edit.at + part.end, part.new) for part in parts]
    return _apply_run_edits(review, touches)


def _find_retyped_hunks(review: Review, change: Change) -> set[str]:
    """The agents' hunks over which the person typed exactly the old text, which rejects them. None if the edit changed
    anything else."""
    starts = list(accumulate((len(part.working) for part in review.parts), initial=0))
    found: set[str] = set()
    for edit in change.edits:
        parts = (
            review.parts[index]
            for index in range(bisect_left(starts, edit.at), bisect_right(starts, edit.at, hi=len(review.parts)))
        )
        retyped = [part.id for part in parts if _is_retyped(part, edit)]
        if not retyped:
            return set()
        found.update(retyped)
    return found


def _is_retyped(part: Part, edit: Edit) -> bool:
    return (part.working, part.base) == (edit.old, edit.new) and part.author == "agent" and not part.conflict


def save(review: Review) -> Review:
    """Record that the disk now has what the person typed."""
    if not any(USER in (run.by, *run.gone) for part in review.parts if not part.same for run in part.runs):
        return review
    return _regroup(review, lambda part: part if part.same else Part(tuple(_save_runs(part)), part.id))


def _save_runs(part: Part) -> list[Run]:
    runs: list[Run] = []
    for run in part.runs:
        if run.is_agents:
            runs.append(run)
        elif USER not in run.gone:
            runs.append(run._replace(by="", clash=run.clash and bool(part.marks)))
    return runs


def discard_typing(review: Review) -> Review:
    """Drop what the person typed and did not save; what agents propose stays."""
    return _regroup(
        review,
        lambda part: (
            part
            if part.same
            else Part(
                tuple(
                    run.without(USER)._replace(clash=run.clash and bool(part.marks))
                    for run in part.runs
                    if run.by != USER
                ),
                part.id,
            )
        ),
    )


# Agents


def apply_agent_turn(review: Review, seen: str, result: str, turn: str, calls: Sequence[Change] = ()) -> Review:
    """Apply the turn of an agent that was shown `seen` and made `result` of it, by these `calls` in order if they are
    known. If only the agent changed the text, the working text follows the agent. If the person typed over the same
    words meanwhile, the working text keeps the person's words, with the agent's beside them, marked as a conflict."""
    if seen != review.working:
        return _apply_late_turn(review, seen, result, turn)
    for call in calls or (Change.between(seen, result, words=True),):
        wide = widen_edits(call.edits, review.working)
        touches = agent_run_edits(call.edits, wide, turn, _next_number(review), _find_typing(review))
        touches = join_crowded(touches, review.working)
        review = _apply_run_edits(review, _in_conflicts(review, touches))
    return review


def _apply_late_turn(review: Review, seen: str, result: str, turn: str) -> Review:
    edits: list[tuple[Edit, bool]] = []
    at = 0
    for piece in merge(seen, review.working, result).pieces:
        ours = piece.ours
        if not isinstance(piece, CleanRegion):
            edits.append((Edit(at, ours, piece.theirs), True))
        elif piece.side == "theirs" and piece.text != piece.base:
            edits += [(edit.shift(at), False) for edit in Change.between(piece.base, piece.text, words=True).edits]
        at += len(ours)
    number = _next_number(review)
    touches: list[RunEdit] = []
    is_typed = _find_typing(review)
    widened = _widen_conflicts(review.working, edits)
    for (edit, clash), words in zip(widened, widen_edits([edit for edit, _ in widened], review.working), strict=True):
        if clash:
            touches.append(RunEdit(edit.at, edit.end, edit.new, f"{turn}#{number}.0", clash=True))
        else:
            touches += agent_run_edits([edit], [words], turn, number, is_typed)
        number += 1
    return _apply_run_edits(review, _in_conflicts(review, join_crowded(touches, review.working)))


def _find_typing(review: Review) -> Callable[[int, int], bool]:
    """A function that tells whether a stretch of the working text contains unsaved typing."""
    starts: list[int] = []
    ends: list[int] = []
    at = 0
    for part in review.parts:
        for run in part.runs if not part.same else ():
            if run.by == USER and run.in_working:
                starts.append(at)
                ends.append(at + len(run.text))
            at += len(run.text) if run.in_working else 0
        at += len(part.working) if part.same else 0
    return lambda start, end: bisect_left(starts, end) > bisect_right(ends, start)


def _widen_conflicts(working: str, edits: list[tuple[Edit, bool]]) -> list[tuple[Edit, bool]]:
    """Widen conflicts to whole lines, with everything else that the agent did there, because that is what a person
    compares."""
    widened: list[tuple[Edit, bool]] = []
    for edit, clash in edits:
        if clash:
            start = working.rfind("\n", 0, edit.at) + 1
            end = working.find("\n", edit.end)
            end = len(working) if end < 0 else end
            edit = Edit(start, working[start:end], working[start : edit.at] + edit.new + working[edit.end : end])  # noqa: PLW2901
        while widened and (widened[-1][0].end > edit.at or (clash and widened[-1][0].end >= edit.at)):
            before, was_clash = widened.pop()
            edit, clash = _overlay(working, before, edit), clash or was_clash  # noqa: PLW2901
        widened.append((edit, clash))
    return widened


def _overlay(working: str, first: Edit, second: Edit) -> Edit:
    """Combine two edits that overlap because one was widened over unchanged text."""
    start, end = min(first.at, second.at), max(first.end, second.end)
    if first.end <= second.at:
        new = first.new + working[first.end : second.at] + second.new
    elif second.at <= first.at:  # the second was widened over the first, which changed what stands in its prefix
        lead = first.at - second.at
        new = second.new[:lead] + first.new + second.new[lead + len(first.old) :]
    else:  # the first was widened over the beginning of the second
        tail = first.end - second.at
        new = first.new[: len(first.new) - tail] + second.new + working[second.end : end]
    return Edit(start, working[start:end], new)


def _in_conflicts(review: Review, touches: list[RunEdit]) -> list[RunEdit]:
    """If there is a conflict already, what another agent does there joins it. Words that an agent inserted there are
    not what the conflict is about: they are edited as anywhere else."""
    places: list[tuple[int, int]] = []
    at = 0
    for part in review.parts:
        for run in part.runs if part.conflict else ():
            end = at + (len(run.text) if run.in_working else 0)
            if end > at and not run.is_agents:
                start = places.pop()[0] if places and places[-1][1] == at else at
                places.append((start, end))
            at = end
        at += 0 if part.conflict else len(part.working)
    if not places:
        return touches
    return [
        touch._replace(clash=True)
        if any((start < touch.end and touch.start < end) or start < touch.start < end for start, end in places)
        else touch
        for touch in touches
    ]


def _next_number(review: Review) -> int:
    numbers = [number_of(part.marks[-1]) for part in review.parts if part.marks]
    return max(numbers, default=0) + 1


# Working text to runs


def _apply_run_edits(review: Review, touches: list[RunEdit]) -> Review:
    """Regroup only the parts that an edit touches; every other part stays as it is, with its id."""
    before = review.parts or (Part(()),)
    after: list[Part] = []
    done = at = 0
    for first, last, some in _groups(before, touches):
        at += sum(len(part.working) for part in before[done:first])
        after += before[done:first]
        runs = [run for part in before[first:last] for run in part.runs]
        runs = rewrite(runs, some, at)
        # Only who types can type something again: a blank that an agent leaves stays the one that it is.
        runs = restore_retyped(return_kept_characters(runs)) if some[0].mark == USER else runs
        around = _around(after, before, last)
        runs = keep_words_apart(set_insertions_apart(runs, *around.seen), around)
        after += group_runs(runs)
        at += sum(len(part.working) for part in before[first:last])
        done = last
    return Review(join_parts([*after, *before[done:]], review.parts))


def _around(done: Sequence[Part], parts: Sequence[Part], last: int) -> SurroundingCharacters:
    """The characters after the parts that are `done` and before those from `last` on."""
    behind = range(last, len(parts))
    return SurroundingCharacters(
        (
            next((part.own[-1] for part in reversed(done) if part.own), ""),
            next((parts[index].own[0] for index in behind if parts[index].own), ""),
        ),
        (
            next((part.working[-1] for part in reversed(done) if part.working), ""),
            next((parts[index].working[0] for index in behind if parts[index].working), ""),
        ),
    )


def _groups(parts: Sequence[Part], touches: list[RunEdit]) -> list[tuple[int, int, list[RunEdit]]]:
    """Runs of parts `[first, last)` with the edits that touch them, in order and separate from each other."""
    starts = [0, *accumulate(len(part.working) for part in parts)]
    groups: list[tuple[int, int, list[RunEdit]]] = []
    for touch in touches:
        first, last = _range(parts, starts, touch)
        if groups and first < groups[-1][1]:
            earlier, end, some = groups[-1]
            some.append(touch)
            groups[-1] = min(earlier, first), max(end, last), some
        else:
            groups.append((first, last, [touch]))
    return groups


def _range(parts: Sequence[Part], starts: list[int], touch: RunEdit) -> tuple[int, int]:
    if touch.start < touch.end:
        first = bisect_right(starts, touch.start) - 1
        last = bisect_left(starts, touch.end)
    else:
        # Between two parts: the one in front, so that what is put in follows its characters.
        first = max(bisect_left(starts, touch.start) - 1, 0)
        last = first + 1
    if touch.mark == USER:
        # What the person typed beside it is one with it, and so are an agent's words that they took out there.
        while first > 0 and starts[first] == touch.start and _joins(parts[first - 1], parts[first - 1].runs[::-1]):
            first -= 1
        while last < len(parts) and starts[last] == touch.end and _joins(parts[last], parts[last].runs):
            last += 1
    return first, last


def _joins(part: Part, runs: Iterable[Run]) -> bool:
    return (not part.marks and not part.same) or has_lost_words(runs)
