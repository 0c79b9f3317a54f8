"""The rooms of a folder without a network: what one of them cannot do is no harm to anybody else."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from pycrdt import Doc, Text

from redraft.errors import Busy, Stale
from redraft.history.turns import Author
from redraft.server.live import room as room_module
from redraft.server.live import rooms as module
from redraft.server.live import wire
from redraft.server.live.room_sync import ATTEMPTS, Mirror
from redraft.server.live.rooms import Rooms
from redraft.workspace.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest

    from redraft.server.live.room import Room

NAMES = ("a.md", "b.md", "c.md")


class Typist:
    """A client that nobody is behind."""

    name = "anna"
    may_write = synced = True

    def send(self, data: bytes) -> None: ...

    def close(self, code: int, reason: str) -> None: ...


def typed(room: Room, words: str) -> None:
    doc: Doc[Any] = Doc()
    text: Text = doc.get("text", type=Text)
    text.insert(0, words)
    room.receive(Typist(), wire.update_message(doc.get_update()))


def test_nobody_waits_without_end_for_typing_that_a_locked_folder_does_not_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 0.05)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("", encoding="utf-8")

    async def told(workspace: Workspace) -> None:
        locked = False

        async def work(act: Callable[[Workspace], Any]) -> Any:
            if locked:
                raise Busy("Another process has held this folder.")
            return act(workspace)

        rooms = Rooms(workspace, work)
        await (room := await rooms.room("a.md")).rest()
        locked = True
        typed(room, "Typed.")
        await asyncio.wait_for(rooms.flush(), 10)
        assert room.waiting
        locked = False
        monkeypatch.setattr(module, "PATIENCE_SECONDS", 10)
        await rooms.flush()
        assert str(workspace.read("a.md").text) == "Typed."

    with Workspace.open(tmp_path / "notes", state_home=str(tmp_path / "state")) as workspace:
        asyncio.run(told(workspace))


def test_a_room_stays_open_while_another_program_writes_its_file_again_and_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(room_module, "RETRY_SECONDS", 0.0)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("", encoding="utf-8")
    times = 3 * ATTEMPTS

    async def told(workspace: Workspace) -> None:
        async def work(act: Callable[[Workspace], Any]) -> Any:
            return act(workspace)

        rooms = Rooms(workspace, work)
        await (room := await rooms.room("a.md")).rest()
        push = Mirror.push

        def disturbed(*given: Any) -> None:
            nonlocal times
            times -= 1
            if times >= 0:
                raise Stale("It was written just now.")
            push(*given)

        monkeypatch.setattr(Mirror, "push", disturbed)
        typed(room, "Typed.")
        await asyncio.wait_for(room.flush(), 10)
        assert not room.closed
        assert not room.waiting
        assert str(workspace.read("a.md").text) == "Typed."

    with Workspace.open(tmp_path / "notes", state_home=str(tmp_path / "state")) as workspace:
        asyncio.run(told(workspace))


def test_a_room_that_cannot_be_closed_takes_no_other_with_it(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    folder = tmp_path / "notes"
    folder.mkdir()
    for name in NAMES:
        (folder / name).write_text("", encoding="utf-8")

    async def told(workspace: Workspace) -> Rooms:
        async def work(act: Callable[[Workspace], Any]) -> Any:
            return act(workspace)

        rooms = Rooms(workspace, work)
        opened = [await rooms.room(name) for name in NAMES]
        for room in opened:
            await room.rest()
        for room in opened:  # and the loop ends before any of it is handed on
            typed(room, f"Typed into {room.path}.")
        return rooms

    with Workspace.open(folder, state_home=str(tmp_path / "state")) as workspace:
        rooms = asyncio.run(told(workspace))
        (folder / "a.md").unlink()
        rooms.close()
        assert [str(workspace.read(name).text) for name in NAMES[1:]] == ["Typed into b.md.", "Typed into c.md."]
    assert "a.md could not be closed" in caplog.text


def test_the_epoch_of_a_document_that_was_moved_goes_on_for_whoever_asks_first(tmp_path: Path):
    """Another process has moved it, and nobody has told the rooms."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("Here.\n", encoding="utf-8")

    async def told(workspace: Workspace) -> None:
        async def work(act: Callable[[Workspace], Any]) -> Any:
            return act(workspace)

        workspace.open_tab("a.md")
        rooms = Rooms(workspace, work)
        await (room := await rooms.room("a.md")).rest()
        with (
            Workspace.open(tmp_path / "notes", state_home=str(tmp_path / "state")) as other,
            other.turn(Author("person", "you"), "Move it") as turn,
        ):
            turn.move("a.md", "b.md", other.read("a.md").version)
        assert (await rooms.room("b.md")).epoch == room.epoch
        assert room.closed

    with Workspace.open(tmp_path / "notes", state_home=str(tmp_path / "state")) as workspace:
        asyncio.run(told(workspace))
