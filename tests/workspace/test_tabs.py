"""Tabs: ids that hold, unsaved text that is kept, and closing that loses nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redraft.errors import Refused
from redraft.history.reviews import Reviews
from redraft.text.edits import Change, Edit
from redraft.workspace.tabs import FOLD_AFTER
from tests.conftest import TORTURE
from tests.workspace.folder import (
    AGENT,
    PERSON,
    POEM,
    agent_writes,
    draft_of,
    fresh_folder,
    replaced,
    type_at_end,
    type_over,
    working,
)

if TYPE_CHECKING:
    from tests.workspace.folder import Folder


@pytest.mark.covers("TK-tab-id-stable")
def test_a_document_opened_twice_keeps_its_tab_and_the_id_holds_through_everything(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    folder.put("b.md", "two\n")
    workspace = folder.open()
    tab = workspace.open_tab("a.md")
    other = workspace.open_tab("b.md")
    assert workspace.open_tab("a.md").tab_id == tab.tab_id != other.tab_id
    type_at_end(workspace, "a.md", "typed\n")
    workspace.save("a.md")
    agent_writes(workspace, {"a.md": "rewritten\n"}, mode="apply")
    folder.put("a.md", "outside\n")
    assert [found.tab_id for found in workspace.tabs()] == [tab.tab_id, other.tab_id]
    assert workspace.open_tab("a.md").tab_id == tab.tab_id


@pytest.mark.covers("TK-tab-id-new")
def test_a_reopened_document_gets_a_new_tab_id(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    first = workspace.open_tab("a.md").tab_id
    workspace.close_tab(first)
    second = workspace.open_tab("a.md").tab_id
    assert second != first
    with pytest.raises(Refused) as refused:
        workspace.close_tab(first)
    assert refused.value.code == "invalid_tab_id"


@pytest.mark.covers("TK-tab-id-session")
def test_tabs_and_their_ids_come_back_after_a_crash(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    folder.put("b.md", "two\n")
    workspace = folder.open()
    before = [workspace.open_tab("a.md"), workspace.open_tab("b.md")]
    again = folder.open()
    assert [tab.tab_id for tab in again.tabs()] == [tab.tab_id for tab in before]
    assert [tab.path for tab in again.tabs()] == ["a.md", "b.md"]


def test_a_tab_tells_what_a_client_needs(folder: Folder) -> None:
    folder.put("notes/a.md", "one\ntwo\n")
    workspace = folder.open()
    tab = workspace.open_tab("notes/a.md")
    assert tab.as_json() == {
        "tab_id": tab.tab_id,
        "title": "a.md",
        "path": "notes/a.md",
        "file_type": "markdown",
        "version": workspace.read("notes/a.md").version,
        "is_dirty": False,
        "size_chars": 8,
        "line_count": 2,
    }


def test_a_tab_is_dirty_exactly_while_saving_would_change_the_disk(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    workspace.open_tab("a.md")

    def dirty() -> bool:
        return workspace.tabs()[0].dirty

    assert not dirty()
    type_over(workspace, "a.md", "one", "two")
    assert dirty()
    type_over(workspace, "a.md", "two", "one")
    assert not dirty()
    type_over(workspace, "a.md", "one", "two")
    workspace.save("a.md")
    assert not dirty()
    agent_writes(workspace, {"a.md": "three\n"})
    assert not dirty()


def test_what_is_not_there_cannot_be_opened(folder: Folder) -> None:
    (folder.path / "sub").mkdir()
    workspace = folder.open()
    for path in ("a.md", "sub"):
        with pytest.raises(Refused):
            workspace.open_tab(path)
    assert workspace.tabs() == []


def test_closing_a_dirty_tab_is_refused_and_keeps_the_typing(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    tab = workspace.open_tab("a.md")
    type_at_end(workspace, "a.md", "typed\n")
    with pytest.raises(Refused) as refused:
        workspace.close_tab(tab.tab_id)
    assert refused.value.code == "conflict"
    assert working(workspace, "a.md") == "one\ntyped\n"
    assert len(workspace.tabs()) == 1


@pytest.mark.covers("P5")
def test_discarded_typing_can_be_brought_back(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    tab = workspace.open_tab("a.md")
    type_at_end(workspace, "a.md", "typed\n")
    workspace.close_tab(tab.tab_id, discard=True)
    assert workspace.tabs() == []
    assert (working(workspace, "a.md"), workspace.drafts()) == ("one\n", [])
    assert workspace.undo().conflicts == []
    assert working(workspace, "a.md") == "one\ntyped\n"
    assert folder.text("a.md") == "one\n"


def test_discarding_typing_leaves_an_agents_hunks_pending(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    agent_writes(workspace, {"a.md": replaced(POEM, Amber="Agate")})
    witness = folder.open()
    for _ in range(2):
        type_over(workspace, "a.md", "Ember", "Emerald")
        assert working(witness, "a.md") == replaced(POEM, Amber="Agate", Ember="Emerald")
        workspace.discard_typing("a.md")
        assert working(workspace, "a.md") == replaced(POEM, Amber="Agate")
        assert working(witness, "a.md") == replaced(POEM, Amber="Agate")
    assert [hunk.author for hunk in draft_of(workspace, "a.md").review.hunks] == ["agent"]


def test_discarding_nothing_makes_no_turn(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    assert workspace.discard_typing("a.md") is None
    agent_writes(workspace, {"a.md": replaced(POEM, Amber="Agate")})
    assert workspace.discard_typing("a.md") is None
    assert len(workspace.turns()) == 1


@pytest.mark.covers("RD-tabs-crash")
def test_typing_survives_a_crash_keystroke_by_keystroke(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    for letter in "héllo 𝄞":
        type_at_end(workspace, "a.md", letter)
        assert working(folder.open(), "a.md") == working(workspace, "a.md")
    assert folder.text("a.md") == "one\n"


@pytest.mark.slow
@pytest.mark.covers("RD-tabs-crash")
def test_typing_is_folded_now_and_then_and_none_of_it_is_lost(folder: Folder) -> None:
    folder.put("a.md", POEM)
    workspace = folder.open()
    agent_writes(workspace, {"a.md": replaced(POEM, Amber="Agate")})
    expected = working(workspace, "a.md")
    for number in range(FOLD_AFTER * 2 + 5):
        type_at_end(workspace, "a.md", f"{number} ")
        expected += f"{number} "
        assert len(Reviews(workspace.database).read_typing("a.md")) <= FOLD_AFTER
        if number % FOLD_AFTER in (0, 1, FOLD_AFTER - 1):
            assert working(folder.open(), "a.md") == expected
    assert working(workspace, "a.md") == expected
    workspace.reject({"a.md": None})
    assert working(workspace, "a.md") == replaced(expected, Agate="Amber")


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 8), st.text("ab \n\ré𝄞", max_size=5)), max_size=25))
@settings(max_examples=500 if TORTURE else 25)
@pytest.mark.slow
@pytest.mark.covers("RD-tabs-crash")
def test_any_typing_gives_the_same_text_here_in_another_process_and_after_a_restart(
    edits: list[tuple[int, int, str]],
) -> None:
    with fresh_folder() as folder:
        folder.put("a.md", "A first line.\n\nAnd a second one.\n")
        writer, reader = folder.open(), folder.open()
        expected = folder.text("a.md")
        for at, length, new in edits:
            start = min(at, len(expected))
            end = min(start + length, len(expected))
            document = writer.type("a.md", Change((Edit(start, expected[start:end], new),)))
            expected = expected[:start] + new + expected[end:]
            assert str(document.text) == expected
        assert working(reader, "a.md") == expected
        assert working(folder.open(), "a.md") == expected
        reader.save("a.md")
        assert folder.text("a.md") == working(writer, "a.md") == expected


@pytest.mark.covers("TK-tab-id-save-as")
@pytest.mark.parametrize("author", [AGENT, PERSON])
def test_a_tab_follows_its_document_to_another_place_and_back(folder: Folder, author: object) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    tab = workspace.open_tab("a.md")
    with workspace.turn(AGENT if author is AGENT else PERSON, "Move", mode="apply") as turn:
        turn.move("a.md", "b/c.md", turn.read("a.md").version)
    assert [(found.tab_id, found.path) for found in workspace.tabs()] == [(tab.tab_id, "b/c.md")]
    workspace.undo()
    assert [(found.tab_id, found.path) for found in workspace.tabs()] == [(tab.tab_id, "a.md")]
    workspace.redo()
    assert [(found.tab_id, found.path) for found in workspace.tabs()] == [(tab.tab_id, "b/c.md")]


@pytest.mark.covers("TK-tab-id-save-as")
def test_a_tab_follows_a_proposed_move_and_comes_back_when_it_is_rejected(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    tab = workspace.open_tab("a.md")
    with workspace.turn(AGENT, "Move") as turn:
        turn.move("a.md", "b.md", turn.read("a.md").version)
    assert [(found.tab_id, found.path) for found in workspace.tabs()] == [(tab.tab_id, "b.md")]
    workspace.reject({"b.md": None})
    assert [(found.tab_id, found.path) for found in workspace.tabs()] == [(tab.tab_id, "a.md")]
    workspace.undo()
    workspace.accept({"b.md": None})
    assert [(found.tab_id, found.path) for found in workspace.tabs()] == [(tab.tab_id, "b.md")]


def test_the_tab_of_a_deleted_document_stays_and_shows_that_nothing_is_there(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    workspace.open_tab("a.md")
    with workspace.turn(PERSON, "Away") as turn:
        turn.delete("a.md", turn.read("a.md").version)
    (tab,) = workspace.tabs()
    assert (tab.document, tab.dirty) == (None, False)
    workspace.undo()
    assert workspace.tabs()[0].document is not None


def test_saving_nothing_new_makes_no_turn(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    assert workspace.save("a.md") is None
    type_over(workspace, "a.md", "one", "two")
    type_over(workspace, "a.md", "two", "one")
    assert workspace.save("a.md") is None
    assert workspace.turns() == []
