"""Keep a room and the workspace the same: open a room, exchange batches with it, and store them.

All of it runs in a thread that holds the workspace's guard. A batch is stored together with the typing that it becomes,
so a program that is killed at any moment knows when it starts again what is still to be typed. A mirror that failed is
not used again: the next exchange begins from what is stored, with everything that could not be typed then.
"""

from __future__ import annotations

import contextlib
import logging
import secrets
import time
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from pycrdt import Doc, Map, Text

from redraft.errors import Busy, Damaged, RedraftError, Refused, Stale
from redraft.server.live.admission import RoomClock
from redraft.server.live.byte_offsets import InvalidOffset, byte_length, change_of, growth_of, places_of
from redraft.server.live.room_store import DISK, EPOCH_SECONDS, SERVER
from redraft.text import text as texts
from redraft.text.diff.word_diff import word_edits
from redraft.text.edits import Change, Edit
from redraft.text.merge.three_way import merge

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Sequence

    from redraft.server.live.room_store import RoomStore
    from redraft.workspace.document import Document, Draft
    from redraft.workspace.workspace import Workspace


# The workspace's own replica of a room: where what people type becomes typing, and what happens elsewhere an edit.
#
# It always stands where the workspace stands. `pull` brings in what the workspace has become since, as the smallest
# edits by words; `push` takes in what came from the room, whose event is exactly what was typed, and that goes through
# the one door, as any typing does. So whoever was first, nobody's characters are lost and none come twice: the replica
# merges the two as it merges any two people. What was pushed in vain, because the workspace had changed, cannot be
# taken back: then this mirror is of no use any more. Nothing is ever rebuilt from text while a client holds a state.
# Used by one thread at a time, which holds the guard of the workspace.


TEXT, ABOUT = "text", "about"
PERSON = "person"
# An edit cuts the piece of text in two that it lands in, and copies it: of one piece of 1 MB, 2,000 edits copy 2 GB.
PIECE = 4096
# An edit is looked for from the first piece on. Where there are more than this many at once, near ones become one.
MAX_EDITS = 4000


@dataclass(slots=True)
class _ReplicaEvents:
    """What the replica told during one transaction."""

    deltas: list[list[dict[str, Any]]] = field(default_factory=list[list[dict[str, Any]]])
    updates: list[bytes] = field(default_factory=list[bytes])


@contextlib.contextmanager
def catch_panics(path: str) -> Generator[None]:
    """The library panics where a replica makes no sense any more, which is no `Exception`, and leaves it unusable."""
    try:
        yield
    except BaseException as error:
        if type(error).__name__ == "PanicException":
            raise Damaged(f"The live text of {path} is not consistent: {error}.") from error
        raise


class Mirror:
    """A replica that stands where the workspace stood last, of one epoch of one document."""

    def __init__(self, path: str, epoch: str, state: Sequence[bytes] = ()) -> None:
        self.path = path
        self.epoch = epoch
        # A client number of its own each time: after a power cut others may hold what this one wrote and forgot.
        self._doc: Doc[Any] = Doc(client_id=secrets.randbits(32), allow_multithreading=True)
        self._text: Text = self._doc.get(TEXT, type=Text)
        self._about: Map[Any] = self._doc.get(ABOUT, type=Map)
        with catch_panics(path), self._doc.transaction():
            for update in state:
                self._doc.apply_update(update)
        self.known: texts.Text = texts.Text(str(self._text))
        self._size = len(self._text)
        self.version = ""

    @staticmethod
    def begin(document: Document) -> Mirror:
        """A new epoch, from a document as it is."""
        mirror = Mirror(document.path, secrets.token_hex(8))
        text = str(document.text)
        with mirror._doc.transaction(origin="epoch"):
            # From the last to the first: pieces that were put in one behind the other are joined to one.
            for start in reversed(range(0, len(text), PIECE)):
                mirror._text.insert(0, text[start : start + PIECE])
        mirror._stand(document)
        return mirror

    @contextlib.contextmanager
    def _listen(self) -> Generator[_ReplicaEvents]:
        """What the replica tells meanwhile. Who listens for longer keeps it in memory for good: it holds its listeners,
        and they hold it, where the collector of garbage does not see."""
        heard = _ReplicaEvents()
        text = self._text.observe(lambda event: heard.deltas.append(event.delta))
        doc = self._doc.observe(lambda event: heard.updates.append(event.update))
        try:
            yield heard
        finally:
            self._text.unobserve(text)
            self._doc.unobserve(doc)

    @property
    def client(self) -> int:
        return self._doc.client_id

    def state(self) -> bytes:
        """All there is, for another replica."""
        return self._doc.get_update()

    def pull(self, workspace: Workspace, origin: str) -> list[bytes]:
        """Follow the workspace; returns the updates with which it did."""
        document = read_for_room(workspace, self.path)
        if document.version == self.version:
            return []
        edits = join_nearest(smallest_edits(str(self.known), str(document.text)), str(self.known))
        with self._listen() as heard, catch_panics(self.path), self._doc.transaction(origin=origin):
            for start, end, text in reversed(places_of(self.known, edits)):
                if end > start:
                    del self._text[start:end]
                if text:
                    self._text.insert(start, text)
        self._stand(document)
        self._check()
        return heard.updates

    def push(self, workspace: Workspace, updates: Sequence[bytes], also: Callable[[], None]) -> None:
        """Let the workspace follow what came from the room, and keep with it what `also` keeps; `Stale` where it has to
        be pulled first."""
        with self._listen() as heard, catch_panics(self.path), self._doc.transaction(origin=PERSON):
            for update in updates:
                self._doc.apply_update(update)
        change = change_of(self.known, heard.deltas[0]) if heard.deltas else Change()

        def note_typed(document: Document) -> None:
            if document.text != change.apply_to(self.known):  # the file was written just now, and is merged in already
                raise Stale(f"{self.path} was changed in the meantime.", path=self.path)
            self._stand(document, self._size + growth_of(change))
            self._check()
            also()

        if change.is_empty:
            also()
        else:
            workspace.type(self.path, change, version=self.version, also=note_typed)

    def _stand(self, document: Document, size: int | None = None) -> None:
        """This is where the workspace stands, with so many bytes."""
        self.known, self.version = document.text, document.version
        self._size = byte_length(document.text) if size is None else size

    def _check(self) -> None:
        """The replica and the workspace say the same; a difference in length is seen at once, wherever it came from."""
        if len(self._text) != self._size:
            raise Damaged(f"The live text of {self.path} is not consistent.")

    def tell(self, workspace: Workspace) -> list[bytes]:
        """Bring `about` up to date, which is the server's alone: what a client wrote there is written over."""
        draft = workspace.draft_unmasked(self.path)
        wanted: dict[str, Any] = {
            "epoch": self.epoch,
            "version": self.version,
            "saved": draft is None or not draft.dirty,
            "pending": float(0 if draft is None else count_open_decisions(draft)),
        }
        told = self._about.to_py() or {}
        with self._listen() as heard, self._doc.transaction(origin=ABOUT):
            for key in told.keys() - wanted.keys():
                del self._about[key]
            for key, value in wanted.items():
                if told.get(key) != value:
                    self._about[key] = value
        return heard.updates


def read_for_room(workspace: Workspace, path: str) -> Document:
    """The document of a room, a secret too: who may come in is judged at the door."""
    document = workspace.read_unmasked(path)
    if document is None:
        raise Refused(f"There is no document {path}.", code="not_found", path=path)
    return document


def smallest_edits(old: str, new: str) -> list[Edit]:
    """The edits by words, each without what its ends leave as it is: what stays is what others' undoing and deleting
    speak of, and a word may be several people's."""
    if old == new:
        return []
    return [
        edit.shift(words.at)
        for words in word_edits(old, new, tidy=False)
        for edit in Change.between(words.old, words.new).edits
    ]


def join_nearest(edits: list[Edit], text: str) -> list[Edit]:
    """The edits of a text; of more than `MAX_EDITS` those with the shortest text between them as one."""
    if len(edits) <= MAX_EDITS:
        return edits
    gaps = [behind.at - before.end for before, behind in pairwise(edits)]
    apart = {1 + index for index in sorted(range(len(gaps)), key=lambda index: -gaps[index])[: MAX_EDITS - 1]}
    groups: list[list[Edit]] = []
    for index, edit in enumerate(edits):
        if index == 0 or index in apart:
            groups.append([])
        groups[-1].append(edit)
    joined: list[Edit] = []
    for group in groups:
        start, end = group[0].at, group[-1].end
        old = text[start:end]
        joined.append(Edit(start, old, Change(tuple(edit.shift(-start) for edit in group)).apply(old)))
    return joined


def count_open_decisions(draft: Draft) -> int:
    """How many decisions are open, about agents' work and about conflicts; a document that is created is one."""
    if draft.kind == "created":
        return 1
    hunks = sum(part.is_hunk and (part.conflict or part.author in ("agent", "mixed")) for part in draft.review.parts)
    return hunks + (draft.kind != "modified")


def whole_text(updates: Sequence[bytes]) -> str:
    """The text that some updates come to, those left out that cannot be read."""
    doc: Doc[Any] = Doc()
    text: Text = doc.get(TEXT, type=Text)
    for update in updates:
        with contextlib.suppress(ValueError, Damaged), catch_panics(""):
            doc.apply_update(update)
    return str(text)


def reopen_mirror(kept: RoomStore, path: str) -> tuple[Mirror, list[bytes]] | None:
    """The mirror of a room that was kept, where the workspace stood then, and what has come in since."""
    room = kept.room(path)
    if room is None:
        return None
    updates = kept.updates(path)
    mirror = Mirror(path, room.epoch, [data for seq, data in updates if seq <= room.synced])
    return mirror, [data for seq, data in updates if seq > room.synced]


LOG = logging.getLogger(__name__)
# A replica remembers all that ever was in its text. Beyond this it begins anew, and its clients with it.
MAX_STATE = 64 * 1024 * 1024
FOLD_AFTER = 1000
# A program may write the file again and again, each time between our look at it and our typing.
ATTEMPTS = 8


class ExchangeDelayed(Busy):
    """The workspace could not be written just now. What came in is kept, and is typed by the next exchange."""


class ExchangeResult(NamedTuple):
    """What an exchange gave: the server's own updates, for everybody, and where the document stands."""

    made: list[bytes]
    version: str
    length: int


class OpenedRoom(NamedTuple):
    """A room as its replica on the event loop begins."""

    epoch: str
    state: bytes
    ledger: RoomClock
    version: str
    length: int


class RoomSync:
    """The way between one room and the workspace. Used by one thread at a time."""

    def __init__(self, kept: RoomStore, path: str) -> None:
        self._kept = kept
        self._path = path
        self._mirror: Mirror | None = None
        self._since_fold = 0
        self._tab = ""

    def has_moved_to(self, path: str, tabs: Collection[str]) -> bool:
        """Whether its document is there now: its tab is one of these, which show what is at the path."""
        return path != self._path and self._tab in tabs

    def open(self, workspace: Workspace, now: float) -> OpenedRoom:
        """Take up the room where it was kept, or begin an epoch."""
        read_for_room(workspace, self._path)
        self._tab = next((tab.tab_id for tab in workspace.tabs() if tab.path == self._path), "")
        kept = self._kept.room(self._path)
        try:
            done = None if kept is None else self.exchange(workspace, (), DISK)
        except (Damaged, InvalidOffset, ValueError) as error:
            LOG.error("the live state of %s is unusable: %s", self._path, error)
            self._rescue(workspace)
            done = None
        mirror = self._mirror
        if mirror is None or done is None or kept is None or self._is_worn(mirror, now - kept.used):
            mirror, done = self._begin_epoch(workspace, now)
        self._kept.use(self._path, now)
        state = mirror.state()
        return OpenedRoom(mirror.epoch, state, RoomClock(state), done.version, done.length)

    @staticmethod
    def _is_worn(mirror: Mirror, unused: float) -> bool:
        """Whether it is time for a new epoch: nobody was there for long, or too much is remembered."""
        return unused > EPOCH_SECONDS or len(mirror.state()) > MAX_STATE // 2 + byte_length(mirror.known)

    def _begin_epoch(self, workspace: Workspace, now: float) -> tuple[Mirror, ExchangeResult]:
        """A new epoch, from the text as it is."""
        mirror = Mirror.begin(read_for_room(workspace, self._path))
        made = mirror.tell(workspace)
        self._kept.begin(self._path, mirror.epoch, mirror.state(), now)
        self._mirror = mirror
        self._since_fold = 0
        return mirror, ExchangeResult(made, mirror.version, len(mirror.known))

    def exchange(self, workspace: Workspace, batch: Sequence[tuple[str, bytes]], origin: str = "") -> ExchangeResult:
        """Bring the room and the workspace together. `origin` says what has happened to the document elsewhere; without
        one, most likely nothing has, and typing goes straight to the workspace. `Busy` where not even that could be
        kept."""
        try:
            for _ in range(ATTEMPTS):
                with contextlib.suppress(Stale):
                    return self._together(workspace, batch, origin)
                origin = DISK
            return self._together(workspace, batch, origin)
        except (Busy, Stale) as error:
            self._kept.add(self._path, batch)
            raise ExchangeDelayed(f"{self._path} is being written; try again in a moment.") from error
        except Exception as error:
            self._kept.add(self._path, batch)
            if isinstance(error, RedraftError) and error.code == "not_found":
                self._follow(workspace)
            raise

    def _together(self, workspace: Workspace, batch: Sequence[tuple[str, bytes]], origin: str) -> ExchangeResult:
        mirror, self._mirror = self._mirror, None  # until all has gone well
        updates = [data for _, data in batch]
        if mirror is None:
            mirror, left = self._reopen_mirror()
            updates = left + updates
            origin = origin or DISK
        made = mirror.pull(workspace, origin) if origin else []

        def keep() -> None:
            made.extend(mirror.tell(workspace))
            if made or updates:
                self._kept.follow(self._path, [*batch, *((SERVER, data) for data in made)], time.time())

        if updates:
            mirror.push(workspace, updates, keep)
        else:
            keep()
        self._mirror = mirror
        self._since_fold += len(batch) + len(made)
        if self._since_fold > FOLD_AFTER:
            with contextlib.suppress(Busy):  # the next time will do: all is kept
                self.fold()
        return ExchangeResult(made, mirror.version, len(mirror.known))

    def _reopen_mirror(self) -> tuple[Mirror, list[bytes]]:
        found = reopen_mirror(self._kept, self._path)
        if found is None:
            raise Damaged(f"The live state of {self._path} is gone.")
        return found

    def _follow(self, workspace: Workspace) -> None:
        """The document is not here any more. Where its tab has gone, the room is taken up again, with its epoch."""
        there = next((tab.path for tab in workspace.tabs() if tab.tab_id == self._tab), self._path)
        if there != self._path:
            self._kept.move(self._path, there)

    def fold(self) -> None:
        """Keep the state as one piece: nobody is there just now."""
        if self._mirror is not None and self._since_fold:
            self._kept.fold(self._path, self._mirror.state())
            self._since_fold = 0

    def _rescue(self, workspace: Workspace) -> None:
        """Type what can still be read of a state that cannot be used."""
        kept = self._kept.room(self._path)
        updates = self._kept.updates(self._path)
        before = whole_text([data for seq, data in updates if kept is not None and seq <= kept.synced])
        after = whole_text([data for _, data in updates])
        document = read_for_room(workspace, self._path)
        now = str(document.text)
        change = Change.between(now, merge(before, after, now).text)
        try:
            workspace.type(self._path, change, version=document.version)
        except RedraftError as error:
            LOG.error("could not store what was typed into %s: %s", self._path, error.message)
