"""The workspace's own replica of a room: where what people type becomes typing, and what happens elsewhere an edit.

It always stands where the workspace stands. `pull` brings in what the workspace has become since, as the smallest edits
by words; `push` takes in what came from the room, whose event is exactly what was typed, and that goes through the one
door, as any typing does. So whoever was first, nobody's characters are lost and none come twice: the replica merges the
two as it merges any two people. What was pushed in vain, because the workspace had changed, cannot be taken back: then
this mirror is of no use any more. Nothing is ever rebuilt from text while a client holds a state. Used by one thread at
a time, which holds the guard of the workspace.
"""

from __future__ import annotations

import contextlib
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pycrdt import Doc, Map, Text

from redraft.errors import Damaged, Refused, Stale
from redraft.server.live.byte_offsets import byte_length, change_of, growth_of, places_of
from redraft.text import text as texts
from redraft.text.diff.word_diff import word_edits
from redraft.text.edits import Change, Edit

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from redraft.server.live.room_store import RoomStore
    from redraft.workspace.document import Document
    from redraft.workspace.draft import Draft
    from redraft.workspace.workspace import Workspace

TEXT, ABOUT = "text", "about"
PERSON = "person"


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
        with mirror._doc.transaction(origin="epoch"):
            mirror._text.insert(0, str(document.text))
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
        edits = smallest_edits(str(self.known), str(document.text))
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
