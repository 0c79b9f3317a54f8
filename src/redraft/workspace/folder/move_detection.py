"""Which of another program's changes belong together: a document that is gone from one place and a file that came to
another are a move, and what a person has typed follows it.

A file is known again by its content, by its number, or, where it was replaced before it was renamed, by its words. A
document that comes back to its place brings everything back with it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from redraft.errors import RedraftError
from redraft.files.file_image import proves_content
from redraft.files.paths import DocPath, split_path
from redraft.files.secret_detection import is_secret_content, is_secret_name
from redraft.files.textfile import decode
from redraft.history.journal import Content
from redraft.history.turns import State
from redraft.text.diff.word_diff import are_alike
from redraft.workspace.folder.rename_log import RenameLog
from redraft.workspace.folder.scan import can_be_listed, folders
from redraft.workspace.secret_gate import MissingFile, find_renamed_files

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterable

    from redraft.files.file_image import FileImage, FileStamp
    from redraft.files.inotify import RenamedPath
    from redraft.workspace.document import Draft
    from redraft.workspace.engine import Engine
    from redraft.workspace.folder.scan import FileMark


# Another program's change to a file, as a value: what was known, what was found, and where it went.


@dataclass(frozen=True, slots=True)
class OutsideChange:
    """A file that holds something else than was known; a side is None where there was no file."""

    path: DocPath
    before: Content | None
    after: Content | None
    image: FileImage | None
    proven: bool
    stored: Draft | None = None
    came_from: DocPath | None = None
    went_to: DocPath | None = None
    left_as: Content | None = None  # what it says there

    @property
    def written(self) -> bool:
        """Whether the file itself differs, not only what its draft knows of it."""
        return (self.before and self.before.data) != (self.after and self.after.data)

    @property
    def data(self) -> bytes | None:
        return None if self.image is None else self.image.data

    @property
    def is_news(self) -> bool:
        return self.written or (self.stored is not None and self.stored.saved != self.data)

    @property
    def place(self) -> str:
        """Where the document stands in the working view."""
        return self.path if self.stored is None else self.stored.key

    @property
    def words(self) -> str:
        if self.came_from is not None:
            return f"moved {self.came_from} to {self.path}"
        if self.before is None:
            return f"created {self.path}"
        return f"deleted {self.path}" if self.after is None else f"changed {self.path}"


def is_successor(old: bytes, new: bytes) -> bool:
    """Whether a file with the number of another one is that file, changed. Else the other was deleted, and its number
    given to a new one."""
    try:
        return old == new or are_alike(decode(old).text, decode(new).text)
    except RedraftError:
        return False


# A change that comes sooner than this after the last one is the same program's going on.
SAME_SECONDS = 60.0
# How often files are looked at again that another program renames meanwhile.
MOST_LOOKS = 20
# Where more files than this came at once, none is compared with a document that is gone.
MOST_ARRIVALS = 100
# Among how many of a document's latest turns the one is looked for that moved it or took its file away.
RECENT_TURNS = 5


class ResolvedChanges(NamedTuple):
    """The changes of one turn, and those for the next: two documents cannot come to one place in one turn."""

    now: list[OutsideChange]
    later: list[OutsideChange]


class MoveDetector:
    """Finds moves. `compare` gives what became of a file, `last_stamp` the stamp that it had when it was last seen."""

    def __init__(
        self,
        engine: Engine,
        compare: Callable[[DocPath], OutsideChange | None],
        last_stamp: Callable[[DocPath], FileStamp | None],
    ) -> None:
        self._engine = engine
        self._compare = compare
        self._last_stamp = last_stamp
        self.renames = RenameLog(self._is_known, lambda path: not self._is_gone(path))

    def look(
        self,
        paths: Iterable[DocPath],
        hear: Callable[[], list[RenamedPath]],
        at_work: Callable[[], Iterable[DocPath]],
        appeared: Collection[str] | None,
    ) -> tuple[list[OutsideChange], ResolvedChanges]:
        """What became of these files, and what of it is new, resolved. Looks again if a file was renamed meanwhile:
        what the kernel said and what lies there must be of one moment."""
        clock, looks = self._engine.clock, 0
        self.renames.add(hear(), clock())
        while True:
            changes = [change for path in paths if (change := self._compare(path)) is not None]
            news = [change for change in changes if change.is_news]
            resolved = self.resolve(news, at_work(), appeared) if news else ResolvedChanges([], [])
            heard, looks = hear() if news else [], looks + 1
            self.renames.add(heard, clock())
            if not heard or looks == MOST_LOOKS:
                return changes, resolved

    def resolve(
        self, changes: list[OutsideChange], at_work: Iterable[DocPath], appeared: Collection[str] | None
    ) -> ResolvedChanges:
        """The changes, where a document that is gone from one place and stands at another was moved there. `at_work`
        are the documents that are open, under review, or waiting to be looked at."""
        found = {change.path: change for change in changes}
        if any(change.before is None or change.after is None for change in changes):
            self._add_vanished(found, at_work)
        files: dict[str, FileMark] = {}
        # First what the kernel said of all of them: among documents that are alike, it alone tells which is which.
        heard = self._follow_heard(found, at_work)
        self._follow_swaps(found, files, heard)
        for gone in [*found.values()]:
            if gone.before is None or gone.after is not None or gone.went_to is not None or not gone.before.data:
                continue
            if gone.path not in heard and (target := self._find_target(gone, found, appeared, files)) is not None:
                _join_move(found, gone, target)
        later = self._follow_renames(found)
        self._follow_rewrites(found, appeared, files, heard)
        self._return_from_backups(found)
        return ResolvedChanges(list(found.values()), later)

    def _follow_heard(self, found: dict[DocPath, OutsideChange], at_work: Iterable[DocPath]) -> set[DocPath]:
        """Where the kernel said that documents were renamed, drafts and tabs follow, and for those that are gone it is
        a move. Returns all of which it said where they went: nothing is to be guessed of them."""
        heard: set[DocPath] = set()
        waiting = [*found.values()]
        while waiting:
            change = found[waiting.pop().path]
            if change.before is None or not change.before.data or change.went_to is not None:
                continue
            if not self._is_another_file(change):
                continue
            target = self._find_renamed(change, found, heard)
            if target is None:
                continue
            if change.after is None and target.after is not None:
                _join_move(found, change, target)
            else:
                found[change.path] = replace(change, went_to=target.path, left_as=target.after)
                found.setdefault(target.path, target)
                new = self._add_vanished(found, at_work)  # the one that took its place comes along in the same turn
                waiting += [found[path] for path in new]
            if target.before is not None:
                waiting.append(found[target.path])
        return heard

    def _follow_swaps(
        self, found: dict[DocPath, OutsideChange], files: dict[str, FileMark], heard: Container[DocPath]
    ) -> None:
        """Where another document took the place of one whose file lies elsewhere by now, drafts and tabs follow the
        file. For the history both have changed: such a turn can be taken back whichever of them was known."""
        waiting = [*found.values()]
        while waiting:
            change = waiting.pop()
            if change.path in heard or change.before is None or change.after is None:
                continue
            if not self._is_another_file(change):
                continue
            target = self._find_file(change, found, files)
            if target is None or not self._is_swapped(change, target):
                continue
            found[change.path] = replace(change, went_to=target.path, left_as=target.after)
            if target.before is not None and target.path not in found:
                found[target.path] = target
                waiting.append(target)

    def _find_file(
        self, change: OutsideChange, found: dict[DocPath, OutsideChange], files: dict[str, FileMark]
    ) -> OutsideChange | None:
        """What became of the place where the file lies by now that was known at the place of this change. All files are
        looked at only for a draft's sake."""
        stamp = self._last_stamp(change.path)
        for other in found.values():
            if stamp is not None and other.image is not None and self._engine.root.is_that_file(other.path, stamp):
                return other
        names = self._same_file(change, files) if change.stored is not None else []
        places = [DocPath(name) for name in names if not is_secret_name(name)]
        return (self._compare(places[0]) or self._find_arrival(places[0])) if len(places) == 1 else None

    def _is_swapped(self, change: OutsideChange, target: OutsideChange) -> bool:
        """Whether the document went to the target's place. Not where an editor kept its old file as a backup."""
        before, after, there = change.before, change.after, target.after
        if before is None or after is None or there is None or not is_successor(before.data, there.data):
            return False
        old = self._last_stamp(target.path)
        traded = old is not None and change.image is not None and change.image.stamp.ino == old.ino
        return traded or not is_successor(before.data, after.data)

    def _add_vanished(self, found: dict[DocPath, OutsideChange], at_work: Iterable[DocPath]) -> list[DocPath]:
        """A file came or went: look at the open documents whose files are gone or were renamed, whoever was to look at
        them when, and return those that are new here. One of them may have been moved to where another one seems to
        be."""
        new: list[DocPath] = []
        others = {*at_work} - found.keys()
        renamed = self.renames.renamed(others)
        for path in others:
            change = self._compare(path) if path in renamed or self._is_gone(path) else None
            if change is not None and change.is_news:
                found[path] = change
                new.append(path)
        return new

    def _is_known(self, path: DocPath) -> bool:
        """Whether there was a document at this path, as far as anybody noticed."""
        engine = self._engine
        known = engine.seen.find_known_content(path)
        cached = engine.documents.find_cached_file(path) is not None
        return cached if known is None else known.snapshot is not None

    def _is_gone(self, path: DocPath) -> bool:
        try:
            return not self._engine.root.exists(path)
        except RedraftError:
            return False  # a link by now

    def _return_from_backups(self, found: dict[DocPath, OutsideChange]) -> None:
        """Many editors save a document by giving the old file another name, writing a new one in its place, and then,
        perhaps, deleting the old one. What is open is the new one."""
        for change in [*found.values()]:
            if change.before is None and change.after is not None and change.came_from is None:
                place = self._recent_move(change.path, away=True)
                backup = None if place is None or place in found else self._compare(place)
                if backup is not None and backup.data and is_successor(backup.data, change.after.data):
                    found[backup.path] = replace(backup, went_to=change.path, left_as=change.after)
            elif change.before is not None and change.after is None and change.went_to is None:
                place = self._recent_move(change.path, away=False)
                new = None if place is None else found.get(place) or self._compare(place)
                if new is not None and new.after is not None and new.came_from is None:
                    found[change.path] = replace(change, went_to=new.path, left_as=new.after)

    def _recent_move(self, path: DocPath, *, away: bool) -> DocPath | None:
        """Where another program moved the document to (`away`) that was here a moment ago, or where it moved the one
        from that is here."""
        engine = self._engine
        for turn in engine.turns.recent(limit=RECENT_TURNS, path=path):
            if not 0 <= engine.clock() - turn.created < SAME_SECONDS:
                return None
            for step in turn.files if turn.kind == "outside" and turn.state is State.APPLIED else ():
                if step.moved_from is not None and path == (step.moved_from if away else step.path):
                    return DocPath(step.path if away else step.moved_from)
        return None

    def _follow_rewrites(
        self,
        found: dict[DocPath, OutsideChange],
        appeared: Collection[str] | None,
        files: dict[str, FileMark],
        heard: Container[DocPath],
    ) -> None:
        """A program may replace a file by a new one that says nearly the same, and rename that. Where one document with
        a draft is gone and one file came that is alike, it is taken for that; where there are several, for none."""
        lost = [change for change in found.values() if change.stored is not None and change.went_to is None]
        lost = [change for change in lost if change.before and change.after is None and change.path not in heard]
        if not lost:
            return
        names = set(appeared or ()) or self._recent_files(files)
        arrived = [self._find_arrival(name) for name in sorted(names)] if len(names) <= MOST_ARRIVALS else []
        taken = {change.went_to for change in found.values()}
        new = [change for change in found.values() if change.before is None and change.path not in taken]
        new += [change for change in arrived if change is not None and change.path not in found]
        pairs = [
            (gone, target)
            for gone in lost
            for target in new
            if gone.before is not None and target.data and is_successor(gone.before.data, target.data)
            if self._came_after(target, gone)
        ]
        for gone, target in pairs:
            if sum(gone in pair or target in pair for pair in pairs) == 1:
                _join_move(found, gone, target)

    def _came_after(self, target: OutsideChange, gone: OutsideChange) -> bool:
        """Whether a file was made after the document was written that is gone; else it is another one."""
        stamp = self._last_stamp(gone.path)
        return stamp is None or self._engine.root.is_newer(target.path, stamp)

    def _recent_files(self, files: dict[str, FileMark]) -> set[str]:
        """The files that were made, changed or moved just now."""
        since = time.time_ns() - int(SAME_SECONDS * 1e9)
        return {path for path, mark in self._walk(files).items() if mark.ctime_ns >= since}

    def _follow_renames(self, found: dict[DocPath, OutsideChange]) -> list[OutsideChange]:
        """Where a document was given a secret's name, that is a move too, of what it said last: of the secret itself
        nothing is recorded. Its place may be another document's by now. Those that are given for later got a name that
        another one got."""
        root = self._engine.root
        gone = {
            change.path: MissingFile(self._last_stamp(change.path), frozenset((change.before.data,)))
            for change in found.values()
            if change.before is not None and change.after is None and change.went_to is None
        }
        renamed = find_renamed_files(root, gone) if gone else {}
        for change in found.values():
            stamp = self._last_stamp(change.path)
            if change.image is not None and stamp is not None and change.image.stamp.ino != stamp.ino:
                near = {split_path(change.path)[0], ""}
                renamed |= find_renamed_files(root, {change.path: MissingFile(stamp, frozenset())}, near)
        for change in found.values():
            if change.path not in renamed and change.went_to is None and self._is_another_file(change):
                turn = self._engine.turns.last_on([change.path])  # before which another document lay there
                place = self.renames.secret_name(change.path, 0.0 if turn is None else turn.created)
                renamed |= {} if place is None else {change.path: place}
        later: list[OutsideChange] = []
        for path, place in renamed.items():
            change = found[DocPath(path)]
            if place in found:
                later.append(found.pop(change.path))
                continue
            found[place] = OutsideChange(place, None, change.before, None, proven=False, came_from=change.path)
            found[change.path] = replace(change, went_to=place)
        return later

    def _is_another_file(self, change: OutsideChange) -> bool:
        """Whether the file that was known is not at its place any more."""
        stamp = self._last_stamp(change.path)
        if change.before is None:
            return False
        return change.image is None or (stamp is not None and change.image.stamp.ino != stamp.ino)

    def _find_renamed(
        self, change: OutsideChange, found: dict[DocPath, OutsideChange], heard: set[DocPath]
    ) -> OutsideChange | None:
        """What became of the place to which the kernel said that the document went, if it says nearly the same there;
        None if it is still, or again, at its own. If it was deleted there, and its own place is another document's by
        now, that is where its typing stands."""
        engine = self._engine
        turn = engine.turns.last_on([change.path])  # before which another document lay there
        since = max(engine.clock() - SAME_SECONDS, 0.0 if turn is None else turn.created)
        places = self.renames.places(change.path, since)
        if not places or is_secret_name(places[-1]):
            return None
        for place in places:
            target = found.get(place) or self._find_there(place)
            after = None if target is None else target.after
            if target is None or after is None or change.before is None:
                continue
            if is_successor(change.before.data, after.data):
                heard.add(change.path)
                return None if place == change.path or target.came_from is not None else target
        if self._is_gone(places[-1]):
            heard.add(change.path)
            if change.after is not None and places[-1] != change.path:
                nothing = OutsideChange(places[-1], None, None, None, proven=False)
                return found.get(places[-1]) or self._compare(places[-1]) or nothing
        return None

    def _find_target(
        self,
        gone: OutsideChange,
        found: dict[DocPath, OutsideChange],
        appeared: Collection[str] | None,
        files: dict[str, FileMark],
    ) -> OutsideChange | None:
        data = gone.before.data if gone.before else b""
        taken = {change.went_to for change in found.values()}
        places = [
            change
            for change in found.values()
            if change.after is not None and change.after.data == data and change.path not in taken
        ]
        if not places and appeared is not None:
            arrived = (self._find_arrival(name) for name in appeared if name not in found)
            places = [change for change in arrived if change is not None and change.data == data]
        if not places:
            arrived = (self._find_there(DocPath(name)) for name in self._same_file(gone, files) if name not in found)
            places = [change for change in arrived if change is not None and change.before is None]
            places = [change for change in places if is_successor(data, change.data or b"")]
        if len(places) > 1 and (stamp := self._last_stamp(gone.path)) is not None:
            places = [change for change in places if self._engine.root.is_that_file(change.path, stamp)]
        return places[0] if len(places) == 1 else None

    def _same_file(self, gone: OutsideChange, files: dict[str, FileMark]) -> list[str]:
        """Where the very file lies by now that was seen at the old place."""
        stamp, root = self._last_stamp(gone.path), self._engine.root
        if stamp is None:
            return []
        paths = [path for path, mark in self._walk(files).items() if mark.ino == stamp.ino]
        return [path for path in paths if root.is_that_file(DocPath(path), stamp)]

    def _walk(self, files: dict[str, FileMark]) -> dict[str, FileMark]:
        """All files of the folder. `files` is filled when it is first needed: it takes a walk through the folder."""
        if not files:
            for folder in folders(self._engine.root):
                for name, mark in zip(folder.names, folder.marks, strict=True):
                    files[f"{folder.path}/{name}" if folder.path else name] = mark
        return files

    def _find_there(self, place: DocPath) -> OutsideChange | None:
        """What is at a place to which a document came. Somebody may have read it there already, before anybody knew
        what it was."""
        target = self._find_arrival(place) or self._compare(place)
        if target is not None and not target.is_news and self._engine.seen.find_known_content(place) is None:
            return replace(target, before=None)
        return target

    def _find_arrival(self, name: str) -> OutsideChange | None:
        """A file that nobody knew, or that came to a place where none was left."""
        engine = self._engine
        if not can_be_listed(name) or is_secret_name(name):
            return None
        try:
            path = engine.documents.path(name)
            known = engine.seen.find_known_content(path)
            if (
                (known is not None and known.snapshot is not None)
                or engine.documents.find_cached_file(path)
                or engine.reviews.knows(path)
            ):
                return None
            now = time.time_ns()
            image = engine.root.read(path)
        except RedraftError:
            return None
        if is_secret_content(image.data):
            return None
        return OutsideChange(path, None, Content.of(image.data), image, proves_content(image.stamp, now))


def _join_move(found: dict[DocPath, OutsideChange], gone: OutsideChange, target: OutsideChange) -> None:
    """Tell both sides of a move of each other."""
    found[target.path] = replace(target, came_from=gone.path)
    found[gone.path] = replace(gone, went_to=target.path, left_as=target.after)
