"""Deciding over HTTP: by hunk, by document, by turn; and taking decisions and turns back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tools.calling import STORY

if TYPE_CHECKING:
    from pathlib import Path

    from server.serving import Server

pytestmark = pytest.mark.slow


def proposed(server: Server) -> list[dict[str, Any]]:
    """Two changes of one document in one turn; its hunks."""
    server.post(
        "/api/tools/batch",
        {
            "calls": [
                {"tool": "edit_text", "arguments": {"path": "story.md", "old_text": "eleven", "new_text": "twelve"}},
                {"tool": "edit_text", "arguments": {"path": "story.md", "old_text": "twice", "new_text": "thrice"}},
            ]
        },
        mode="propose",
    )
    [draft] = server.get("/api/review")["documents"]
    return draft["hunks"]


def text(folder: Path) -> str:
    return (folder / "story.md").read_text(encoding="utf-8")


def test_hunks_are_decided_one_by_one(server: Server, folder: Path):
    first, second = proposed(server)
    assert text(folder) == STORY
    taken = server.post("/api/review/accept", {"hunks": {"story.md": [first["hunk_id"]]}})
    assert (taken["decided"], taken["left"]) == ({"story.md": 1}, {"story.md": 1})
    assert text(folder) == STORY.replace("eleven", "twelve")
    server.post("/api/review/reject", {"hunks": {"story.md": [second["hunk_id"]]}})
    assert server.get("/api/review") == {"documents": []}
    assert text(folder) == STORY.replace("eleven", "twelve")


@pytest.mark.parametrize("choice", [{"hunks": {"story.md": None}}, {"turn": 1}, {"all": True}])
def test_a_document_or_a_turn_is_decided_at_once_and_the_decision_undone(server: Server, folder: Path, choice: Any):
    proposed(server)
    accepted = server.post("/api/review/accept", choice)
    after = STORY.replace("eleven", "twelve").replace("twice", "thrice")
    assert text(folder) == after
    undone = server.post("/api/turns/undo", {"turn": accepted["turn"]["turn"]})
    assert undone["conflicts"] == []
    assert text(folder) == STORY
    assert len(server.get("/api/review/document", path="story.md")["hunks"]) == 2
    server.post("/api/turns/redo")
    assert text(folder) == after


def test_a_choice_names_one_thing(server: Server):
    proposed(server)
    choices: list[dict[str, Any]] = [{}, {"turn": 1, "all": True}, {"hunks": {}, "turn": 1}]
    for choice in choices:
        assert server.refused("POST", "/api/review/accept", choice, 422)["error"] == "invalid_argument"
    assert (
        server.refused("POST", "/api/review/accept", {"hunks": {"story.md": ["h_none"]}}, 404)["error"]
        == "hunk_not_found"
    )
    assert server.refused("POST", "/api/review/accept", {"turn": 99}, 404)["error"] == "turn_not_found"


def test_what_was_shown_is_what_is_accepted(server: Server, folder: Path):
    proposed(server)
    [draft] = server.get("/api/review")["documents"]
    (folder / "story.md").write_text(STORY + "Somebody else.\n", encoding="utf-8")
    told = server.refused(
        "POST", "/api/review/accept", {"all": True, "base_file_hashes": {"story.md": draft["base_file_hash"]}}
    )
    assert told["error"] == "conflict"
    assert text(folder) == STORY + "Somebody else.\n"


def test_a_hunk_is_settled_with_words_of_the_persons_own(server: Server, folder: Path):
    first, _ = proposed(server)
    own = first["base"].replace("eleven", "a hundred")
    server.post("/api/review/hunk/settle", {"path": "story.md", "hunk_id": first["hunk_id"], "text": own})
    assert text(folder) == STORY.replace("eleven", "a hundred")


@pytest.mark.covers("SB-cp-api-get", "SB-cp-api-diff3", "SB-cp-api-rollback")
@pytest.mark.covers("SB-size-manual-split")
def test_a_hunk_is_split_and_each_half_decided_by_itself(server: Server, folder: Path):
    first, _ = proposed(server)
    cut = {"path": "story.md", "hunk_id": first["hunk_id"], "at": len(first["working"]) // 2, "base_at": 0}
    assert server.post("/api/review/hunk/split", cut)["left"] == {"story.md": 3}
    halves = server.get("/api/review/document", path="story.md")["hunks"][:2]
    assert "".join(half["working"] for half in halves) == first["working"]
    server.post("/api/review/reject", {"hunks": {"story.md": [halves[1]["hunk_id"]]}})
    server.post("/api/review/reject", {"hunks": {"story.md": [halves[0]["hunk_id"]]}})
    assert len(server.get("/api/review/document", path="story.md")["hunks"]) == 1
    assert text(folder) == STORY


def test_a_checkpoint_is_shown_compared_and_gone_back_to(server: Server, folder: Path):
    server.tool("edit_text", mode="apply", path="story.md", old_text="eleven", new_text="twelve")
    server.tool("edit_text", mode="apply", path="story.md", old_text="twice", new_text="thrice")
    shown = server.get("/api/agent/checkpoints/1")
    assert (shown["checkpoint_id"], shown["session_id"], shown["job_id"]) == (1, None, None)
    [file] = shown["affected_files"]
    assert file["base_snapshot_hash"].startswith("sha256:")
    [hunk] = file["hunks"]
    assert "-The lighthouse had been dark for twelve years." in hunk["reverse_patch"]
    compared = server.get("/api/agent/checkpoints/1/diff3", file_path="story.md")
    assert compared["checkpoint_base"] == STORY
    assert compared["agent_proposed"] == STORY.replace("eleven", "twelve")
    assert compared["current_file"] == text(folder)
    scoped = {"mode": "scoped_selected", "hunk_ids": [hunk["hunk_id"]]}
    assert server.post("/api/agent/checkpoints/1/rollback", scoped)["status"] == "completed"
    assert text(folder) == STORY.replace("twice", "thrice")
    assert (
        server.post("/api/agent/checkpoints/1/rollback", {"mode": "hard_all", "hunk_ids": []})["status"] == "completed"
    )
    assert text(folder) == STORY
    assert (
        server.refused("POST", "/api/agent/checkpoints/9/rollback", {"mode": "hard_all"}, 404)["error"]
        == "turn_not_found"
    )


def test_a_rollback_that_meets_later_words_names_the_conflict(server: Server, folder: Path):
    server.tool("edit_text", mode="apply", path="story.md", old_text="eleven", new_text="twelve")
    server.tool("edit_text", mode="apply", path="story.md", old_text="twelve", new_text="thirteen")
    [file] = server.get("/api/agent/checkpoints/1")["affected_files"]
    scoped = {"mode": "scoped_selected", "hunk_ids": [file["hunks"][0]["hunk_id"]]}
    told = server.post("/api/agent/checkpoints/1/rollback", scoped)
    assert (told["status"], told["turn"], told["conflicts"][0]["path"]) == ("conflict", None, "story.md")
    assert "thirteen" in text(folder)


def test_the_log_is_whole(server: Server):
    proposed(server)
    server.post("/api/review/accept", {"all": True})
    assert server.get("/api/audit/verify")["intact"] is True
    authors = [line["author"] for line in server.get("/api/audit")["entries"]]
    assert (set(authors[:-1]), authors[-1]) == ({"agent:agent"}, "person:you")


def test_turns_are_listed_by_pages(server: Server):
    for number in range(5):
        server.post("/api/documents", {"path": f"{number}.md"})
    first = server.get("/api/turns", limit=3)
    rest = server.get("/api/turns", limit=3, before=first["next_before"])
    assert [turn["turn"] for turn in (*first["turns"], *rest["turns"])] == [5, 4, 3, 2, 1]
    assert rest["next_before"] is None
    assert [turn["turn"] for turn in server.get("/api/turns", path="2.md")["turns"]] == [3]
    assert "2.md" in server.get("/api/turns/3")["documents"][0]["patch"]


def test_one_documents_review_is_asked_for_alone_and_may_be_empty(server: Server, folder: Path):
    (folder / "calm.md").write_text("Calm.\n", encoding="utf-8")
    server.tool("edit_text", path="story.md", old_text="eleven", new_text="twelve")
    server.tool("edit_text", path="calm.md", old_text="Calm", new_text="Quiet")
    assert [draft["path"] for draft in server.get("/api/review", path="story.md")["documents"]] == ["story.md"]
    server.post("/api/review/accept", {"hunks": {"story.md": None}})
    assert server.get("/api/review", path="story.md") == {"documents": []}
