"""How much one turn of an agent may do; a person is not limited."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from redraft.config import Limits, Settings
from redraft.errors import Refused
from tests.workspace.folder import AGENT, PERSON, agent_writes, person_writes

if TYPE_CHECKING:
    from tests.workspace.folder import Folder


@pytest.mark.covers("RD-turn-limits", "ML-limit-actions")
def test_an_agent_has_twenty_actions_and_a_person_has_no_limit(folder: Folder) -> None:
    folder.put("a.md", "start\n")
    workspace = folder.open()
    turn = workspace.turn(AGENT, "Busy", mode="apply")
    for number in range(20):
        turn.write("a.md", f"{number}\n", turn.read("a.md").version)
    with pytest.raises(Refused) as refused:
        turn.write("a.md", "one too many\n", turn.read("a.md").version)
    assert (refused.value.code, refused.value.details["limit"]) == ("limit_exceeded", 20)
    turn.discard()
    with workspace.turn(PERSON, "Busier") as own:
        for number in range(40):
            own.write("a.md", f"{number}\n", own.read("a.md").version)
    assert folder.tree() == {"a.md": b"39\n"}


def limited(**limits: int) -> Settings:
    return Settings(mode="apply", limits=replace(Limits(), **limits))


@pytest.mark.covers("RD-turn-limits")
@pytest.mark.parametrize("call", ["create", "write", "move"])
def test_an_agents_turn_is_limited_in_files_however_they_are_touched(folder: Folder, call: str) -> None:
    for name in ("a.md", "b.md", "c.md"):
        folder.put(name, "one\n")
    workspace = folder.open(limited(files=2))
    before = folder.tree()
    turn = workspace.turn(AGENT, "Wide")

    def touch(name: str) -> None:
        if call == "create":
            turn.create(f"new-{name}", "x")
        elif call == "write":
            turn.write(name, "two\n", turn.read(name).version)
        else:
            turn.move(name, f"moved-{name}", turn.read(name).version)

    touch("a.md")
    touch("b.md")
    with pytest.raises(Refused) as refused:
        touch("c.md")
    turn.discard()
    assert refused.value.code == "limit_exceeded"
    assert folder.tree() == before


@pytest.mark.covers("RD-turn-limits")
@pytest.mark.parametrize("call", ["create", "write"])
def test_an_agents_turn_is_limited_in_bytes_not_in_characters(folder: Folder, call: str) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open(limited(bytes=100))
    for content, fits in (("x" * 100, True), ("x" * 101, False), ("é" * 50, True), ("é" * 51, False)):
        turn = workspace.turn(AGENT, "Long")

        def act(content: str = content) -> None:
            if call == "create":
                turn.create("b.md", content)  # noqa: B023
            else:
                turn.write("a.md", content, turn.read("a.md").version)  # noqa: B023

        if fits:
            act()
        else:
            with pytest.raises(Refused) as refused:
                act()
            assert refused.value.code == "limit_exceeded"
        turn.discard()


def test_a_document_has_a_largest_size_in_bytes(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open(limited(document_bytes=100))
    with pytest.raises(Refused) as refused:
        agent_writes(workspace, {"a.md": "é" * 51}, mode="apply")
    assert refused.value.code == "too_large"
    agent_writes(workspace, {"a.md": "é" * 50}, mode="apply")
    assert len(folder.bytes("a.md")) == 100


def test_the_limits_of_agents_do_not_bind_a_person(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    folder.put("b.md", "one\n")
    workspace = folder.open(limited(files=1, bytes=10, actions=1))
    person_writes(workspace, {"a.md": "x" * 100, "b.md": "y" * 100})
    assert folder.tree() == {"a.md": b"x" * 100, "b.md": b"y" * 100}
