"""A version is valid exactly while the document has the content that it was issued for."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from redraft.errors import Stale
from redraft.text.edits import Change, Edit
from redraft.text.text import Text
from redraft.workspace.document import Document, version_of
from tests.workspace.folder import (
    AGENT,
    PERSON,
    agent_writes,
    hunks,
    person_writes,
    turn_of,
    type_at_end,
    type_over,
    yes,
)

if TYPE_CHECKING:
    from redraft.workspace.workspace import Workspace
    from tests.workspace.folder import Folder


def is_valid(workspace: Workspace, path: str, version: str) -> bool:
    """Whether an edit with this version would go through. Nothing is done."""
    turn = workspace.turn(PERSON, "Probe")
    try:
        turn.edit(path, [Edit(0, "", "x")], version)
    except Stale:
        return False
    finally:
        turn.discard()
    return True


@pytest.mark.covers("TK-version-any-edit", "TK-version-fresh-accepted", "RD-decided-version")
def test_an_edit_with_the_present_version_goes_through_and_gives_the_next(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    first = workspace.read("a.md").version
    with workspace.turn(PERSON, "Edit") as turn:
        second = turn.edit("a.md", [Edit(3, "", "!")], first).version
    assert second != first
    assert is_valid(workspace, "a.md", second)
    assert not is_valid(workspace, "a.md", first)


@pytest.mark.covers("P3", "SB-guard-hash", "TK-version-mismatch-shape")
@pytest.mark.parametrize("mode", ["apply", "propose", "merge"])
def test_a_stale_edit_is_refused_with_both_versions_and_nothing_is_written(folder: Folder, mode: str) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    old = workspace.read("a.md").version
    person_writes(workspace, {"a.md": "two\n"})
    before = folder.tree()
    turn = workspace.turn(AGENT, "Late", mode=mode, confirm=yes)
    for call in (
        lambda: turn.edit("a.md", [Edit(0, "one", "1")], old),
        lambda: turn.write("a.md", "three\n", old),
        lambda: turn.delete("a.md", old),
        lambda: turn.move("a.md", "b.md", old),
    ):
        with pytest.raises(Stale) as refused:
            call()
        shape = refused.value.as_dict()
        assert shape["error"] == "version_mismatch"
        assert shape["suggestion"]
        assert shape["your_version"] == old
        assert shape["current_version"] == workspace.read("a.md").version
    turn.commit()
    assert folder.tree() == before
    assert len(workspace.turns()) == 1


@pytest.mark.covers("RD-decided-version")
def test_touching_a_file_or_writing_the_same_bytes_keeps_its_version(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    version = workspace.read("a.md").version
    os.utime(folder.path / "a.md", (1, 1))
    assert is_valid(workspace, "a.md", version)
    folder.put("a.md", "other\n")
    assert not is_valid(workspace, "a.md", version)
    folder.put("a.md", "one\n")
    assert is_valid(workspace, "a.md", version)
    (folder.path / "a.md").unlink()
    folder.put("a.md", "one\n")
    assert is_valid(workspace, "a.md", version)


@pytest.mark.covers("RD-decided-version", "TK-version-rollback-restores")
@pytest.mark.parametrize("way", ["undo", "restore", "rollback"])
def test_going_back_to_a_checkpoint_makes_its_version_valid_again_and_the_later_one_stale(
    folder: Folder, way: str
) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    checkpoint = workspace.read("a.md").version
    first = person_writes(workspace, {"a.md": "two\n"})
    second = workspace.read("a.md").version
    if way == "undo":
        workspace.undo()
    elif way == "restore":
        workspace.restore(first.id)
    else:
        workspace.rollback(first.id, "hard_all")
    assert workspace.read("a.md").version == checkpoint
    assert is_valid(workspace, "a.md", checkpoint)
    assert not is_valid(workspace, "a.md", second)


@pytest.mark.covers("TK-version-reject-same")
def test_rejecting_a_proposal_gives_the_version_from_before_it(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    before = workspace.read("a.md").version
    agent_writes(workspace, {"a.md": "two\n"})
    assert workspace.read("a.md").version != before
    workspace.reject({"a.md": None})
    assert workspace.read("a.md").version == before


@pytest.mark.covers("TK-scope-save-keeps")
def test_saving_and_accepting_do_not_change_the_version(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    typed = type_at_end(workspace, "a.md", "more\n").version
    workspace.save("a.md")
    assert workspace.read("a.md").version == typed
    agent_writes(workspace, {"a.md": "one\nMORE\n"})
    proposed = workspace.read("a.md").version
    workspace.accept({"a.md": [hunk.id for hunk in hunks(workspace, "a.md")]})
    assert workspace.read("a.md").version == proposed


def test_after_an_outside_change_every_token_issued_before_is_refused(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    tokens = [workspace.read("a.md").version, type_at_end(workspace, "a.md", "typed\n").version]
    folder.put("a.md", "zero\none\n")
    assert [is_valid(workspace, "a.md", token) for token in tokens] == [False, False]


def test_typing_with_a_stale_version_is_refused_and_keeps_what_was_typed(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    old = workspace.read("a.md").version
    type_over(workspace, "a.md", "one", "two")
    with pytest.raises(Stale):
        workspace.type("a.md", Change((Edit(0, "", "x"),)), version=old)
    assert str(workspace.read("a.md").text) == "two\n"


def test_typing_that_does_not_fit_the_text_is_refused_even_without_a_version(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    for edit in (Edit(0, "two", "x"), Edit(99, "", "x"), Edit(2, "e\nmore", "x")):
        with pytest.raises(Stale):
            workspace.type("a.md", Change((edit,)))
    assert workspace.draft("a.md") is None


CONTENTS = st.text(st.sampled_from("ab\n\r\ufeffé𝄞 "), max_size=12)


@given(st.lists(st.tuples(CONTENTS, st.booleans()), min_size=2, max_size=12))
@example([("\ufeffa", False), ("a", True), ("\ufeffa", True)])
@pytest.mark.slow
@pytest.mark.covers("RD-decided-version", "TK-version-opaque")
def test_two_files_share_a_token_exactly_when_they_have_the_same_bytes(seen: list[tuple[str, bool]]) -> None:
    tokens: dict[str, bytes] = {}
    for text, bom in seen:
        data = b"\xef\xbb\xbf" * bom + text.encode()
        assert tokens.setdefault(version_of(Text(text), bom=bom), data) == data
    assert len(tokens) == len({b"\xef\xbb\xbf" * bom + text.encode() for text, bom in seen})


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 6), CONTENTS), max_size=12))
@pytest.mark.slow
@pytest.mark.covers("RD-decided-version", "TK-version-any-edit")
def test_a_token_does_not_depend_on_the_edits_that_led_to_the_text(steps: list[tuple[int, int, str]]) -> None:
    text = Text("some text to begin with\n" * 3)
    seen: dict[str, str] = {}
    for at, length, new in steps:
        start = min(at, len(text))
        text = text.replace(start, min(start + length, len(text)), new)
        content = str(text)
        token = Document("a.md", text).version
        assert token == Document("b.md", Text(content)).version
        assert seen.setdefault(token, content) == content
    assert len(seen) == len(set(seen.values()))


def test_in_a_session_with_rollbacks_no_token_ever_stands_for_two_contents(folder: Folder) -> None:
    folder.put("a.md", "start\n")
    workspace = folder.open()
    seen: dict[str, str] = {}

    def note() -> None:
        document = workspace.read("a.md")
        assert seen.setdefault(document.version, str(document.text)) == str(document.text)

    note()
    for number in range(4):
        first = turn_of(agent_writes(workspace, {"a.md": f"version {number}\n"}, mode="apply"))
        note()
        type_at_end(workspace, "a.md", f"typed {number}\n")
        note()
        workspace.restore(first.id)
        note()
        folder.put("a.md", f"outside {number}\n")
        note()
    assert len(seen) >= 12
