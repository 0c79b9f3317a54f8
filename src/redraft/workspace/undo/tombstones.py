"""Every character that a file and its reviews had since some turn, in order; those that are gone stay as tombstones.

The images of the history tell where each character stood among the others: typing that is not saved, words that wait,
words that a decision took out. So what an undo brings back stands where it stood, whatever was decided, typed or undone
beside it since, in whichever order.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, NamedTuple

from redraft.review.runs import USER, turn_of
from redraft.text.edits import Change, Edit
from redraft.workspace.undo.history_runs import FileChange, HistoryRun, gaps_of, merge_gap, zip_gaps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from collections.abc import Set as AbstractSet

    from redraft.review.review import Review


class InverseChange(NamedTuple):
    """The change of the file that takes a turn back; for each edit how many characters of the review that are not in
    the file stand between the character in front of it and what it puts in."""

    change: Change
    passed: tuple[int, ...]


class Tombstones:
    """See the module. Begins with a review; then `see` the images and `follow` the steps of the turns after it."""

    def __init__(self, review: Review) -> None:
        self._pieces = [HistoryRun(run.text, not run.by, run.by, run.gone, bool(run.by)) for run in review.runs]
        self._undone: AbstractSet[str] = frozenset()

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self._pieces if piece.here)

    @property
    def turns(self) -> set[str]:
        """The agents' turns that put in or took out any of it."""
        marks = {mark for piece in self._pieces for mark in (piece.by, *piece.gone)}
        return {turn_of(mark) for mark in marks if mark not in ("", USER)}

    # What was

    def see(self, review: Review, *, accepts: bool = False) -> None:
        """Take in the image of a review. What it no longer has is gone for good; with `accepts`, by a decision."""
        if review.saved != self.text:
            return
        gaps = list(self._gaps())
        runs = list(gaps_of(review))
        out: list[HistoryRun] = []
        for (gap, piece), (between, run) in zip_gaps(gaps, runs):
            out += merge_gap(gap, between, accepts=accepts)
            if piece is not None and run is not None:
                piece.gone = run.gone
                out.append(piece)
        self._pieces = out

    def _gaps(self) -> Iterator[tuple[list[HistoryRun], HistoryRun | None]]:
        """Each piece that the file has, with the tombstones in front of it; at last those behind all of them."""
        gap: list[HistoryRun] = []
        for piece in self._pieces:
            if piece.here:
                yield gap, piece
                gap = []
            else:
                gap.append(piece)
        yield gap, None

    def follow(self, step: FileChange) -> None:
        """Take in what a turn did to the file."""
        if step.withdrawn:
            self.exchange_blanks(step.withdrawn, self._undone)
        self._undone = (self._undone - (step.undone or set())) | ({step.withdrawn} - {""})
        if step.undone and not self._takes_only(step.change, step.undone):
            for token in step.undone:
                self._set_others_apart(token, lambda index: not self._is_taken_out(index, step.change))
        growth = 0
        known = (0, 0)
        for index, edit in enumerate(step.change.edits):
            mark = step.marks[index] if step.marks else ""
            at = self._find(edit.at + growth, known)
            known = (at, edit.at + growth)
            growth += edit.growth
            end, taken = self._take_out(at, len(edit.old))
            step.sign(taken, index)
            if step.scoped and step.undone is not None:
                # What one turn put in and another took out is gone with the hunk in which nobody saw it.
                tokens = step.undone
                self._forget(at, end, lambda piece, tokens=tokens: turn_of(piece.by) in tokens)
            if index in step.blanks:
                at = self._find_waiting(end, step.blanks[index])
                end, _ = self._take_out(at, 0)
            matchers = step.matchers(index, taken)
            if not edit.new or any(self._revive(at, end, edit.new, matches) for matches in matchers):
                continue
            if step.undone is None or not edit.new.strip() or not self._move_back(at, end, edit.new, matchers[-1]):
                self._put_in(at, end, HistoryRun(edit.new, here=True, by=mark), step)

    def _put_in(self, start: int, end: int, piece: HistoryRun, step: FileChange) -> None:
        """Let the file have what no tombstone says behind those from `start` on."""
        piece.added = any(not each.pending and piece.by not in each.removed for each in self._pieces[start:end])
        if step.undone is not None:
            matches = step.matcher("")
            found = [at for at, each in enumerate(self._pieces) if each.accepted and matches(each)]
            if not any(start <= at < end for at in found):  # typing beside its place may stand in between
                same = [at for at in found if self._pieces[at].text == piece.text]
                for at in sorted(same, key=lambda at: abs(at - start))[:1]:
                    self._pieces[at].accepted = False
            self._forget(start, end, matches)
            gone = [each for each in self._pieces if not each.here and not each.pending and each.text.strip()]
            owners = {turn_of(each.by) for each in gone if each.text.strip() in piece.text}
            piece.maybe = frozenset(owners & step.undone)
        self._pieces.insert(end, piece)

    def _move_back(self, start: int, end: int, text: str, matches: Callable[[HistoryRun], bool]) -> bool:
        """Let the file have tombstones again that say just this beyond what was typed beside them, which an undo put on
        the other side of them; whether there are such."""
        gaps = [gap for gap in self._tombstone_spans() if gap[1] <= start or gap[0] >= end]
        for first, last in sorted(gaps, key=lambda gap: max(start - gap[1], gap[0] - end)):
            # The tombstones at the new place keep their order with those that come there.
            target = (self._pieces[start : start + 1] or [None])[0] if last <= start else self._pieces[end]
            found = self._match(first, last, text, lambda piece: not piece.pending and matches(piece))
            if found is None:
                continue
            moved = [self._pieces[index] for index in found]
            names = set(map(id, moved))
            self._pieces = [piece for piece in self._pieces if id(piece) not in names]
            places = (index for index, piece in enumerate(self._pieces) if piece is target)
            place = next(places, len(self._pieces))
            self._pieces[place:place] = moved
            for piece in moved:
                piece.here, piece.accepted, piece.changed = True, False, None
            return True
        return False

    def _tombstone_spans(self) -> Iterator[tuple[int, int]]:
        """From where to where nothing is in the file."""
        start = 0
        for index, piece in enumerate(self._pieces):
            if piece.here:
                if index > start:
                    yield start, index
                start = index + 1
        if len(self._pieces) > start:
            yield start, len(self._pieces)

    def _takes_only(self, change: Change, tokens: AbstractSet[str]) -> bool:
        """Whether a change takes nothing out of the file but what these turns put in."""
        edits = iter(change.edits)
        edit = next(edits, None)
        at = 0
        for piece in self._pieces:
            end = at + len(piece.text) if piece.here else at
            while edit is not None and edit.end <= at:
                edit = next(edits, None)
            if edit is None:
                break
            if edit.at < end and at < edit.end and at < end and turn_of(piece.by) not in tokens:
                return False
            at = end
        return True

    def _forget(self, start: int, end: int, matches: Callable[[HistoryRun], bool]) -> None:
        """Bring tombstones back no more: they are back already, or gone with what they belonged to."""
        for piece in self._pieces[start:end]:
            if piece.accepted and matches(piece):
                piece.accepted = False

    def _find(self, offset: int, known: tuple[int, int] = (0, 0)) -> int:
        """Where the tombstones begin in front of the character at an offset of the file; pieces are cut there. `known`
        is the same of an earlier offset, so that many edits are found in one pass."""
        index, at = known
        while index < len(self._pieces) and at < offset:
            piece = self._pieces[index]
            length = len(piece.text) if piece.here else 0
            if at + length > offset:
                self._pieces[index : index + 1] = piece.split(offset - at)
                return index + 1
            index, at = index + 1, at + length
        return index

    def _take_out(self, index: int, length: int) -> tuple[int, list[HistoryRun]]:
        """Take characters out from a piece on; where the tombstones end that are there then, and the new ones."""
        taken: list[HistoryRun] = []
        while index < len(self._pieces):
            piece = self._pieces[index]
            if piece.here:
                if not length:
                    return index, taken
                if len(piece.text) > length:
                    piece, rest = piece.split(length)
                    self._pieces[index : index + 1] = [piece, rest]
                piece.here, length = False, length - len(piece.text)
                taken.append(piece)
            index += 1
        return index, taken

    def _find_waiting(self, end: int, length: int) -> int:
        """Where the last so many characters begin that wait in front of a piece; pieces are cut there."""
        index = end
        while index > 0 and length > 0:
            index -= 1
            piece = self._pieces[index]
            length -= len(piece.text) if piece.pending else 0
            if length < 0:
                self._pieces[index : index + 1] = piece.split(-length)
                return index + 1
        return index

    def _revive(self, start: int, end: int, text: str, matches: Callable[[HistoryRun], bool]) -> bool:
        """Let the file have tombstones again that say just this; whether there are such."""
        found = self._match(start, end, text, matches)
        for piece in (self._pieces[index] for index in found or ()):
            piece.here, piece.pending, piece.accepted, piece.changed = True, False, False, None
        return found is not None

    def _match(self, start: int, end: int, text: str, matches: Callable[[HistoryRun], bool]) -> list[int] | None:
        """Which tombstones say just this, the first of them if several do; the last is cut where it ends."""
        places = [index for index in range(start, end) if not self._pieces[index].here and matches(self._pieces[index])]
        tried: set[tuple[int, int]] = set()
        found: list[int] = []
        # Which of the places is next, and how much is said in front of it by how many of those found and this one.
        waiting: list[tuple[int, int, int, list[int]]] = [(0, 0, 0, [])]
        while waiting:
            number, done, before, taken = waiting.pop()
            found[before:] = taken
            if done == len(text):
                return found
            if number == len(places) or (number, done) in tried:
                continue
            tried.add((number, done))
            waiting.append((number + 1, done, len(found), []))
            piece = self._pieces[places[number]]
            if text.startswith(piece.text, done):
                waiting.append((number + 1, done + len(piece.text), len(found), [places[number]]))
            elif len(piece.text) > len(text) - done and piece.text.startswith(text[done:]):
                self._pieces[places[number] : places[number] + 1] = piece.split(len(text) - done)
                return [*found, places[number]]
        return None

    # What an undo does

    def exchange_blanks(self, turn: str, undone: AbstractSet[str]) -> None:
        """Where one edit took out, or had put in, what stood on both sides of words that come back with a turn: of the
        blanks before and behind them let it have the one behind, if they would run into the word before, in the file
        or as the person sees it, and then into none."""
        returns = [self._returns(piece, turn, undone) for piece in self._pieces]
        groups = [list(group) for back, group in groupby(range(len(returns)), returns.__getitem__) if back]
        for first, last in ((group[0], group[-1]) for group in reversed(groups)):
            if self._can_exchange(first, last, turn, undone):
                rest, before = self._pieces[first - 1].cut_blank()
                words, behind = self._pieces[last].cut_blank()
                self._pieces[last : last + 1] = [words, replace(before, text=behind.text)]
                self._pieces[first - 1 : first] = [rest, replace(behind, text=before.text)]
        self._pieces = [piece for piece in self._pieces if piece.text]

    def _can_exchange(self, first: int, last: int, turn: str, undone: AbstractSet[str]) -> bool:
        """See above; of the pieces from the first to the last, which come back."""
        if first == 0 or last + 1 == len(self._pieces):
            return False
        before = self._pieces[first - 1]
        blanks = before.text[-1].isspace() and self._pieces[last].text[-1].isspace()
        if before.here or not blanks or not self._pieces[first].text[0].isalnum():
            return False
        edits = self._edits_of(before, turn, undone)
        if not any(edits & self._edits_of(piece, turn, undone) for piece in self._pieces[last + 1 :]):
            return False
        joined, then = (
            any(self._edge(at, step, turn, undone, seen=seen).isalnum() for seen in (False, True))
            for at, step in ((first, -1), (last, 1))
        )
        return joined and not then

    def _edits_of(self, piece: HistoryRun, turn: str, undone: AbstractSet[str]) -> set[str]:
        """The edits of others for which the file lacks a piece: they took it out, or put it in and are undone."""
        if piece.here or piece.pending:
            return set()
        standing = {mark for mark in piece.gone if piece.accepted and mark != USER and turn_of(mark) not in undone}
        put_in = {piece.by} if turn_of(piece.by) in undone else set[str]()
        return {mark for mark in standing | put_in if turn_of(mark) != turn}

    def _edge(self, index: int, step: int, turn: str, undone: AbstractSet[str], *, seen: bool) -> str:
        """The character on one side of a piece once a turn is taken back: in the file, or as the person sees it."""
        index += step
        while 0 <= index < len(self._pieces):
            piece = self._pieces[index]
            there = (piece.here or piece.pending) and not piece.gone if seen else piece.here
            if (there and turn_of(piece.by) != turn) or self._returns(piece, turn, undone):
                return piece.text[0 if step > 0 else -1]
            index += step
        return ""

    def locate(self, change: Change, undone: AbstractSet[str], source: int) -> InverseChange | None:
        """A change that takes back something of a turn, with all that it puts in among what waits there; None where
        that is not what was taken out."""
        matches = FileChange(0, change, undone=undone, source=source).matcher("")
        chosen: list[HistoryRun] = []
        known = (0, 0)
        for edit in change.edits:
            at = self._find(edit.at, known)
            known = (at, edit.at)
            end = self._find(edit.end, known)
            while end < len(self._pieces) and not self._pieces[end].here:
                end += 1
            found = self._match(at, end, edit.new, matches)
            if found is None:
                return None
            inside = [piece for piece in self._pieces[at : self._find(edit.end, known)] if piece.here]
            chosen += [*inside, *(self._pieces[index] for index in found)]
        names = set(map(id, chosen))
        return self._change({index for index, piece in enumerate(self._pieces) if id(piece) in names})

    def has_standing(self, turn: str, undone: AbstractSet[str]) -> bool:
        """Whether words of a turn are in the file, or words that it took out are gone from it."""
        return any(
            piece.text.strip()
            and (self._returns(piece, turn, undone) or (piece.here and turn in (turn_of(piece.by), *piece.maybe)))
            for piece in self._pieces
        )

    def later_turns(self, turn: str, undone: AbstractSet[str]) -> set[str]:
        """The turns that stand and of which a decision took that they took out words of this one."""
        return {
            turn_of(mark)
            for piece in self._pieces
            if piece.accepted and piece.by not in ("", USER) and turn_of(piece.by) == turn
            for mark in piece.gone
            if mark != USER
        } - {turn, *undone}

    def turns_around(self, turn: str, undone: AbstractSet[str]) -> set[str]:
        """The turns of which one edit that stands took out what stood on both sides of words that come back, where
        these would run into others now."""
        found: set[str] = set()
        for index, piece in enumerate(self._pieces):
            if self._returns(piece, turn, undone) and self._runs_into(index, turn, undone):
                before, behind = (self._standing_marks(index, step, turn, undone) for step in (-1, 1))
                found |= {turn_of(mark) for mark in before & behind}
        return found

    def _runs_into(self, index: int, turn: str, undone: AbstractSet[str]) -> bool:
        """Whether a word that comes back would go on in another one that it did not meet before."""
        for step, edge, other in ((-1, 0, -1), (1, -1, 0)):
            place = self._neighbour(index, step, turn, undone)
            if place is None or abs(place - index) == 1:
                continue
            if self._pieces[index].text[edge].isalnum() and self._pieces[place].text[other].isalnum():
                return True
        return False

    def _neighbour(self, index: int, step: int, turn: str, undone: AbstractSet[str]) -> int | None:
        """The nearest piece on one side that the file has once a turn is taken back."""
        index += step
        while 0 <= index < len(self._pieces):
            if self._stays(self._pieces[index], turn, undone):
                return index
            index += step
        return None

    def _stays(self, piece: HistoryRun, turn: str, undone: AbstractSet[str]) -> bool:
        """Whether the file has it once a turn is taken back."""
        return turn_of(piece.by) != turn if piece.here else self._returns(piece, turn, undone)

    def _standing_marks(self, index: int, step: int, turn: str, undone: AbstractSet[str]) -> set[str]:
        """By which edits of others the nearest character on one side is gone that would be there without them."""
        index += step
        while 0 <= index < len(self._pieces):
            piece = self._pieces[index]
            if piece.here:
                return set()
            marks = {mark for mark in piece.gone if piece.accepted and mark != USER}
            standing = {mark for mark in marks if turn_of(mark) not in undone | {turn}}
            if standing and turn_of(piece.by) not in undone | {turn}:
                return standing
            index += step
        return set()

    def inverse(self, turn: str, undone: AbstractSet[str]) -> InverseChange | None:
        """The change that takes back what was accepted of a turn, while others are undone already; None where somebody
        changed its words since, or where nobody knows the place of what it took out."""
        if any(self._is_changed(index, turn) for index in range(len(self._pieces))):
            return None
        if any(piece.here and turn in piece.maybe for piece in self._pieces):
            return None
        self._set_others_apart(turn, lambda index: self._would_run_into(index, turn, undone))
        comes = [index for index, piece in enumerate(self._pieces) if self._returns(piece, turn, undone)]
        if not all(map(self._has_place, comes)):
            return None
        goes = [index for index, piece in enumerate(self._pieces) if piece.here and turn_of(piece.by) == turn]
        return self._change({*goes, *comes})

    def _change(self, chosen: set[int]) -> InverseChange:
        """The change of the file that takes out those of these pieces that it has, and puts in the others."""
        edits: list[Edit] = []
        passed: list[int] = []
        at = between = 0
        near = apart = False  # whether nothing that stays is between the last edit and the piece at hand, or only waits
        for index, piece in enumerate(self._pieces):
            if index in chosen:
                edit = Edit(at, piece.text if piece.here else "", "" if piece.here else piece.text)
                last = edits[-1] if near else edit
                if near and last.end == at and (not apart or not (last.new or edit.new)):
                    edits[-1] = Edit(last.at, last.old + edit.old, last.new + edit.new)
                else:
                    edits.append(edit)
                    passed.append(between)
                near, apart = True, False
            elif piece.here:
                near = False
            elif piece.pending:
                apart = True
            if piece.here:
                at, between = at + len(piece.text), 0
            elif piece.pending:
                between += len(piece.text)
        return InverseChange(Change(tuple(edits)), tuple(passed))

    def _set_others_apart(self, turn: str, wanted: Callable[[int], bool]) -> None:
        """Let what others put in behind the blank with which words of a turn begin stand in front of it, or what they
        put in before the one with which they end behind it. It reads the same, and does not run into another word once
        the turn's are gone. Only beside the blanks that are `wanted`."""
        here = [index for index, piece in enumerate(self._pieces) if piece.here]
        mine = [place for place, index in enumerate(here) if turn_of(self._pieces[index].by) == turn]
        for place, behind in reversed(list(pairwise(mine))):
            if behind - place == 1:
                continue
            first, last = here[place], here[behind - 1]
            blank, other = self._pieces[first], self._pieces[last]
            if blank.text.isspace() and other.text.endswith(blank.text) and wanted(first):
                rest, end = other.split(len(other.text) - len(blank.text))
                self._pieces[last : last + 1] = [rest, blank] if rest.text else [blank]
                self._pieces[first] = end
                continue
            first, last = here[place + 1], here[behind]
            other, blank = self._pieces[first], self._pieces[last]
            if blank.text.isspace() and other.text.startswith(blank.text) and wanted(last):
                end, rest = other.split(len(blank.text))
                self._pieces[last] = end
                self._pieces[first : first + 1] = [blank, rest] if rest.text else [blank]

    def _is_taken_out(self, index: int, change: Change) -> bool:
        """Whether a change of the file takes a piece out."""
        at = sum(len(piece.text) for piece in self._pieces[:index] if piece.here)
        return any(edit.at <= at < edit.end for edit in change.edits)

    def _would_run_into(self, index: int, turn: str, undone: AbstractSet[str]) -> bool:
        """Whether the words on both sides of a blank would be one word once a turn is taken back that put it in."""
        before, behind = (self._neighbour(index, step, turn, undone) for step in (-1, 1))
        if before is None or behind is None:
            return False
        return self._pieces[before].text[-1].isalnum() and self._pieces[behind].text[0].isalnum()

    def _returns(self, piece: HistoryRun, turn: str, undone: AbstractSet[str]) -> bool:
        if piece.here or not piece.accepted or piece.pending or USER in piece.gone:
            return False
        removers = {turn_of(mark) for mark in piece.gone}
        put_in = "" if piece.by in ("", USER) else turn_of(piece.by)
        return turn in removers and removers - undone == {turn} and put_in not in undone | {turn}

    def _is_changed(self, index: int, turn: str) -> bool:
        """Whether somebody took out words of a turn, or put something between them, other than by a decision."""
        piece = self._pieces[index]
        if piece.by in ("", USER) or turn_of(piece.by) != turn:
            return False
        if piece.changed is not None:
            return True
        behind = index + 1
        while behind < len(self._pieces) and (not self._pieces[behind].here or self._pieces[behind].added):
            behind += 1
        between = self._pieces[index + 1 : behind]
        follows = behind < len(self._pieces) and self._pieces[behind].by == piece.by
        return piece.here and follows and any(each.here for each in between)

    def _has_place(self, index: int) -> bool:
        """Whether it is known where a tombstone stands: not within what somebody took out or just where they put
        something in."""
        sides: list[HistoryRun | None] = []
        for step in (-1, 1):
            place = index + step
            while 0 <= place < len(self._pieces) and not (self._pieces[place].here or self._pieces[place].changed):
                place += step
            sides.append(self._pieces[place] if 0 <= place < len(self._pieces) else None)
        before, behind = sides
        if any(side is not None and side.here and side.added for side in sides):
            return False
        return before is None or behind is None or before.changed is None or before.changed != behind.changed
