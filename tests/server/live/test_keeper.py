"""A room and the workspace, without a network: whatever fails and whenever, what was typed is typed once."""

from __future__ import annotations

import errno
import gc
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pycrdt import Doc, Map, Text

from redraft.errors import Busy, RedraftError, Refused
from redraft.history.turns import Author
from redraft.server.live import room_sync as module
from redraft.server.live.room_store import EPOCH_SECONDS, RoomStore
from redraft.server.live.room_sync import ExchangeDelayed, Mirror, RoomSync
from redraft.text.edits import Change, Edit
from redraft.workspace.documents import Documents
from redraft.workspace.workspace import Workspace
from tests.tools.calling import STORY

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from redraft.server.live.room_sync import ExchangeResult, OpenedRoom

PATH = "story.md"
NOW = 1_000_000_000.0


class Replica:
    """Somebody who types, as a room has them."""

    def __init__(self, opened: OpenedRoom) -> None:
        self.doc: Doc[Any] = Doc()
        self.text: Text = self.doc.get("text", type=Text)
        self.about: Map[Any] = self.doc.get("about", type=Map)
        self.doc.apply_update(opened.state)

    def type(self, at: int, new: str) -> list[tuple[str, bytes]]:
        before = self.doc.get_state()
        self.text.insert(at, new)
        return [("anna", self.doc.get_update(before))]

    def take(self, done: ExchangeResult) -> None:
        for update in done.made:
            self.doc.apply_update(update)


@pytest.fixture
def workspace(tmp_path: Path) -> Generator[Workspace]:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / PATH).write_text(STORY, encoding="utf-8")
    with Workspace.open(folder, state_home=str(tmp_path / "state")) as found:
        yield found


@pytest.fixture
def keeper(workspace: Workspace) -> RoomSync:
    return RoomSync(RoomStore(workspace.database), PATH)


def again(workspace: Workspace) -> RoomSync:
    """As a program that starts anew finds it."""
    return RoomSync(RoomStore(workspace.database), PATH)


def call_before(workspace: Workspace, statement: str, act: Callable[[], None]) -> None:
    """Let SQLite call a function before each statement of a kind, in the midst of its transaction."""
    connection = workspace.database._connection  # pyright: ignore[reportPrivateUsage]
    connection.create_function("happen", 0, act)
    connection.execute(f"CREATE TEMP TRIGGER happens BEFORE {statement} BEGIN SELECT happen(); END")


def now(workspace: Workspace) -> str:
    return str(workspace.read(PATH).text)


def test_an_epoch_goes_on_until_nobody_was_there_for_long(workspace: Workspace, keeper: RoomSync):
    first = keeper.open(workspace, NOW)
    soon = again(workspace).open(workspace, NOW + EPOCH_SECONDS - 1)
    assert soon.epoch == first.epoch
    late = again(workspace).open(workspace, NOW + 2 * EPOCH_SECONDS)
    assert late.epoch != first.epoch
    assert Replica(late).about.to_py() == {
        "epoch": late.epoch,
        "version": workspace.read(PATH).version,
        "saved": True,
        "pending": 0,
    }


def test_a_room_that_remembers_too_much_begins_anew(
    workspace: Workspace, keeper: RoomSync, monkeypatch: pytest.MonkeyPatch
):
    first = keeper.open(workspace, NOW)
    monkeypatch.setattr(module, "MAX_STATE", 0)
    assert again(workspace).open(workspace, NOW).epoch != first.epoch


def test_a_replica_that_is_not_used_any_more_is_let_go_of(workspace: Workspace, keeper: RoomSync):
    """After typing and after edits from elsewhere; the library holds on to what anybody still listens to."""
    anna = Replica(keeper.open(workspace, NOW))
    mirror = Mirror.begin(workspace.read(PATH))
    anna.take(keeper.exchange(workspace, anna.type(0, "Typed. ")))
    mirror.pull(workspace, "typing")
    mirror.push(workspace, [], lambda: None)
    left = weakref.ref(mirror)
    del mirror
    gc.collect()
    assert left() is None


@pytest.mark.parametrize("times", [1, 3])
def test_a_file_that_is_written_while_typing_is_taken_in_is_seen_by_all(
    workspace: Workspace, keeper: RoomSync, times: int
):
    """The workspace merges it in with the typing, at once: the room must not take that for what was typed."""
    anna = Replica(keeper.open(workspace, NOW))
    written: list[str] = []

    def write() -> None:
        if len(written) < times:
            written.append(f"Written {len(written)}, é.\n\n")
            (Path(workspace.folder) / PATH).write_text("".join(written) + STORY, encoding="utf-8")

    call_before(workspace, "INSERT ON typing", write)
    for letter in "Typed. ":
        anna.take(keeper.exchange(workspace, anna.type(len(anna.text), letter)))
    assert now(workspace) == str(anna.text) == "".join(written) + STORY + "Typed. "


def test_typing_and_its_mark_are_kept_together_or_not_at_all(workspace: Workspace, keeper: RoomSync):
    """The disk fails after the typing, before it is marked: neither is there."""
    anna = Replica(keeper.open(workspace, NOW))
    batch = anna.type(0, "Once. ")

    def fail() -> None:
        raise OSError(errno.EIO, "the disk fails")

    call_before(workspace, "UPDATE ON live_rooms", fail)
    with pytest.raises(RedraftError):
        keeper.exchange(workspace, batch)
    workspace.database.execute("DROP TRIGGER happens")
    assert now(workspace) == STORY
    taken_up = again(workspace)
    taken_up.open(workspace, NOW)
    for _ in range(2):  # the client tells it again, perhaps more than once
        taken_up.exchange(workspace, batch)
    assert now(workspace) == "Once. " + STORY
    assert again(workspace).open(workspace, NOW).length == len("Once. " + STORY)


def test_what_cannot_be_typed_waits_until_it_can(workspace: Workspace, keeper: RoomSync):
    """Another person deletes the document while somebody is typing, and takes that back."""
    anna = Replica(keeper.open(workspace, NOW))
    turn = workspace.turn(Author("person", "bert"), "Away with it")
    turn.delete(PATH, workspace.read(PATH).version)
    turn.commit()
    with pytest.raises(Refused):
        keeper.exchange(workspace, anna.type(0, "Not lost. "))
    with pytest.raises(Refused):
        again(workspace).open(workspace, NOW)
    workspace.undo()
    again(workspace).open(workspace, NOW)
    assert now(workspace) == "Not lost. " + STORY
    again(workspace).open(workspace, NOW)
    assert now(workspace) == "Not lost. " + STORY


def test_nothing_is_lost_where_somebody_else_is_writing_just_then(
    workspace: Workspace, keeper: RoomSync, monkeypatch: pytest.MonkeyPatch
):
    anna = Replica(keeper.open(workspace, NOW))
    batch = anna.type(0, "Once. ")

    def busy(*_: Any) -> Any:
        raise Busy("Somebody writes.")

    monkeypatch.setattr(Documents, "load_stored_draft", busy)
    with pytest.raises(ExchangeDelayed):
        keeper.exchange(workspace, batch)
    with pytest.raises(ExchangeDelayed):
        keeper.exchange(workspace, ())
    monkeypatch.undo()
    assert len(RoomStore(workspace.database).updates(PATH)) == 2  # the epoch's beginning, and the batch
    keeper.exchange(workspace, ())
    assert now(workspace) == "Once. " + STORY


def test_typing_that_comes_late_is_merged_with_what_happened_meanwhile(workspace: Workspace, keeper: RoomSync):
    """Nobody has told the room of the change: it is found when the batch is typed."""
    anna = Replica(keeper.open(workspace, NOW))
    batch = anna.type(STORY.index("dark"), "very ")
    workspace.type(PATH, Change((Edit(0, "", "Meanwhile. "),)))
    anna.take(keeper.exchange(workspace, batch))
    assert now(workspace) == str(anna.text) == "Meanwhile. " + STORY.replace("dark", "very dark")


def test_a_change_from_elsewhere_takes_out_only_what_it_must(workspace: Workspace, keeper: RoomSync):
    """What stays, stays the same for every replica, so that undoing and cursors go on."""
    anna = Replica(keeper.open(workspace, NOW))
    sticky = anna.text.sticky_index(STORY.index("eleven"))
    change = STORY.replace("The lighthouse", "Das Leuchtfeuer").replace("twice", "thrice")
    workspace.type(PATH, Change.between(STORY, change))
    anna.take(keeper.exchange(workspace, (), "agent"))
    assert str(anna.text) == change
    assert sticky.get_index() == change.encode().index(b"eleven")


def test_a_state_that_cannot_be_used_is_typed_as_far_as_it_can_be_read(workspace: Workspace, keeper: RoomSync):
    opened = keeper.open(workspace, NOW)
    kept = RoomStore(workspace.database)
    kept.add(PATH, [("mallory", b"\xff\xff\xff")])
    kept.add(PATH, Replica(opened).type(0, "Rescued. "))
    fresh = again(workspace).open(workspace, NOW)
    assert fresh.epoch != opened.epoch
    assert str(Replica(fresh).text) == now(workspace) == "Rescued. " + STORY


def test_the_state_is_kept_as_one_piece_now_and_then(
    workspace: Workspace, keeper: RoomSync, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "FOLD_AFTER", 10)
    anna = Replica(keeper.open(workspace, NOW))
    kept = RoomStore(workspace.database)
    for number in range(40):
        anna.take(keeper.exchange(workspace, anna.type(0, f"{number} ")))
        assert len(kept.updates(PATH)) <= 14
    keeper.fold()
    assert len(kept.updates(PATH)) == 1
    bert = Replica(again(workspace).open(workspace, NOW))
    assert str(bert.text) == str(anna.text) == now(workspace)


def test_rooms_that_nobody_uses_are_let_go_of_unless_something_waits(workspace: Workspace, keeper: RoomSync):
    opened = keeper.open(workspace, NOW)
    kept = RoomStore(workspace.database)
    kept.use(PATH, NOW)
    kept.forget_old_rooms(NOW)
    assert kept.room(PATH) is not None
    kept.add(PATH, Replica(opened).type(0, "Waits. "))
    kept.forget_old_rooms(NOW + 1)
    assert kept.room(PATH) is not None
    again(workspace).open(workspace, NOW)
    assert now(workspace) == "Waits. " + STORY
    kept.use(PATH, NOW)
    kept.forget_old_rooms(NOW + 1)
    assert kept.room(PATH) is None
    assert kept.updates(PATH) == []
