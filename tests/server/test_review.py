"""Deciding over HTTP: by hunk, by document, by turn; and taking decisions and turns back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.running import Program
from tests.tools.calling import STORY

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.serving import Server

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


def hunks_of_rewriting(server: Server, path: str, content: str) -> list[dict[str, Any]]:
    """The hunks that a new text of a whole document is cut into."""
    server.tool(
        "write_document", path=path, content=content, version=server.tool("read_document", path=path)["version"]
    )
    return server.get("/api/review/document", path=path)["hunks"]


def text(folder: Path) -> str:
    return (folder / "story.md").read_text(encoding="utf-8")


@pytest.mark.covers("SB-review-accept", "SB-review-reject", "SB-dec-reject-reverts")
def test_hunks_are_decided_one_by_one(server: Server, folder: Path):
    first, second = proposed(server)
    assert text(folder) == STORY
    taken = server.post("/api/review/accept", {"hunks": {"story.md": [first["hunk_id"]]}})
    assert (taken["decided"], taken["left"]) == ({"story.md": 1}, {"story.md": 1})
    assert text(folder) == STORY.replace("eleven", "twelve")
    server.post("/api/review/reject", {"hunks": {"story.md": [second["hunk_id"]]}})
    assert server.get("/api/review") == {"documents": []}
    assert text(folder) == STORY.replace("eleven", "twelve")
    nothing = server.refused("GET", "/api/review/document", None, 404, path="story.md")
    assert "nothing to decide" in nothing["suggestion"]


@pytest.mark.parametrize("choice", [{"hunks": {"story.md": None}}, {"turn": 1}, {"all": True}])
@pytest.mark.covers("SB-review-accept-file", "ML-record-accept", "ML-diffsys-status")
def test_a_document_or_a_turn_is_decided_at_once_and_the_decision_undone(server: Server, folder: Path, choice: Any):
    proposed(server)
    (folder / "calm.md").write_text("Calm.\n", encoding="utf-8")
    server.tool("edit_text", path="calm.md", old_text="Calm", new_text="Quiet")
    accepted = server.post("/api/review/accept", choice)
    calm = (folder / "calm.md").read_text(encoding="utf-8")
    assert calm == ("Quiet.\n" if "all" in choice else "Calm.\n"), "another document's hunk still waits"
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


@pytest.mark.covers("RD-settle-told")
def test_who_accepts_a_conflict_is_told_how_to_settle_it(server: Server, folder: Path):
    first, _ = proposed(server)
    (folder / "story.md").write_text(STORY.replace("eleven", "ninety"), encoding="utf-8")
    name = first["hunk_id"]
    told = server.refused("POST", "/api/review/accept", {"hunks": {"story.md": [name]}})
    assert (told["error"], told["details"]["hunk_id"]) == ("conflict", name)
    for words in (f"`redraft settle {name} --mine`", "--theirs", "--both", "/api/review/hunk/settle"):
        assert words in told["suggestion"]
    assert Program(folder).ok("settle", name, "--theirs").startswith("Settled 1 hunk in story.md")
    assert first["working"] in text(folder)


def test_a_hunk_is_settled_with_words_of_the_persons_own(server: Server, folder: Path):
    first, _ = proposed(server)
    own = first["base"].replace("eleven", "a hundred")
    server.post("/api/review/hunk/settle", {"path": "story.md", "hunk_id": first["hunk_id"], "text": own})
    assert text(folder) == STORY.replace("eleven", "a hundred")


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


@pytest.mark.covers(
    "SB-cp-api-get",
    "SB-cp-api-diff3",
    "SB-cp-api-rollback",
    "SB-cp-file-fields",
    "SB-cp-diff3",
    "SB-cp-before-run",
    "SB-cp-reopen",
    "SB-rb-selected",
    "SB-rb-hard",
    "SB-rb-scoped-keeps",
    "TK-checkpoint-any-point",
)
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


@pytest.mark.covers("SB-rb-scoped-conflict")
def test_a_rollback_that_meets_later_words_names_the_conflict(server: Server, folder: Path):
    server.tool("edit_text", mode="apply", path="story.md", old_text="eleven", new_text="twelve")
    server.tool("edit_text", mode="apply", path="story.md", old_text="twelve", new_text="thirteen")
    [file] = server.get("/api/agent/checkpoints/1")["affected_files"]
    scoped = {"mode": "scoped_selected", "hunk_ids": [file["hunks"][0]["hunk_id"]]}
    told = server.post("/api/agent/checkpoints/1/rollback", scoped)
    [conflict] = told["conflicts"]
    assert (told["status"], told["turn"]) == ("conflict", None)
    assert (conflict["path"], conflict["hunk_id"]) == ("story.md", scoped["hunk_ids"][0])
    assert conflict["reason"]
    assert text(folder) == STORY.replace("eleven", "thirteen"), "it is left for the person"


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


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("We use it daily.", "Daily we use it."),
        ("Now we go home.", "We go home now."),
        ("We use it daily.", "Daily they use it."),
        ("The red and blue car.", "The blue and red car."),
        ("She still sings songs.", "She sings songs still."),
        ("The male members of it came.", "The members of male it came."),
        ("They are allowed to return.", "They are to return allowed."),
    ],
)
def test_a_word_that_moves_within_its_sentence_is_one_hunk(server: Server, folder: Path, old: str, new: str):
    whole = f"Before it. {old} Behind it.\n"
    (folder / "move.md").write_text(whole, encoding="utf-8")
    for verdict, left in (("reject", whole), ("accept", whole.replace(old, new))):
        server.tool("edit_text", path="move.md", old_text=old, new_text=new)
        [hunk] = server.get("/api/review/document", path="move.md")["hunks"]
        server.post(f"/api/review/{verdict}", {"hunks": {"move.md": [hunk["hunk_id"]]}})
        assert (folder / "move.md").read_text(encoding="utf-8") == left
        assert server.get("/api/review") == {"documents": []}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("fast: yes\nsafe: no\n", "fast: no\nsafe: yes\n"),
        ("We use it daily. It is old.\n", "We use it. It is old daily.\n"),
        ("We have the big house.\n", "They have a big house near the lake.\n"),
    ],
)
def test_equal_words_of_several_lines_or_sentences_are_decided_one_by_one(
    server: Server, folder: Path, old: str, new: str
):
    (folder / "apart.md").write_text(old, encoding="utf-8")
    server.tool("edit_text", path="apart.md", old_text=old, new_text=new)
    assert len(server.get("/api/review/document", path="apart.md")["hunks"]) > 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("It rains. Go home.", "Go home. It rains."),
        ("I came. I saw.", "I saw. I came."),
        ("The cat sat there. The dog ran off.", "The dog ran off. The cat sat there."),
        ("The cat sat on the old mat. The dog ran off.", "The dog ran off. The cat lay on the old mat."),
        ("- apples\n- pears", "- pears\n- apples"),
    ],
)
def test_sentences_and_lines_that_change_places_are_one_hunk_and_others_stay_apart(
    server: Server, folder: Path, old: str, new: str
):
    whole = f"Three before it.\n{old}\nFour behind it.\n"
    (folder / "swap.md").write_text(whole, encoding="utf-8")
    changed = whole.replace(old, new)
    rewritten = changed.replace("Three", "Five").replace("Four", "Six")
    first, swap, last = hunks_of_rewriting(server, "swap.md", rewritten)
    assert [(hunk["base"], hunk["working"]) for hunk in (first, last)] == [("Three", "Five"), ("Four", "Six")]
    server.post("/api/review/reject", {"hunks": {"swap.md": [first["hunk_id"], last["hunk_id"]]}})
    server.post("/api/review/accept", {"hunks": {"swap.md": [swap["hunk_id"]]}})
    assert (folder / "swap.md").read_text(encoding="utf-8") == changed


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("5.00", "7.50"),
        ("1,200,000.50", "1,300,000.75"),
        ("7,50", "8,20"),
        ("v1.2.3-rc.1", "v1.3.0-rc.2"),
        ("2024-01-05T10:30", "2025-01-06T11:30"),
        ("05.01.2024", "06.01.2025"),
        ("05/01/2024", "06/01/2025"),
        ("10:30", "11:45"),
        ("https://a.example.com/x/y?z=1", "https://b.example.com/x/q?z=2"),
        ("example.com/x/y", "sample.com/x/z"),
        ("ann.smith@example.com", "bob.smith@sample.com"),
        ("read_first_line", "read_last_word"),
        ("os.path.join", "op.path.split"),
    ],
)
def test_a_number_an_address_and_a_name_in_code_are_one_word(server: Server, folder: Path, old: str, new: str):
    (folder / "figures.md").write_text(f"We had ({old}), as planned.\n", encoding="utf-8")
    hunks = hunks_of_rewriting(server, "figures.md", f"We got ({new}), as hoped.\n")
    assert [(hunk["base"], hunk["working"]) for hunk in hunks] == [("had", "got"), (old, new), ("planned", "hoped")]


def test_a_short_word_that_stays_between_two_changes_parts_them(server: Server, folder: Path):
    (folder / "use.md").write_text("The utilization of methodologies in it.\n", encoding="utf-8")
    hunks = hunks_of_rewriting(server, "use.md", "The use of methods in it.\n")
    assert [(hunk["base"], hunk["working"]) for hunk in hunks] == [("utilization", "use"), ("methodologies", "methods")]
