"""Names and places in a turn: nothing is overwritten, and a place can be given on only when that is clear."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from redraft.errors import RedraftError, Refused
from tests.workspace.folder import AGENT, PERSON, draft_of, yes

if TYPE_CHECKING:
    from tests.workspace.folder import Folder


@pytest.mark.covers("RD-files-no-replace", "ML-move-overwrite")
@pytest.mark.parametrize("what", ["text", "binary", "folder", "empty folder"])
@pytest.mark.parametrize("mode", ["apply", "propose", "merge"])
def test_create_and_move_never_overwrite(folder: Folder, what: str, mode: str) -> None:
    folder.put("a.md", "one\n")
    if what == "text":
        folder.put("there", "mine\n")
    elif what == "binary":
        folder.put("there", b"\x00\xff\x00")
    elif what == "folder":
        folder.put("there/inside.md", "mine\n")
    else:
        (folder.path / "there").mkdir()
    workspace = folder.open()
    before = folder.tree()
    for author in (AGENT, PERSON):
        turn = workspace.turn(author, "Over it", mode=mode)
        with pytest.raises(Refused) as refused:
            turn.create("there", "new\n")
        assert refused.value.code == "already_exists"
        with pytest.raises(Refused) as refused:
            turn.move("a.md", "there", turn.read("a.md").version)
        assert refused.value.code == "already_exists"
        turn.commit()
    assert folder.tree() == before


@pytest.mark.covers("RD-files-no-replace")
@pytest.mark.parametrize("call", ["create", "move"])
@pytest.mark.parametrize("content", [b"an outsider's\n", b"\x00binary\xff"])
def test_a_file_that_an_outsider_made_during_the_turn_is_not_overwritten(
    folder: Folder, call: str, content: bytes
) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    turn = workspace.turn(AGENT, "Late", mode="apply")
    if call == "create":
        turn.create("b.md", "mine\n")
    else:
        turn.move("a.md", "b.md", turn.read("a.md").version)
    folder.put("b.md", content)
    with pytest.raises(RedraftError):
        turn.commit()
    assert folder.tree() == {"a.md": b"one\n", "b.md": content}


def test_a_path_below_a_file_is_refused(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    with pytest.raises(Refused), folder.open().turn(PERSON, "Below") as turn:
        turn.create("a.md/b.md", "x")
    assert folder.tree() == {"a.md": b"one\n"}


def test_two_documents_trade_places_in_one_turn(folder: Folder) -> None:
    folder.put("a.md", "first\n")
    folder.put("b.md", "second\n")
    workspace = folder.open()
    with workspace.turn(PERSON, "Swap") as turn:
        turn.move("a.md", "between.md", turn.read("a.md").version)
        turn.move("b.md", "a.md", turn.read("b.md").version)
        turn.move("between.md", "b.md", turn.read("between.md").version)
    assert folder.tree() == {"a.md": b"second\n", "b.md": b"first\n"}
    assert workspace.undo().conflicts == []
    assert folder.tree() == {"a.md": b"first\n", "b.md": b"second\n"}


def test_a_document_moves_into_the_place_of_one_deleted_in_the_same_turn(folder: Folder) -> None:
    folder.put("a.md", "first\n")
    folder.put("b.md", "second\n")
    workspace = folder.open()
    with workspace.turn(AGENT, "Replace", mode="apply", confirm=yes) as turn:
        turn.delete("b.md", turn.read("b.md").version)
        turn.move("a.md", "b.md", turn.read("a.md").version)
    assert folder.tree() == {"b.md": b"first\n"}
    assert workspace.undo().conflicts == []
    assert folder.tree() == {"a.md": b"first\n", "b.md": b"second\n"}


def test_a_new_document_takes_the_place_of_one_moved_away_in_the_same_turn(folder: Folder) -> None:
    folder.put("a.md", "first\n")
    workspace = folder.open()
    with workspace.turn(AGENT, "Archive", mode="apply") as turn:
        turn.move("a.md", "old/a.md", turn.read("a.md").version)
        turn.create("a.md", "fresh\n")
    assert folder.tree() == {"a.md": b"fresh\n", "old/a.md": b"first\n"}
    assert workspace.undo().conflicts == []
    assert folder.tree() == {"a.md": b"first\n"}


@pytest.mark.parametrize("story", ["swap", "into a deleted one", "a new one in its place"])
def test_a_proposal_that_reuses_a_place_says_all_it_does_or_is_refused(folder: Folder, story: str) -> None:
    folder.put("a.md", "first\n")
    folder.put("b.md", "second\n")
    workspace = folder.open()
    before = folder.tree()
    turn = workspace.turn(AGENT, "Reuse", mode="propose")
    if story == "swap":
        turn.move("a.md", "between.md", turn.read("a.md").version)
        turn.move("b.md", "a.md", turn.read("b.md").version)
        turn.move("between.md", "b.md", turn.read("between.md").version)
    elif story == "into a deleted one":
        turn.delete("b.md", turn.read("b.md").version)
        turn.move("a.md", "b.md", turn.read("a.md").version)
    else:
        turn.move("a.md", "c.md", turn.read("a.md").version)
        turn.create("a.md", "fresh\n")
    with pytest.raises(Refused) as refused:
        turn.commit()
    assert refused.value.code == "conflict"
    assert folder.tree() == before
    assert workspace.drafts() == []


def test_a_document_deleted_and_created_anew_in_one_turn_is_an_edit(folder: Folder) -> None:
    folder.put("a.md", "first\n")
    workspace = folder.open()
    with workspace.turn(AGENT, "Anew", mode="propose") as turn:
        turn.delete("a.md", turn.read("a.md").version)
        turn.create("a.md", "second\n")
    assert draft_of(workspace, "a.md").kind == "modified"
    workspace.accept({"a.md": None})
    assert folder.tree() == {"a.md": b"second\n"}


def test_moving_a_document_onto_itself_does_nothing(folder: Folder) -> None:
    folder.put("a.md", "first\n")
    workspace = folder.open()
    with workspace.turn(PERSON, "Stay") as turn:
        turn.move("a.md", "a.md", turn.read("a.md").version)
    assert workspace.turns() == []
