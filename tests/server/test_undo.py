"""Undo over HTTP where somebody has typed, renamed or decided since: it keeps that, or says what stands in its way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.serving import Server

pytestmark = pytest.mark.slow
CAT = "The cat sat.\n"


def type_over(server: Server, path: str, old: str, new: str) -> str:
    """Replace words of a document without saving; what it says then."""
    shown = server.get("/api/documents", path=path)
    tab = server.post("/api/tabs", {"path": path})["tab_id"]
    edits = [{"at": shown["content"].index(old), "old": old, "new": new}]
    server.post(f"/api/tabs/{tab}/type", {"version": shown["version"], "edits": edits})
    return server.get("/api/documents", path=path)["content"]


def applied(server: Server, folder: Path, old: str, new: str) -> int:
    """An agent's edit of `cat.md`, written at once; its turn."""
    (folder / "cat.md").write_text(CAT, encoding="utf-8")
    return server.tool("edit_text", mode="apply", path="cat.md", old_text=old, new_text=new)["turn"]


def waiting(server: Server) -> list[dict[str, Any]]:
    return [hunk for draft in server.get("/api/review")["documents"] for hunk in draft["hunks"]]


@pytest.mark.covers("P5", "P6")
@pytest.mark.parametrize(
    ("agent", "old", "new"),
    [
        ("black cat", "lack", "right"),
        ("black cat", "black", "white"),
        ("cat that you know", "you", "we"),
    ],
)
def test_undo_of_an_applied_turn_is_refused_over_typing_within_its_words(
    server: Server, folder: Path, agent: str, old: str, new: str
):
    turn = applied(server, folder, "cat", agent)
    typed = type_over(server, "cat.md", old, new)
    before = (folder / "cat.md").read_text(encoding="utf-8")
    [mine] = waiting(server)
    answer = server.post("/api/turns/undo", {"turn": turn})
    assert answer["turn"] is None
    assert [clash["path"] for clash in answer["conflicts"]] == ["cat.md"]
    assert "unsaved typing" in answer["conflicts"][0]["reason"]
    assert (folder / "cat.md").read_text(encoding="utf-8") == before
    assert server.get("/api/documents", path="cat.md")["content"] == typed
    assert waiting(server) == [mine]
    assert (mine["author"], mine["conflict"]) == ("user", False)


@pytest.mark.covers("P5", "P6")
@pytest.mark.parametrize(
    ("agent", "old", "new", "left"),
    [
        ("black cat", "sat", "stood", "The cat stood.\n"),
        ("black cat", "black", "big black", "The big cat sat.\n"),
        ("dog", "dog", "bird", "The bird sat.\n"),
        ("old black cat", "old ", "old blind ", "The blind cat sat.\n"),
    ],
)
def test_undo_of_an_applied_turn_takes_back_its_words_and_keeps_what_was_typed_between_them(
    server: Server, folder: Path, agent: str, old: str, new: str, left: str
):
    turn = applied(server, folder, "cat", agent)
    type_over(server, "cat.md", old, new)
    assert server.post("/api/turns/undo", {"turn": turn})["conflicts"] == []
    assert (folder / "cat.md").read_text(encoding="utf-8") == CAT
    assert server.get("/api/documents", path="cat.md")["content"] == left
    assert [(hunk["author"], hunk["conflict"]) for hunk in waiting(server)] == [("user", False)]


@pytest.mark.covers("P5", "P6")
def test_undo_of_a_deletion_keeps_what_was_typed_before_it_as_typing_over_the_file(server: Server, folder: Path):
    """The deletion was restored, typed over and saved; all of that is undone first."""
    (folder / "cat.md").write_text(CAT, encoding="utf-8")
    server.post("/api/tools/delete_document", {"path": "cat.md"}, mode="apply", agree="true")
    server.post("/api/turns/1/restore")
    type_over(server, "cat.md", "cat", "old cat")
    server.post(f"/api/tabs/{server.post('/api/tabs', {'path': 'cat.md'})['tab_id']}/save")
    for turn in (3, 2, 1):
        assert server.post("/api/turns/undo", {"turn": turn})["conflicts"] == []
    assert (folder / "cat.md").read_text(encoding="utf-8") == CAT
    assert server.get("/api/documents", path="cat.md")["content"] == "The old cat sat.\n"
    assert [(hunk["author"], hunk["conflict"], hunk["base"]) for hunk in waiting(server)] == [("user", False, "")]


@pytest.mark.covers("P5", "P6")
@pytest.mark.parametrize("restored", [False, True])
def test_undo_of_an_acceptance_proposes_again_what_an_undone_save_typed_into(
    server: Server, folder: Path, restored: bool
):
    """The words may wait again because a restore brought them back, and be accepted once more."""
    (folder / "cat.md").write_text(CAT, encoding="utf-8")
    server.tool("edit_text", path="cat.md", old_text="cat", new_text="cat that you know")
    turns = [1, server.post("/api/review/accept", {"all": True})["turn"]["turn"]]
    if restored:
        turns.append(server.post("/api/turns/2/restore")["turn"]["turn"])
        turns.append(server.post("/api/review/accept", {"all": True})["turn"]["turn"])
    typed = type_over(server, "cat.md", "you know", "you may know")
    tab = server.post("/api/tabs", {"path": "cat.md"})["tab_id"]
    turns.append(server.post(f"/api/tabs/{tab}/save")["turn"]["turn"])
    for turn in reversed(turns[1:]):
        assert server.post("/api/turns/undo", {"turn": turn})["conflicts"] == []
        assert server.get("/api/documents", path="cat.md")["content"] == typed
    assert (folder / "cat.md").read_text(encoding="utf-8") == CAT
    assert [hunk["author"] for hunk in waiting(server)] == ["mixed"]
    assert server.post("/api/turns/undo", {"turn": 1})["conflicts"] == []
    assert "may" in server.get("/api/documents", path="cat.md")["content"]
    assert [hunk["author"] for hunk in waiting(server)] == ["user"]


@pytest.mark.covers("P5", "P6")
def test_undo_of_a_rejected_move_takes_typing_along_that_an_undone_save_left(server: Server, folder: Path):
    (folder / "cat.md").write_text(CAT, encoding="utf-8")
    server.tool("move_document", from_path="cat.md", to_path="tom.md")
    server.post("/api/review/reject", {"hunks": {"tom.md": ["file"]}})
    typed = type_over(server, "cat.md", "cat", "old cat")
    saved = server.post(f"/api/tabs/{server.post('/api/tabs', {'path': 'cat.md'})['tab_id']}/save")["turn"]["turn"]
    assert server.post("/api/turns/undo", {"turn": saved})["conflicts"] == []
    assert server.post("/api/turns/undo", {"turn": 2})["conflicts"] == []
    [draft] = server.get("/api/review")["documents"]
    assert (draft["path"], draft["base_path"]) == ("tom.md", "cat.md")
    assert server.get("/api/documents", path="tom.md")["content"] == typed
    assert server.post("/api/turns/undo", {"turn": 1})["conflicts"] == []
    assert server.get("/api/documents", path="cat.md")["content"] == typed
    assert (folder / "cat.md").read_text(encoding="utf-8") == CAT
    assert [hunk["author"] for hunk in waiting(server)] == ["user"]


@pytest.mark.covers("P5", "P6")
@pytest.mark.parametrize("typing", [("cat", "old cat"), ("cat sat", "dog lay")])
def test_undo_of_a_refused_deletion_keeps_typing_that_an_undone_save_left(
    server: Server, folder: Path, typing: tuple[str, str]
):
    (folder / "cat.md").write_text(CAT, encoding="utf-8")
    server.post("/api/tools/delete_document", {"path": "cat.md"}, mode="propose", agree="true")
    server.post("/api/review/reject", {"hunks": {"cat.md": ["file"]}})
    typed = type_over(server, "cat.md", *typing)
    server.post(f"/api/tabs/{server.post('/api/tabs', {'path': 'cat.md'})['tab_id']}/save")
    for turn in (3, 2):
        assert server.post("/api/turns/undo", {"turn": turn})["conflicts"] == []
    assert [draft["kind"] for draft in server.get("/api/review")["documents"]] == ["deleted"]
    assert server.post("/api/turns/undo", {"turn": 1})["conflicts"] == []
    assert (folder / "cat.md").read_text(encoding="utf-8") == CAT
    assert server.get("/api/documents", path="cat.md")["content"] == typed
    assert {(hunk["author"], hunk["conflict"]) for hunk in waiting(server)} == {("user", False)}
