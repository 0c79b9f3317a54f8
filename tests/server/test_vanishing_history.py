"""The history is deleted, replaced or emptied while the server runs: what was acknowledged is there after a restart,
and the person is told."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from random import randbytes
from typing import TYPE_CHECKING, Any

import pytest

from tests.server.live.people import Person
from tests.server.serving import Server, begun, ended
from tests.speaking.forking import run_program
from tests.speaking.lines import PATIENCE, environment
from tests.tools.calling import STORY

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.slow
PARTS = ("history.db", "history.db-wal", "history.db-shm")


def delete_all(state: Path) -> None:
    for name in PARTS:
        (state / name).unlink()


def delete_file(state: Path) -> None:
    (state / "history.db").unlink()


def delete_log(state: Path) -> None:
    (state / "history.db-wal").unlink()


def empty(state: Path) -> None:
    """As `: > history.db` does: the same file, without its pages."""
    (state / "history.db").write_bytes(b"")


def empty_log(state: Path) -> None:
    (state / "history.db-wal").write_bytes(b"")


def empty_index(state: Path) -> None:
    """What SQLite maps into memory: to touch a page of the map that the file does not have any more is fatal."""
    (state / "history.db-shm").write_bytes(b"")


def cut_index(state: Path) -> None:
    with (state / "history.db-shm").open("r+b") as file:
        file.truncate(100)


def empty_file_and_index(state: Path) -> None:
    empty(state)
    empty_index(state)


def empty_log_and_index(state: Path) -> None:
    empty_log(state)
    empty_index(state)


def empty_all(state: Path) -> None:
    for name in PARTS:
        (state / name).write_bytes(b"")


def overwrite(name: str, data: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    """As `cp other history.db` does: the same file with other bytes."""

    def harm(state: Path) -> None:
        file = state / name
        old = file.read_bytes()
        with file.open("r+b") as there:
            there.write(data(old))

    return harm


def restore_copies(state: Path) -> None:
    """By copies of all three files that somebody made a while ago."""
    for name in PARTS:
        with (state / name).open("r+b") as there:
            there.write((state / f"copy-of-{name}").read_bytes())


def delete_folder(state: Path) -> None:
    shutil.rmtree(state)


def replace(state: Path) -> None:
    """By an empty history of another program's making."""
    other = state.parent / "other.db"
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE notes (text TEXT)")
        connection.commit()
    other.replace(state / "history.db")


def begin_another(state: Path) -> None:
    """By what another process of ours begins where there is none."""
    delete_all(state)
    folder = state.parents[2] / "notes"
    line = [sys.executable, "-W", "error", "-m", "redraft", "status", "--folder", str(folder)]
    run_program(line, env=environment(folder), timeout=PATIENCE).check_returncode()


HARMS: list[Callable[[Path], None]] = [
    delete_all,
    delete_file,
    delete_log,
    empty,
    delete_folder,
    replace,
    begin_another,
    empty_file_and_index,
]


def typed(server: Server, tab: str, text: str) -> None:
    server.post(f"/api/tabs/{tab}/type", {"content": text})


@pytest.mark.covers("RD-history-vanishes")
@pytest.mark.parametrize("harm", HARMS)
def test_what_is_acknowledged_after_the_history_vanished_is_there_after_a_restart(
    folder: Path, harm: Callable[[Path], None]
):
    server = begun(folder)
    tab = server.post("/api/tabs", {"path": "story.md"})["tab_id"]
    server.post("/api/documents", {"path": "before.md", "content": "Before.\n"})
    typed(server, tab, f"{STORY}Typed before.\n")
    harm(server.state)
    typed(server, tab, f"{STORY}Typed before.\nTyped after.\n")
    server.post("/api/documents", {"path": "after.md", "content": "After.\n"})
    notices = server.get("/api/workspace")["notices"]
    assert any("while Redraft was running" in notice and "restored" in notice for notice in notices), notices
    line = [sys.executable, "-W", "error", "-m", "redraft", "status", "--folder", str(folder)]
    status = run_program(line, env=environment(folder), timeout=PATIENCE)
    status.check_returncode()
    assert "It was restored" in " ".join((status.stdout + status.stderr).decode().split())
    ended(server)
    again = begun(folder)
    assert again.get("/api/documents", path="story.md")["content"] == f"{STORY}Typed before.\nTyped after.\n"
    titles = [turn["title"] for turn in again.get("/api/turns")["turns"]]
    assert titles == ["Create after.md", "Create before.md"]
    assert again.get("/api/audit/verify")["intact"] is True
    again.post("/api/turns/undo", {"turn": 1})
    assert not (folder / "before.md").exists()
    ended(again)


@pytest.mark.covers("RD-history-vanishes")
def test_what_was_typed_live_before_the_history_vanished_is_there_without_another_word(folder: Path):
    server = begun(folder)

    async def type_it() -> None:
        person = await Person(server).join()
        person.type(0, "Typed. ")
        await person.sent()
        delete_all(server.state)
        await person.leave()

    asyncio.run(type_it())
    ended(server)
    again = begun(folder)
    assert again.get("/api/documents", path="story.md")["content"] == f"Typed. {STORY}"
    ended(again)


@pytest.mark.covers("RD-history-vanishes")
def test_nothing_is_acknowledged_that_cannot_be_kept_and_the_person_is_told_why(folder: Path):
    server = begun(folder)
    tab = server.post("/api/tabs", {"path": "story.md"})["tab_id"]
    state, kept = server.state, server.state.with_name("kept")

    async def story() -> None:
        person = await Person(server).join()
        person.type(0, "Typed before. ")
        await person.sent()
        state.rename(kept)
        state.write_text("In the way.\n", encoding="utf-8")
        person.type(0, "Typed after. ")
        assert (await person.ended())[0] == 1011, "it is not told that it was kept"
        refused = await asyncio.to_thread(server.refused, "POST", f"/api/tabs/{tab}/type", {"content": "Lost?\n"}, 500)
        assert refused["error"] in ("history_lost", "io_error")
        await asyncio.to_thread(server.refused, "POST", "/api/turns/undo", {}, 500)
        notices = (await asyncio.to_thread(server.get, "/api/workspace"))["notices"]
        assert any("cannot be put back" in notice for notice in notices), notices
        state.unlink()
        kept.rename(state)
        await person.join()
        await person.sent()
        assert str(person) == f"Typed after. Typed before. {STORY}"
        notices = (await asyncio.to_thread(server.get, "/api/workspace"))["notices"]
        assert not any("cannot be put back" in notice for notice in notices), notices
        await person.leave()

    asyncio.run(story())
    ended(server)
    again = begun(folder)
    assert again.get("/api/documents", path="story.md")["content"] == f"Typed after. Typed before. {STORY}"
    ended(again)


@pytest.mark.covers("RD-history-vanishes")
@pytest.mark.parametrize("harm", [empty, empty_log, empty_file_and_index, empty_log_and_index, empty_all])
def test_what_is_typed_is_not_acknowledged_once_the_pages_of_the_history_are_gone(
    folder: Path, harm: Callable[[Path], None]
):
    """A long history has most of its pages in the file, where nobody can find them again once it was emptied."""
    server = begun(folder)
    tab = server.post("/api/tabs", {"path": "story.md"})["tab_id"]
    for number in range(12):
        server.post("/api/documents", {"path": f"{number}.md", "content": randbytes(200_000).hex()})
    server.post(f"/api/tabs/{tab}/type", {"content": "Typed before.\n"})
    harm(server.state)
    refused = server.refused("POST", f"/api/tabs/{tab}/type", {"content": "Lost?\n"}, 500)
    assert refused["error"] == "history_lost"
    assert "copy what you typed" in refused["message"]
    assert server.process is not None
    server.process.kill()
    server.process.communicate()


@pytest.mark.covers("RD-history-vanishes")
@pytest.mark.parametrize(
    "harm",
    [
        overwrite("history.db-wal", lambda old: b"\0" * len(old)),
        overwrite("history.db-wal", lambda old: old[:32] + randbytes(len(old) - 32)),
        overwrite("history.db", lambda old: randbytes(len(old))),
        restore_copies,
    ],
    ids=["log with zeros", "frames of the log", "database", "all with copies"],
)
def test_nothing_is_acknowledged_once_another_program_wrote_over_the_history(
    folder: Path, harm: Callable[[Path], None]
):
    """SQLite does not read again what it wrote, and would go on to the restart as if all were well."""
    server = begun(folder)
    tab = server.post("/api/tabs", {"path": "story.md"})["tab_id"]
    typed(server, tab, "Typed before.\n")
    for name in PARTS:
        shutil.copyfile(server.state / name, server.state / f"copy-of-{name}")
    typed(server, tab, "Typed before. And more.\n")
    harm(server.state)
    refused = server.refused("POST", f"/api/tabs/{tab}/type", {"content": "Lost?\n"}, 500)
    assert refused["error"] == "history_lost"
    assert "copy what you typed" in refused["message"]
    assert server.get("/api/workspace")["state"] == "history_lost"
    assert server.process is not None
    server.process.kill()
    server.process.communicate()


@pytest.mark.covers("RD-history-vanishes")
@pytest.mark.parametrize("harm", [empty_index, cut_index])
def test_an_index_of_the_log_that_was_emptied_is_made_again_and_nobody_notices(
    folder: Path, harm: Callable[[Path], None]
):
    server = begun(folder)
    tab = server.post("/api/tabs", {"path": "story.md"})["tab_id"]
    typed(server, tab, f"{STORY}Typed before.\n")
    harm(server.state)
    assert server.get("/api/documents", path="story.md")["content"] == f"{STORY}Typed before.\n"
    harm(server.state)
    typed(server, tab, f"{STORY}Typed before.\nTyped after.\n")
    told = server.get("/api/workspace")
    assert (told["state"], told["notices"]) == ("ok", [])
    ended(server)
    again = begun(folder)
    assert again.get("/api/documents", path="story.md")["content"] == f"{STORY}Typed before.\nTyped after.\n"
    ended(again)


@pytest.mark.covers("RD-history-vanishes")
@pytest.mark.parametrize("parts", [("-shm",), ("", "-wal", "-shm")])
def test_an_index_for_searching_that_was_emptied_ends_nobody(folder: Path, parts: tuple[str, ...]):
    server = begun(folder)
    assert server.get("/api/search", query="lighthouse")["count"] == 1
    for part in parts:
        (server.state / f"search.db{part}").write_bytes(b"")
    assert server.get("/api/search", query="lighthouse")["count"] == 1
    ended(server)


@pytest.mark.covers("RD-history-vanishes")
def test_answers_that_are_kept_for_repeats_survive_an_index_that_was_emptied(folder: Path):
    server = begun(folder)
    for _ in range(2):
        (server.state / "server.db-shm").write_bytes(b"")
        once = {"Idempotency-Key": "one"}
        answer = server.request("POST", "/api/documents", {"path": "new.md", "content": "New.\n"}, once)
        assert answer.status in (200, 201), answer
    assert len(server.get("/api/turns")["turns"]) == 1
    ended(server)


@pytest.mark.covers("RD-history-vanishes")
def test_where_all_of_the_history_was_emptied_documents_stand_and_a_restart_says_what_is_gone(folder: Path):
    """What was acknowledged is on no disk any more; the server lives on to say so, and whoever typed has it still."""
    server = begun(folder)
    server.post("/api/documents", {"path": "made.md", "content": "Made.\n"})

    async def story() -> str:
        person = await Person(server).join()
        person.type(0, "Typed before. ")
        await person.sent()
        empty_all(server.state)
        person.type(0, "Typed after. ")
        assert (await person.ended())[0] == 1011, "it is not told that it was kept"
        return str(person)

    mine = asyncio.run(story())
    assert mine == f"Typed after. Typed before. {STORY}"
    told = server.get("/api/workspace")
    assert (told["state"], told["newest_turn"], told["pending"], told["unsaved"]) == ("history_lost", 0, [], [])
    assert "Nothing is stored until it is: copy what you typed." in told["notices"][0]
    assert server.refused("GET", "/api/turns", None, 500)["error"] == "history_lost"
    assert server.process is not None
    server.process.terminate()
    server.process.communicate(timeout=PATIENCE)
    again = begun(folder)
    notices = again.get("/api/workspace")["notices"]
    assert any("missing or empty" in notice and "unsaved typing" in notice for notice in notices), notices
    assert (folder / "made.md").read_text(encoding="utf-8") == "Made.\n"
    assert again.get("/api/documents", path="story.md")["content"] == STORY
    tab = again.post("/api/tabs", {"path": "story.md"})["tab_id"]
    typed(again, tab, mine)
    ended(again)
    third = begun(folder)
    assert third.get("/api/documents", path="story.md")["content"] == mine
    ended(third)


@pytest.mark.covers("RD-history-vanishes")
def test_two_processes_that_had_the_history_open_go_on_with_one(folder: Path):
    """The second finds what the first has put back, and adds to it."""
    server = begun(folder)
    server.post("/api/documents", {"path": "one.md", "content": "One.\n"})
    program = subprocess.Popen(
        [sys.executable, "-c", OTHER, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        env=environment(folder),
    )
    assert program.stdin is not None
    assert program.stdout is not None
    assert program.stdout.readline() == "open\n"
    delete_all(server.state)
    server.post("/api/documents", {"path": "two.md", "content": "Two.\n"})
    out, _ = program.communicate("go\n")
    assert out.splitlines()[-1] == "done"
    server.post("/api/documents", {"path": "four.md", "content": "Four.\n"})
    ended(server)
    again = begun(folder)
    titles: list[Any] = [turn["title"] for turn in again.get("/api/turns")["turns"]]
    assert titles == ["Create four.md", "Three", "Create two.md", "Create one.md"]
    ended(again)


OTHER = """
import sys
from redraft.history.turns import Author
from redraft.runtime import open_workspace
with open_workspace(sys.argv[1]) as workspace:
    print("open", flush=True)
    sys.stdin.readline()
    with workspace.turn(Author("person", "other"), "Three") as turn:
        turn.create("three.md", "Three.\\n")
print("done")
"""
