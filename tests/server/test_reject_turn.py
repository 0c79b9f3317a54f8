"""Rejecting one of several turns that share a hunk, over HTTP and from the command line: its own words go, and the
others wait as they did."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.promises.doors import Folder, run, served

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    Reject = Callable[[Folder, int], None]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Generator[Folder]:
    with served(tmp_path_factory.mktemp("reject"), mode="propose") as shared:
        yield shared


def reject_over_http(folder: Folder, turn: int) -> None:
    folder.server.post("/api/review/reject", {"turn": turn})


def reject_on_a_terminal(folder: Folder, turn: int) -> None:
    done = run(folder.path, "reject", "--turn", str(turn))
    assert done.returncode == 0, done


DOORS = {"http": reject_over_http, "cli": reject_on_a_terminal}


def propose(folder: Folder, name: str, content: str) -> int:
    call = {"path": name, "content": content, "version": folder.text(name)[1]}
    done, answer = folder.tool("write_document", "propose", **call)
    assert done, answer
    return answer["turn"]


@pytest.mark.covers("P4", "RD-cli-decide")
@pytest.mark.parametrize("door", DOORS)
def test_rejecting_one_turn_takes_back_its_own_words_in_a_shared_hunk(folder: Folder, door: str):
    name = f"shared-{door}.md"
    folder.put(name, "one two three four\n")
    outer = propose(folder, name, "one ALPHA BRAVO CHARLIE four\n")
    inner = propose(folder, name, "one ALPHA MORE BRAVO CHARLIE four\n")
    text, version = folder.text(name)
    assert folder.type(name, text.index("CHARLIE"), "", "7 ", version)
    assert len(folder.hunks(name)) == 1
    DOORS[door](folder, inner)
    assert folder.text(name)[0] == "one ALPHA BRAVO 7 CHARLIE four\n"
    again = propose(folder, name, "one ALPHA BRAVO 7 CHARLIE AGAIN four\n")
    DOORS[door](folder, outer)
    left = folder.text(name)[0]
    assert sorted(left.split()) == ["7", "AGAIN", "four", "one", "three", "two"]
    assert [word for word in left.split() if word.islower()] == ["one", "two", "three", "four"]
    assert [hunk["turn"] for hunk in folder.hunks(name)] == [again]
    assert folder.bytes_of(name) == b"one two three four\n"


@pytest.mark.covers("P4", "RD-cli-decide")
@pytest.mark.parametrize("door", DOORS)
def test_rejecting_a_turn_that_edited_a_proposed_document_leaves_the_document_proposed(folder: Folder, door: str):
    name = f"new-{door}.md"
    done, made = folder.tool("create_document", "propose", path=name, content="one two three\n")
    assert done, made
    edit = propose(folder, name, "one TWO three\nmore\n")
    DOORS[door](folder, edit)
    assert folder.text(name)[0] == "one two three\n"
    assert [hunk["kind"] for hunk in folder.hunks(name)] == ["created"]
    assert folder.decide("accept", name, None)[0]
    assert folder.bytes_of(name) == b"one two three\n"
