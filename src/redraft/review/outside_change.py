"""What becomes of a review when its file changes by another hand: another program, or a turn that writes at once.

All readings follow the file. What the person typed and not saved stays. Where the other one changed the same words, the
person's stand over theirs, or beside them where one of the two only put something before or behind; it is marked as a
conflict, and not saved before somebody has chosen. An agent's pending edit of words that the other one changed stands
beside the text, marked.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Literal

from redraft.review.blanks import keep_seen_words_apart
from redraft.review.operations import save, type_into
from redraft.review.review import Part, Review, group_runs, join_parts, join_runs
from redraft.review.runs import USER, Run, RunEdit, rewrite
from redraft.text.diff.word_diff import word_around, word_edits
from redraft.text.edits import Change
from redraft.text.merge.three_way import CleanRegion, merge

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from redraft.text.edits import Edit


def apply_outside_change(review: Review, disk: str) -> Review:
    """The review after the file changed to `disk`."""
    if disk == review.saved:
        return review
    if all(part.same for part in review.parts):
        return Review.of(disk)
    if disk == review.to_save:
        return save(review)
    if not review.saved and not review.to_save:
        return _keep_outside_document(review, disk)
    review = _before_conflicts(review)
    if disk == review.saved:
        return review
    regions, words = _regions(review.saved, review.to_save, disk)
    runs = [run for part in _by_words(review, words) for run in part.runs]
    return Review(join_parts(group_runs(_follow(runs, regions)), review.parts))


def _before_conflicts(review: Review) -> Review:
    """The review as if the other program had not touched the words that the person changed. The program may have
    written only half of its text, so it is compared again with what both sides started from."""
    if not any(run.forgotten for part in review.parts for run in part.runs):
        return review
    runs: list[Run] = []
    for part in review.parts:
        known = any(run.forgotten for run in part.runs)
        for run in part.runs:
            if run.forgotten:
                runs.append(Run(run.text, "", (USER,)))
            elif not known:
                runs.append(run)
            elif run.by or run.in_own:  # what both have by now is the person's as well
                runs.append(run._replace(by=run.by or USER, clash=run.clash and bool(run.marks)))
    return Review(join_parts(group_runs(runs), review.parts))


def _by_words(review: Review, words: list[Edit]) -> list[Part]:
    """The parts, with an agent's edit of a word that the other program also changed widened to the whole word: if one
    makes `200` of `100` and the other `150`, the result is not `250`."""
    parts: list[Part] = []
    at = 0
    for part in review.parts:
        end = at + len(part.saved)
        typed = any(USER in (run.by, *run.gone) for run in part.runs)
        met = [edit for edit in words if at < edit.end and edit.at < end]
        if part.marks and not part.conflict and not typed and met and not _does_the_same(part, at, met):
            mark = part.marks[-1]
            parts.append(Part((Run(part.saved, "", (mark,)), Run(part.proposed, mark)), part.id))
        else:
            parts.append(part)
        at = end
    return parts


def _does_the_same(part: Part, at: int, edits: list[Edit]) -> bool:
    inside = all(at <= edit.at and edit.end <= at + len(part.saved) for edit in edits)
    return inside and Change(tuple(edit.shift(-at) for edit in edits)).apply(part.saved) == part.proposed


def _keep_outside_document(review: Review, disk: str) -> Review:
    """Another program created the document that agents propose to create: its text stays, with the proposal beside
    it."""
    if disk == review.working:
        return Review.of(disk)
    marks = tuple(dict.fromkeys(mark for part in review.parts for mark in part.marks))
    return Review.of_runs([Run(disk, "", marks, clash=True), *(run._replace(clash=True) for run in review.runs)])


def carry_typing(review: Review, old: str, new: str) -> Review | None:
    """The review with the typing that made `new` of the working text `old`; None if the two meet. If both inserted text
    at one place, the person's comes first."""
    pieces = merge(old, new, review.working).pieces
    if not all(isinstance(piece, CleanRegion) or not piece.base for piece in pieces):
        return None
    text = "".join([piece.text if isinstance(piece, CleanRegion) else piece.ours + piece.theirs for piece in pieces])
    typed = Change.between(review.working, text)
    return type_into(review, typed) if typed.edits else review


def edit_saved_text(
    review: Review, change: Change, *, around_typing: bool = False, passed: Sequence[int] = ()
) -> Review | None:
    """The review after `change` of its saved text; None if that meets what is pending or unsaved. `around_typing` also
    deletes words between which the person inserted something, which stays. `passed` says for each edit how many unsaved
    characters come before what it inserts; by default, all those at its place."""
    seen = review
    if around_typing:
        review = _set_unsaved_apart(review, change)
    pending = _find_pending_texts(review)
    if passed:
        review, change = _insert_among_unsaved(review, change, passed)
    runs = _edit_runs(review, change)
    if runs is None:
        return None
    after = Review(join_parts(group_runs(runs), review.parts))
    keeps = pending == _find_pending_texts(after) and not _takes_out_around(review, change, typing=around_typing)
    return keep_seen_words_apart(seen, after) if keeps else None


def has_typing_in_words(review: Review, change: Change) -> bool:
    """Whether a change of the saved text touches a word that continues in unsaved typing: if `2500` was typed into
    `200`, nobody who changes `200` back to `100` means `1500`."""
    seen: list[tuple[int, int, int]] = []  # stretches that both have: where in working, where in saved, how long
    edges: set[int] = set()  # where in working typing begins and ends
    at = working_at = 0
    for run in review.runs:
        length = len(run.text) if run.in_working else 0
        if length and not run.by:
            seen.append((working_at, at, length))
        elif length and run.by == USER:
            edges |= {working_at, working_at + length}
        at += 0 if run.by else len(run.text)
        working_at += length
    touched = [_find_touched_characters(review.saved, edit) for edit in change.edits] if edges else []
    starts = [start for start, _ in touched]
    for edge in edges:
        first, last = word_around(review.working, edge)
        index = max(bisect_right(seen, (first,)) - 1, 0)
        while first < last and index < len(seen) and seen[index][0] < last:
            where, place, length = seen[index]
            start, end = place + max(first - where, 0), place + min(last - where, length)
            before = bisect_right(starts, end - 1) - 1
            if start < end and before >= 0 and touched[before][1] > start:
                return True
            index += 1
    return False


def _find_touched_characters(saved: str, edit: Edit) -> tuple[int, int]:
    """The characters that an edit deletes; for an insertion, the characters whose word continues in it."""
    if edit.old:
        return edit.at, edit.end
    before, behind = saved[max(edit.at - 1, 0) : edit.at], saved[edit.at : edit.at + 1]
    return edit.at - _joins(before, edit.new), edit.at + _joins(edit.new, behind)


def _edit_runs(review: Review, change: Change) -> list[Run] | None:
    """The runs after a change of the saved text; None if it deletes something that somebody else's pending edit
    needs."""
    runs: list[Run] = []
    at = 0
    overwritten = True  # whether the person has typed over all that the edit at hand takes out
    edits = iter(change.edits)
    edit = next(edits, None)
    for run in review.runs:
        if run.by:
            runs.append(run)
            continue
        rest = run.text
        while rest:
            if edit is None or edit.at >= at + len(rest):
                runs.append(run._replace(text=rest))
                at, rest = at + len(rest), ""
            elif edit.at > at or edit.at == edit.end == at:
                runs.append(run._replace(text=rest[: edit.at - at]))
                rest, at = rest[edit.at - at :], edit.at
                if edit.at == edit.end:
                    runs.append(Run(edit.new))
                    edit = next(edits, None)
            else:
                length = min(len(rest), edit.end - at)
                rest, at = rest[length:], at + length
                if not run.plain and (run.gone != (USER,) or run.clash):
                    return None
                overwritten = overwritten and run.gone == (USER,)
                if at == edit.end:
                    runs.append(Run(edit.new, "", (USER,) if overwritten else ()))
                    edit, overwritten = next(edits, None), True
    while edit is not None:
        runs.append(Run(edit.new))
        edit = next(edits, None)
    return runs


def _insert_among_unsaved(review: Review, change: Change, passed: Sequence[int]) -> tuple[Review, Change]:
    """The review with the change's pure insertions, each after so many unsaved characters; and the rest of the
    change."""
    runs: list[Run] = []
    rest: list[Edit] = []
    waiting: list[tuple[int, int, str]] = []
    growth = 0
    for edit, before in zip(change.edits, passed, strict=True):
        if edit.old:
            rest.append(edit.shift(growth))
        else:
            waiting.append((edit.at, before, edit.new))
            growth += len(edit.new)
    at = unsaved = 0
    for run in review.runs:
        left = run.text
        # Among runs that are not saved the place stays, and what is passed grows; in saved text it is the other way.
        while waiting and (cut := _distance(run, at, unsaved, waiting[0])) < len(left):
            runs += [run._replace(text=left[:cut]), Run(waiting.pop(0)[2])]
            left = left[cut:]
            at, unsaved = (at, unsaved + cut) if run.by else (at + cut, unsaved if not cut else 0)
        runs.append(run._replace(text=left))
        at, unsaved = (at, unsaved + len(left)) if run.by else (at + len(left), 0)
    runs += [Run(text) for _, _, text in waiting]
    return Review(join_parts(group_runs(runs), review.parts)), Change(tuple(rest))


def _distance(run: Run, at: int, unsaved: int, place: tuple[int, int, str]) -> int:
    """How far into a run another place lies; beyond its end if the place is after it. The run begins at a place of the
    saved text, after so much that is unsaved."""
    there, before, _ = place
    if run.by:
        return max(before - unsaved, 0) if there == at else len(run.text)
    return max(there - at, 0)


def _set_unsaved_apart(review: Review, change: Change) -> Review:
    """The review, what was put in behind the blank with which words begin that go, or before the one with which they
    end, as put in beside them. It reads the same, and does not run into the next word."""
    runs: list[Run] = []
    saved = review.saved
    edits = change.edits
    at = index = 0
    joined = list(join_runs(review.runs))
    for run in joined:
        while index < len(edits) and edits[index].end <= at:
            index += 1
        edit = edits[index] if index < len(edits) else None
        put_in = run.by and not run.gone and not run.clash
        if edit is None or not put_in or edit.new or not edit.at < at < edit.end:
            runs.append(run)
            at += 0 if run.by else len(run.text)
            continue
        before, behind = saved[edit.at : at], saved[at : edit.end]
        last = runs[-1]
        if before.isspace() and run.text.endswith(before) and last.plain and last.text.endswith(before):
            moved = run._replace(text=before + run.text.removesuffix(before))
            runs[-1:] = [last._replace(text=last.text.removesuffix(before)), moved, Run(before)]
        elif behind.isspace() and run.text.startswith(behind):
            late = run._replace(text=run.text.removeprefix(behind) + behind)
            return _set_unsaved_apart(_with_late(review, run, at, edit.end, late), change)
        else:
            runs.append(run)
    return Review(join_parts(group_runs(runs), review.parts)) if runs != joined else review


def _with_late(review: Review, run: Run, at: int, end: int, late: Run) -> Review:
    """The review with typing at one place of the saved text moved to a later place."""
    runs: list[Run] = []
    place = 0
    placed = False
    for each in join_runs(review.runs):
        if each == run and place == at:
            continue
        length = 0 if each.by else len(each.text)
        if not placed and length and place < end <= place + length:
            cut = end - place
            runs += [each._replace(text=each.text[:cut]), late, each._replace(text=each.text[cut:])]
            placed = True
        else:
            runs.append(each)
        place += length
    return Review(join_parts(group_runs(runs), review.parts))


def _takes_out_around(review: Review, change: Change, *, typing: bool) -> bool:
    """Whether something was put into words that would go, and that its author let stand: it would have no place. With
    `typing`, what the person put in has one where nothing else comes in and they took nothing out."""
    put_in: list[int] = []
    stands: list[tuple[int, int]] = []
    at = 0
    for run in review.runs:
        if run.by:
            put_in.append(at)
            continue
        if run.gone != (USER,):
            stands.append((at, at + len(run.text)))
        at += len(run.text)
    ends = [end for _, end in stands]
    for edit in change.edits:
        inside = bisect_right(put_in, edit.at)
        if inside < len(put_in) and put_in[inside] < edit.end:
            first = bisect_right(ends, edit.at)
            if typing and not edit.new and _is_only_typed_into(review, edit):
                continue
            if first < len(stands) and stands[first][0] < edit.end:
                return True
    return False


def _is_only_typed_into(review: Review, edit: Edit) -> bool:
    """Whether the person inserted something into the words of an edit, and nobody did anything else to them."""
    at = 0
    for run in review.runs:
        end = at if run.by else at + len(run.text)
        touches = edit.at < at < edit.end if run.by else at < edit.end and edit.at < end
        if touches and not run.plain and run != Run(run.text, USER):
            return False
        at = end
    return True


def _find_pending_texts(review: Review) -> list[tuple[str, tuple[object, ...]]]:
    """Everything that is pending or unsaved, in order, wherever it is and however it is grouped."""
    marked = (run for run in review.runs if not run.plain and (run.by or run.gone != (USER,) or run.clash))
    return [("".join(run.text for run in alike), fate) for fate, alike in groupby(marked, lambda run: run[1:])]


def to_saved_change(review: Review, change: Change) -> Change | None:
    """A change of the working text as a change of the saved text; None if it deletes something unsaved."""
    edits: list[Edit] = []
    at = working_at = 0
    places: list[tuple[int, int, int]] = []  # stretches that both have: where in working, where in saved, how long
    for run in review.runs:
        if run.plain:
            places.append((working_at, at, len(run.text)))
        at += 0 if run.by else len(run.text)
        working_at += len(run.text) if run.in_working else 0
    starts = [place[0] for place in places]
    for edit in change.edits:
        index = bisect_right(starts, edit.at) - 1
        if index > 0 and not edit.old and starts[index] == edit.at:
            index -= places[index - 1][0] + places[index - 1][2] == edit.at  # behind the character in front of it
        found = places[index] if index >= 0 else None
        if found is None or edit.end > found[0] + found[2]:
            if review.parts or edit.old:
                return None
            found = (0, 0, 0)
        edits.append(edit.shift(found[1] - found[0]))
    return Change(tuple(edits))


def without_file(review: Review) -> Review:
    """The review after the file was deleted: what an agent proposed is to be created again. If the person has unsaved
    typing, everything they have becomes theirs, with a proposal to change it beside it."""
    if not review.turns:
        return Review.of_runs([Run(review.working, USER)])
    if review.to_save == review.saved:
        mark = next(mark for part in review.parts for mark in part.marks)
        return Review.of_runs([Run(review.working, mark)])
    runs: list[Run] = []
    for part in review.parts:
        for run in part.runs:
            if run.forgotten or (USER in run.gone and not run.by):
                continue
            runs.append(run._replace(by=run.by or USER, clash=bool(run.marks)))
    return Review(join_parts(group_runs(runs), review.parts))


@dataclass(slots=True)
class _Region:
    """A stretch of the saved text and of the person's own text, and what the file has there now."""

    start: int
    end: int
    own_start: int
    own_end: int
    kind: Literal["theirs", "both", "clash"]
    new: str
    old: str = ""
    own: str = ""
    met: list[str] = field(default_factory=list[str])  # the agents' edits in it
    taken: list[str] = field(default_factory=list[str])  # those that take something out

    def holds(self, run: Run, at: int, own_at: int) -> bool:
        if not run.by:
            return self.start <= at < self.end
        return run.by == USER and USER not in run.gone and self.own_start <= own_at < self.own_end

    def precedes(self, run: Run, at: int, own_at: int) -> bool:
        """Whether all of it that is saved lies before a run: the saved text keeps its order, whatever was typed."""
        if not run.by:
            return at >= self.end
        return run.by == USER and own_at >= self.own_end and at >= self.end

    def is_followed_by(self, run: Run, at: int, own_at: int) -> bool:
        """Whether a run was typed behind all that the person has of it, but in front of saved text that they took
        out."""
        behind = run.by == USER and USER not in run.gone and own_at >= self.own_end
        return behind and self.kind != "theirs" and self.start <= at < self.end

    def replacement(self) -> list[Run]:
        if self.kind != "clash":
            return [Run(self.new)] if self.new else []
        runs = _side_by_side(self.old, self.own, self.new)
        runs = runs or [Run(self.old, USER, (USER,)), *_type_over(self.new, self.own)]
        # What an agent would take out there, it would take out of the other's words as well.
        taken = tuple(dict.fromkeys(self.taken))
        return [run._replace(gone=run.gone if run.by else (*run.gone, *taken), clash=True) for run in runs if run.text]


def _regions(saved: str, own: str, disk: str) -> tuple[list[_Region], list[Edit]]:
    """What the other program changed: by characters if nobody else changed it, else by whole words."""
    regions: list[_Region] = []
    changed: list[Edit] = []
    at = own_at = 0
    for piece in merge(saved, own, disk).pieces:
        base, ours = piece.base, piece.ours
        end, own_end = at + len(base), own_at + len(ours)
        if not isinstance(piece, CleanRegion):
            regions.append(_Region(at, end, own_at, own_end, "clash", piece.theirs, base, ours))
        elif piece.side == "both" and piece.text != base:
            regions.append(_Region(at, end, own_at, own_end, "both", piece.text))
        elif piece.side == "theirs" and piece.text != base:
            for words in word_edits(base, piece.text, tidy=False):
                changed.append(words.shift(at))
                for edit in (each.shift(words.at) for each in Change.between(words.old, words.new).edits):
                    start, own_start = at + edit.at, own_at + edit.at
                    size = len(edit.old)
                    regions.append(_Region(start, start + size, own_start, own_start + size, "theirs", edit.new))
        at, own_at = end, own_end
    return regions, changed


def _follow(runs: Iterable[Run], regions: list[_Region]) -> list[Run]:
    out: list[Run] = []
    placed: list[tuple[int, _Region]] = []  # where in `out` the replacement of a region begins
    waiting = iter(regions)
    region = next(waiting, None)
    begun = False

    late: list[Run] = []  # typed behind the region, and standing in front of what it takes out

    def close(ending: _Region) -> None:
        placed.append((len(out), ending))
        out.extend([*ending.replacement(), *late])
        late.clear()

    for run, at, own_at in _pieces(runs, regions):
        while region is not None and region.precedes(run, at, own_at):
            close(region)
            region, begun = next(waiting, None), False
        if run.by == USER and any(done.kind != "theirs" and done.holds(run, at, own_at) for _, done in placed):
            continue  # typed behind what it stands for: the replacement has it already
        if region is not None and region.is_followed_by(run, at, own_at):
            late.append(run)
            continue
        if region is None or not (region.holds(run, at, own_at) or (begun and run.is_agents)):
            out.append(run)
            continue
        begun = True
        region.met += run.marks
        region.taken += [mark for mark in run.gone if mark != USER]
        if run.is_agents or (run.by == USER and region.kind == "theirs"):
            out.append(run)
    while region is not None:
        close(region)
        region = next(waiting, None)
    return _mark_agent_conflicts(out, placed)


def _pieces(runs: Iterable[Run], regions: list[_Region]) -> Iterator[tuple[Run, int, int]]:
    """The runs, split where regions begin and end, each with its place in the saved text and in the person's own."""
    cuts = sorted({place for region in regions for place in (region.start, region.end)})
    own_cuts = sorted({place for region in regions for place in (region.own_start, region.own_end)})
    at = own_at = 0
    for run in runs:
        if run.is_agents:
            yield run, at, own_at
            continue
        rest = run.text
        while rest:
            places = _until(cuts, at) if not run.by else None
            own_places = _until(own_cuts, own_at) if run.in_own else None
            length = min(len(rest), *(place for place in (places, own_places) if place is not None), len(rest))
            piece = run._replace(text=rest[:length])
            yield piece, at, own_at
            rest = rest[length:]
            at += length if not run.by else 0
            own_at += length if run.in_own else 0


def _until(cuts: list[int], at: int) -> int | None:
    index = bisect_right(cuts, at)
    return cuts[index] - at if index < len(cuts) else None


def _mark_agent_conflicts(runs: list[Run], placed: list[tuple[int, _Region]]) -> list[Run]:
    """Mark agents' edits of changed words: as done if the file says what they propose, else beside the text."""
    by_mark: dict[str, _Region] = {}
    replaced: dict[int, list[str]] = {}
    for index, region in placed:
        for mark in dict.fromkeys(region.met):
            by_mark[mark] = region
            if region.new and region.kind != "clash":
                replaced.setdefault(index, []).append(mark)
    done = {mark for mark, region in by_mark.items() if _is_done(runs, mark, region)}
    marked: list[Run] = []
    for index, run in enumerate(runs):
        if run.is_agents and run.by in done:
            continue
        met = [mark for mark in run.marks if mark in by_mark and mark not in done]
        gone = [mark for mark in replaced.get(index, []) if mark not in done]
        after = run.without(*done)
        if gone and not after.gone:
            after = after._replace(gone=tuple(gone), clash=True)
        marked.append(after._replace(clash=True) if met else after)
    return marked


def _is_done(runs: list[Run], mark: str, region: _Region) -> bool:
    put_in = "".join(run.text for run in runs if run.by == mark and not run.gone)
    return region.kind == "theirs" and put_in == region.new and not any(mark in run.gone for run in runs)


def _side_by_side(old: str, own: str, new: str) -> list[Run]:
    """The person's words and the other program's, if one of them only inserted before or after what was there: the
    person's first if both did; once if one contains the other. Empty otherwise."""
    for behind in (True, False):
        mine, theirs = _addition(old, own, behind=behind), _addition(old, new, behind=behind)
        if mine and theirs:
            if mine in theirs or theirs in mine:
                return [Run(new)] if mine in theirs else []
            blank = ("\n" if "\n" in mine + theirs else " ") if _joins(mine, theirs) else ""
            both = [Run(mine + blank, USER), Run(theirs)]
            return [Run(old), *both] if behind else [*both, Run(old)]
    for behind in (True, False):
        mine, theirs = _addition(old, own, behind=behind), _addition(old, new, behind=behind)
        if theirs and not (_joins(own, theirs) if behind else _joins(theirs, own)):
            edited = _type_over(old, own)
            return [*edited, Run(theirs)] if behind else [Run(theirs), *edited]
        if mine and not (_joins(new, mine) if behind else _joins(mine, new)):
            return [Run(new), Run(mine, USER)] if behind else [Run(mine, USER), Run(new)]
    return []


def _addition(old: str, text: str, *, behind: bool) -> str:
    """What one text has more than another, if all of it is before or after."""
    rest = text.removeprefix(old) if behind else text.removesuffix(old)
    return rest if len(rest) < len(text) or not old else ""


def _joins(first: str, second: str) -> bool:
    """Whether a word of the one would go on in the other."""
    return first[-1:].isalnum() and second[:1].isalnum()


def _type_over(saved: str, own: str) -> list[Run]:
    return rewrite([Run(saved)], [RunEdit(edit.at, edit.end, edit.new) for edit in word_edits(saved, own, tidy=False)])
