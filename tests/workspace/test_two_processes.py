"""Two workspaces on one folder, as two processes hold them: each sees what the other did, and none overwrites it."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from redraft.errors import Busy, RedraftError, Refused, Stale
from redraft.files.locks import folder_lock
from redraft.history import database as module
from redraft.history.database import is_truncated
from redraft.text.edits import Change, Edit
from tests.workspace.folder import (
    AGENT,
    PERSON,
    POEM,
    agent_writes,
    draft_of,
    hunk_with,
    hunks,
    person_writes,
    replaced,
    type_at_end,
    type_over,
    working,
)

if TYPE_CHECKING:
    from redraft.workspace.workspace import Workspace
    from tests.workspace.folder import Folder


def test_each_sees_the_others_turns_decisions_typing_and_tabs(folder: Folder) -> None:
    folder.put("a.md", POEM)
    one, two = folder.open(), folder.open()
    agent_writes(one, {"a.md": replaced(POEM, Amber="Agate", Jetty="Quay")})
    assert len(hunks(two, "a.md")) == 2
    type_over(two, "a.md", "Ember", "Emerald")
    assert working(one, "a.md") == replaced(POEM, Amber="Agate", Jetty="Quay", Ember="Emerald")
    one.accept({"a.md": [hunk_with(one, "a.md", "Agate").id]})
    assert [hunk.author for hunk in hunks(two, "a.md")] == ["user", "agent"]
    two.undo()
    assert [hunk.author for hunk in hunks(one, "a.md")] == ["agent", "user", "agent"]
    one.open_tab("a.md")
    assert [tab.path for tab in two.tabs()] == ["a.md"]
    assert one.turns() == two.turns()


def test_typing_from_two_places_is_one_text(folder: Folder) -> None:
    folder.put("a.md", "")
    one, two = folder.open(), folder.open()
    for number in range(20):
        type_at_end((one, two)[number % 2], "a.md", f"{number} ")
    expected = " ".join(map(str, range(20))) + " "
    assert working(one, "a.md") == working(two, "a.md") == expected
    one.save("a.md")
    assert not any(draft.dirty for draft in two.drafts())
    assert folder.text("a.md") == expected


@pytest.mark.covers("P3")
def test_a_commit_made_for_a_text_that_the_other_changed_is_refused(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    folder.put("b.md", "one\n")
    one, two = folder.open(), folder.open()
    turn = one.turn(AGENT, "Slow", mode="apply")
    for path in ("a.md", "b.md"):
        turn.write(path, "slow\n", turn.read(path).version)
    agent_writes(two, {"b.md": "fast\n"}, mode="apply")
    with pytest.raises(Stale):
        turn.commit()
    assert folder.tree() == {"a.md": b"one\n", "b.md": b"fast\n"}


@pytest.mark.slow
@pytest.mark.covers("P5")
def test_what_is_typed_at_the_moment_of_a_commit_elsewhere_is_kept_or_refused(folder: Folder) -> None:
    folder.put("a.md", POEM)
    one, two = folder.open(), folder.open()
    refused: list[RedraftError] = []

    def type_meanwhile() -> None:
        try:
            type_over(two, "a.md", "Ember", "Emerald")
        except Busy as error:
            refused.append(error)

    folder.clock.meanwhile = type_meanwhile
    agent_writes(one, {"a.md": replaced(POEM, Amber="Agate")})
    kept = "Emerald" in working(one, "a.md")
    assert kept != bool(refused)
    assert "Agate" in working(two, "a.md")


def type_surely(workspace: Workspace, new: str) -> None:
    """As an editor does: the offset is one in the text that is on the screen, and stale typing is done over."""
    while True:
        document = workspace.read("typed.md")
        try:
            workspace.type("typed.md", Change((Edit(len(document.text), "", new),)), version=document.version)
        except Stale:
            continue
        return


@pytest.mark.slow
@pytest.mark.covers("P5")
def test_a_person_types_on_while_an_agent_commits_again_and_again(folder: Folder) -> None:
    folder.put("a.md", POEM)
    folder.put("typed.md", "")
    person, agent = folder.open(), folder.open()

    def propose() -> None:
        for number in range(25):
            with suppress(Stale), agent.turn(AGENT, f"Turn {number}") as turn:
                turn.write("a.md", f"# {number}\n\n{POEM}", turn.read("a.md").version)
                typed = turn.read("typed.md")
                turn.edit("typed.md", [Edit(0, "", f"agent {number}\n")], typed.version)

    with ThreadPoolExecutor() as pool:
        proposing = pool.submit(propose)
        for number in range(120):
            type_surely(person, f"«{number}»")
        proposing.result()
    text = working(person, "typed.md")
    assert [number for number in range(120) if text.count(f"«{number}»") != 1] == []
    with suppress(Refused):  # the agent may never have been quick enough
        person.reject({"typed.md": None})
    assert working(person, "typed.md") == "".join(f"«{number}»" for number in range(120))


@pytest.mark.slow
def test_three_writers_on_one_document_lose_no_update(folder: Folder) -> None:
    folder.put("count.md", "0")

    def count(workspace: Workspace) -> None:
        done = 0
        while done < 30:
            with suppress(Stale, Busy):
                with workspace.turn(PERSON, "Count") as turn:
                    document = turn.read("count.md")
                    turn.write("count.md", str(int(str(document.text)) + 1), document.version)
                done += 1

    with ThreadPoolExecutor() as pool:
        list(pool.map(count, [folder.open() for _ in range(3)]))
    assert folder.text("count.md") == "90"


@pytest.mark.slow
@pytest.mark.covers("RD-busy")
def test_a_folder_held_by_another_process_gives_busy_and_the_turn_can_be_committed_later(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    turn = workspace.turn(AGENT, "Later", mode="apply")
    turn.write("a.md", "two\n", turn.read("a.md").version)
    with folder_lock(workspace.state), pytest.raises(Busy):
        turn.commit()
    assert folder.text("a.md") == "one\n"
    turn.commit()
    assert folder.text("a.md") == "two\n"


def test_discarding_in_one_is_seen_by_a_reader_that_had_looked_before(folder: Folder) -> None:
    folder.put("a.md", POEM)
    one, two = folder.open(), folder.open()
    agent_writes(one, {"a.md": replaced(POEM, Amber="Agate")})
    for word in ("Emerald", "Emperor"):
        type_over(one, "a.md", "Ember", word)
        assert word in working(two, "a.md")
        two.discard_typing("a.md")
        assert working(one, "a.md") == working(two, "a.md") == replaced(POEM, Amber="Agate")


def test_an_outside_change_found_by_one_is_the_same_for_the_other(folder: Folder) -> None:
    folder.put("a.md", POEM)
    one, two = folder.open(), folder.open()
    type_over(one, "a.md", "Ember", "Emerald")
    folder.put("a.md", replaced(POEM, Amber="Agate"))
    one.refresh()
    assert draft_of(one, "a.md") == draft_of(two, "a.md")
    person_writes(two, {"a.md": replaced(working(two, "a.md"), Jetty="Quay")})
    assert working(one, "a.md") == replaced(POEM, Amber="Agate", Ember="Emerald", Jetty="Quay")


def locks_on(path: str) -> int:
    """How many locks the kernel holds for this process on a file."""
    inode = os.stat(path).st_ino
    with open("/proc/locks", encoding="ascii") as table:
        return sum(f":{inode} " in line and f" {os.getpid()} " in line for line in table)


def test_a_second_opening_in_one_process_leaves_the_first_ones_locks(folder: Folder) -> None:
    folder.put("a.md", "text\n")
    database = folder.open().database
    with database.transaction():
        held = locks_on(database.path)
        assert held
        folder.open()
        assert locks_on(database.path) >= held


def test_two_openings_at_once_in_one_process_leave_each_other_their_locks(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One looks at the file before it connects, just as the other has connected."""
    folder.open().close()
    looking = threading.Event()
    look = is_truncated

    def slowly(path: str) -> bool:
        looking.set()
        opened.wait(0.3)  # as long as the other one is not held up
        return look(path)

    def second() -> Workspace:
        looking.wait()
        found = folder.open()
        opened.set()
        return found

    opened = threading.Event()
    monkeypatch.setattr(module, "is_truncated", slowly)
    with ThreadPoolExecutor(2) as threads:
        other = threads.submit(second)
        database = threads.submit(folder.open).result().database
        other.result()
    assert locks_on(database.path), "else another process that closes takes itself for the last, and deletes the log"
