"""Pictures put into the folder: a turn of the person's, which can be undone, and never over anything."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.errors import RedraftError, Refused
from redraft.files.paths import name_fault
from redraft.workspace.pictures import MAX_PICTURE, safe_stem
from tests.formats.pictures import GIF, IMPOSTORS, png
from tests.workspace.folder import PERSON

if TYPE_CHECKING:
    from redraft.workspace.workspace import Workspace
    from tests.workspace.folder import Folder


@pytest.fixture
def workspace(folder: Folder) -> Workspace:
    folder.put("notes/plan.md", "Words.\n")
    return folder.open()


def add(workspace: Workspace, name: str = "lamp.png", data: bytes = b"", document: str = "notes/plan.md") -> str:
    return workspace.add_picture(document, name, data or png(), author=PERSON).path


def test_a_picture_lies_beside_its_document_and_is_the_persons_turn(folder: Folder, workspace: Workspace):
    added = workspace.add_picture("notes/plan.md", "My lamp.PNG", png(), author=PERSON)
    assert (added.path, added.source) == ("notes/images/My-lamp.png", "images/My-lamp.png")
    assert folder.bytes(added.path) == png()
    [turn] = workspace.turns()
    assert added.turn == turn
    assert (turn.author, turn.paths) == (PERSON, ("notes/images/My-lamp.png",))
    assert workspace.verify_audit().intact


def test_undo_takes_the_picture_and_its_folder_away_and_redo_brings_them_back(folder: Folder, workspace: Workspace):
    before = folder.tree()
    add(workspace)
    assert workspace.undo().conflicts == []
    assert folder.tree() == before
    assert not (folder.path / "notes/images").exists()
    workspace.redo()
    assert folder.bytes("notes/images/lamp.png") == png()


def test_undo_leaves_a_picture_that_somebody_changed_since(folder: Folder, workspace: Workspace):
    add(workspace)
    folder.put("notes/images/lamp.png", png(red=1))
    assert workspace.undo().conflicts
    assert folder.bytes("notes/images/lamp.png") == png(red=1)


def test_a_name_that_is_taken_gets_a_number_and_the_same_picture_is_stored_once(folder: Folder, workspace: Workspace):
    folder.put("notes/images/lamp.png", "somebody's own")
    assert add(workspace) == "notes/images/lamp-2.png"
    assert add(workspace, data=png(red=1)) == "notes/images/lamp-3.png"
    assert add(workspace) == "notes/images/lamp-2.png"
    assert folder.text("notes/images/lamp.png") == "somebody's own"
    assert len(workspace.turns()) == 2


def test_the_extension_is_that_of_the_content(workspace: Workspace):
    assert add(workspace, "lamp.png", GIF) == "notes/images/lamp.gif"


@pytest.mark.parametrize("name", IMPOSTORS)
def test_what_is_no_picture_is_not_stored_and_not_shown(folder: Folder, workspace: Workspace, name: str):
    before = folder.tree()
    with pytest.raises(Refused) as stored:
        workspace.add_picture("notes/plan.md", name, IMPOSTORS[name], author=PERSON)
    assert folder.tree() == before
    folder.put(name, IMPOSTORS[name])
    with pytest.raises(Refused) as shown:
        workspace.read_picture(name)
    assert stored.value.code == shown.value.code == "unsupported_file_type"


def test_a_picture_that_is_too_large_is_refused(workspace: Workspace):
    with pytest.raises(Refused) as refused:
        add(workspace, data=png() + bytes(MAX_PICTURE))
    assert refused.value.code == "too_large"


@pytest.mark.parametrize("document", ["none.md", "../plan.md", ".git/plan.md", "/etc/plan.md", "notes/images"])
def test_a_picture_goes_only_beside_a_document_of_the_folder(folder: Folder, workspace: Workspace, document: str):
    before = folder.tree()
    with pytest.raises(RedraftError):
        add(workspace, document=document)
    assert folder.tree() == before


@pytest.mark.parametrize("place", ["images", "images/lamp.png"])
def test_nothing_is_written_through_a_link(folder: Folder, workspace: Workspace, place: str):
    outside = folder.path.parent / "outside"
    outside.mkdir()
    target = folder.path / "notes" / place
    target.parent.mkdir(exist_ok=True)
    os.symlink(outside if place == "images" else outside / "x.png", target)
    with pytest.raises(RedraftError) as refused:
        add(workspace)
    assert refused.value.code == "outside_folder"
    assert list(outside.iterdir()) == []


def test_a_picture_that_a_link_leads_to_is_not_shown(folder: Folder, workspace: Workspace):
    outside = folder.path.parent / "outside.png"
    outside.write_bytes(png())
    os.symlink(outside, folder.path / "lamp.png")
    with pytest.raises(RedraftError) as refused:
        workspace.read_picture("lamp.png")
    assert refused.value.code == "outside_folder"


@given(st.text(max_size=300) | st.sampled_from(["con.png", "..", "a/b\\c.png", ".hidden.png", "x" * 300, "ß😀.gif"]))
def test_any_name_becomes_one_that_every_disk_and_markdown_can_have(name: str):
    stem = safe_stem(name)
    assert name_fault(f"{stem}-999.webp") is None
    assert not stem.startswith((".", "-"))
    assert not set(stem) & set(" ()[]<>\"'`\\/*%#?&:")
