"""Versions, tabs, turns, modes and reviews as a client of the folder's server meets them.

One server for all: each test has documents of its own, and looks at the disk itself.
"""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest

from tests.server.serving import serving

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from tests.server.serving import Client, Server

WORDS = ("Amber", "Birch", "Cedar", "Delta", "Ember")
POEM = "".join(f"{word} stands alone in its own paragraph.\n\n" for word in WORDS)


def put(shelf: Path, name: str, text: str = POEM) -> str:
    (shelf / name).parent.mkdir(parents=True, exist_ok=True)
    (shelf / name).write_bytes(text.encode())
    return name


def on_disk(shelf: Path, name: str) -> str:
    return (shelf / name).read_bytes().decode()


def edit(server: Client, path: str, old: str, new: str, mode: str = "apply") -> Any:
    return server.tool("edit_text", mode=mode, path=path, old_text=old, new_text=new)


def version(server: Client, path: str) -> str:
    return server.get("/api/documents", path=path)["version"]


def hunks(server: Client, path: str) -> list[dict[str, Any]]:
    return server.get("/api/review/document", path=path)["hunks"]


def last_turn(server: Client) -> dict[str, Any]:
    return server.get("/api/turns", limit=1)["turns"][0]


def shown(server: Client, number: int) -> dict[str, Any]:
    return server.get(f"/api/turns/{number}")["turn"]


def agreed(server: Client, tool: str, **arguments: Any) -> Any:
    return server.post(f"/api/tools/{tool}", arguments, mode="apply", agree="true")


# Versions


@pytest.mark.covers(
    "TK-version-any-edit",
    "TK-version-fresh-accepted",
    "TK-version-opaque",
    "TK-version-mismatch-shape",
    "RD-decided-version",
    "SB-guard-hash",
)
def test_a_version_is_good_until_the_content_changes_and_again_when_it_is_back(server: Server, shelf: Path):
    path = put(shelf, "version.md", "one\ntwo\nthree\n")
    first = version(server, path)
    assert re.fullmatch(r"\S+", first)
    answer = server.tool(
        "replace_lines", mode="apply", path=path, version=first, start_line=1, end_line=1, content="two!"
    )
    assert answer["version"] == version(server, path) != first
    stale = {"path": path, "version": first, "start_line": 1, "end_line": 1, "content": "2"}
    told = server.refused("POST", "/api/tools/replace_lines", stale, mode="apply")
    assert (told["error"], told["your_version"], told["current_version"]) == (
        "version_mismatch",
        first,
        answer["version"],
    )
    assert told["suggestion"] == "Read the document again and repeat the edit with its new version."
    assert on_disk(shelf, path) == "one\ntwo!\nthree\n"
    put(shelf, path, "one\ntwo\nthree\n")
    assert version(server, path) == first
    os.utime(shelf / path)
    assert version(server, path) == first, "touching is no change"
    assert server.tool("replace_lines", mode="apply", **stale)["version"] != first
    assert on_disk(shelf, path) == "one\n2\nthree\n"


@pytest.mark.covers("TK-version-reject-same", "TK-review-reject-restores", "SB-state-three-texts")
def test_a_rejected_proposal_leaves_the_version_as_it_was(server: Server, shelf: Path):
    path = put(shelf, "rejected.md")
    before = version(server, path)
    edit(server, path, "Amber", "Agate", "propose")
    assert version(server, path) != before
    [hunk] = hunks(server, path)
    assert ("Amber" in hunk["base"], "Agate" in hunk["working"], on_disk(shelf, path)) == (True, True, POEM)
    server.post("/api/review/reject", {"hunks": {path: None}})
    assert (version(server, path), server.get("/api/documents", path=path)["content"]) == (before, POEM)


@pytest.mark.covers("TK-scope-save-keeps", "TK-tabs-unsaved")
def test_saving_keeps_the_version_and_a_tab_is_dirty_until_then(server: Server, shelf: Path):
    def is_dirty() -> bool:
        return next(each for each in server.tool("list_tabs")["tabs"] if each["tab_id"] == tab)["is_dirty"]

    path = put(shelf, "saved.md")
    tab = server.post("/api/tabs", {"path": path})["tab_id"]
    assert not is_dirty()
    server.post(f"/api/tabs/{tab}/type", {"content": POEM + "More.\n"})
    assert is_dirty()
    typed = version(server, path)
    server.post(f"/api/tabs/{tab}/save")
    assert (version(server, path), on_disk(shelf, path)) == (typed, POEM + "More.\n")
    assert not is_dirty()
    server.post(f"/api/tabs/{tab}/type", {"content": POEM})
    assert is_dirty()
    server.post(f"/api/tabs/{tab}/type", {"content": POEM + "More.\n"})
    assert not is_dirty(), "what was typed is what is on the disk"


@pytest.mark.covers("TK-delete-intent")
def test_the_history_names_a_deletion_of_lines_as_one(server: Server, shelf: Path):
    path = put(shelf, "lines.md")
    lines = {"path": path, "start_line": 2, "end_line": 4}
    server.tool("delete_lines", mode="apply", version=version(server, path), **lines)
    assert last_turn(server)["title"] == "Delete lines 2 to 4 of lines.md"
    server.tool("replace_lines", mode="apply", version=version(server, path), content="", **lines)
    assert last_turn(server)["title"] == "Replace lines 2 to 4 of lines.md"


@pytest.mark.covers("TK-version-rollback-restores", "TK-history-restore-new", "RD-decided-rollback", "SB-rb-all")
@pytest.mark.parametrize("way", ["undo", "restore", "rollback"])
def test_going_back_gives_the_checkpoints_version_in_a_turn_of_its_own(server: Server, shelf: Path, way: str):
    path = put(shelf, f"{way}.md")
    checkpoint = version(server, path)
    new = {"Amber": "Agate", "Cedar": "Coral", "Ember": "Emerald"}
    calls = [
        {"tool": "edit_text", "arguments": {"path": path, "old_text": old, "new_text": text}}
        for old, text in new.items()
    ]
    agreed(server, "batch", calls=calls)
    assert "Emerald" in on_disk(shelf, path)
    number = last_turn(server)["turn"]
    if way == "undo":
        server.post("/api/turns/undo", {"turn": number})
    elif way == "restore":
        server.post(f"/api/turns/{number}/restore")
    else:
        server.post(f"/api/agent/checkpoints/{number}/rollback", {"mode": "hard_all"})
    assert (version(server, path), on_disk(shelf, path)) == (checkpoint, POEM)
    assert last_turn(server)["turn"] > number
    assert shown(server, number)["turn"] == number


@pytest.mark.covers("TK-checkpoint-any-point", "TK-checkpoint-per-document", "TK-history-restore-new")
def test_any_of_five_checkpoints_can_be_gone_back_to_and_all_stay(server: Server, shelf: Path):
    path = put(shelf, "five.md")
    text, before = POEM, dict[int, str]()
    for word in WORDS:
        edit(server, path, word, f"{word} again")
        before[last_turn(server)["turn"]] = text
        text = text.replace(word, f"{word} again")
        assert on_disk(shelf, path) == text
    made = list(before)
    for number in (made[2], made[4], made[0], made[3], made[1]):
        server.post(f"/api/turns/{number}/restore")
        assert on_disk(shelf, path) == before[number]
    listed = [each["turn"] for each in server.get("/api/turns", path=path)["turns"]]
    assert (listed[5:], len(listed)) == (made[::-1], 10)


# Tabs


@pytest.mark.covers("TK-tab-id-stable", "TK-tab-id-new", "TK-tab-id-save-as")
def test_a_tab_keeps_its_id_until_it_is_closed(server: Server, shelf: Path):
    path = put(shelf, "tab.md")
    tab = server.post("/api/tabs", {"path": path})["tab_id"]
    edit(server, path, "Amber", "Agate")
    assert server.post("/api/tabs", {"path": path})["tab_id"] == tab
    server.post("/api/documents/move", {"path": path, "to": "tab-moved.md", "version": version(server, path)})
    assert server.get(f"/api/tabs/{tab}")["path"] == "tab-moved.md"
    server.post(f"/api/tabs/{tab}", method="DELETE")
    assert server.refused("GET", f"/api/tabs/{tab}", None, 404)["error"] == "invalid_tab_id"
    assert server.post("/api/tabs", {"path": "tab-moved.md"})["tab_id"] != tab


@pytest.mark.covers("TK-create-title-exists", "TK-review-reject-restores")
def test_a_title_is_free_again_when_the_new_document_was_rejected(server: Server, shelf: Path):
    wish = {"title": "chosen.md", "content": "First.\n"}
    made = server.tool("create_document", mode="propose", **wish)
    assert server.refused("POST", "/api/tools/create_document", wish, mode="propose")["error"] == "title_exists"
    server.post("/api/review/reject", {"turn": made["turn"]})
    again = server.tool("create_document", mode="propose", title="chosen.md", content="Second.\n")
    server.post("/api/review/accept", {"turn": again["turn"]})
    assert on_disk(shelf, "chosen.md") == "Second.\n"


@pytest.mark.covers("TK-tab-id-session")
def test_a_tab_of_an_earlier_run_is_the_same_tab_or_refused(tmp_path: Path):
    folder = tmp_path / "notes"
    folder.mkdir()
    put(folder, "a.md")
    with serving(folder) as server:
        tab = server.post("/api/tabs", {"path": "a.md"})["tab_id"]
        gone = server.post("/api/tabs", {"path": put(folder, "b.md")})["tab_id"]
        server.post(f"/api/tabs/{gone}", method="DELETE")
    with serving(folder) as server:
        assert server.get(f"/api/tabs/{tab}")["path"] == "a.md"
        assert server.refused("GET", f"/api/tabs/{gone}", None, 404)["error"] == "invalid_tab_id"


@pytest.mark.covers("TK-tabs-no-params", "TK-tabs-active-id", "TK-principle-active-tab")
def test_tabs_are_listed_with_their_fields_and_the_active_one_is_meant(server: Server, shelf: Path):
    one = server.post("/api/tabs", {"path": put(shelf, "listed.md", "One\ntwo\n")})["tab_id"]
    server.post("/api/tabs", {"path": put(shelf, "other.txt", "x")})
    answer = server.post("/api/tools/list_tabs", {}, tab=one)
    assert answer["active_tab_id"] == one
    found = {tab["tab_id"]: tab for tab in answer["tabs"]}[one]
    wanted = {"title": "listed.md", "path": "listed.md", "file_type": "markdown", "is_active": True, "is_dirty": False}
    assert wanted.items() <= found.items()
    assert (found["size_chars"], found["line_count"], found["version"]) == (8, 2, version(server, "listed.md"))
    assert server.refused("POST", "/api/tools/list_tabs", {"x": 1}, 422)["error"] == "invalid_argument"
    assert server.post("/api/tools/read_document", {}, tab=one)["content"] == "One\ntwo\n"


# Turns


@pytest.mark.covers("TK-turn-staged", "TK-turn-failed", "TK-principle-atomic-call", "ML-err-rollback")
@pytest.mark.covers("RD-turn-own-writes")
def test_a_turn_sees_its_own_writes_and_stands_whole_or_not_at_all(server: Server, shelf: Path):
    path = put(shelf, "whole.md", "one\n")
    count = last_turn(server)["turn"] if server.get("/api/turns")["turns"] else 0
    own = [
        {"tool": "edit_text", "arguments": {"path": path, "old_text": "one", "new_text": "two"}},
        {"tool": "edit_text", "arguments": {"path": path, "old_text": "two", "new_text": "three"}},
        {"tool": "create_document", "arguments": {"path": "whole-new.md", "content": "x"}},
    ]
    broken = [*own, {"tool": "edit_text", "arguments": {"path": path, "old_text": "nowhere", "new_text": "x"}}]
    server.refused("POST", "/api/tools/batch", {"calls": broken}, 409, mode="apply")
    assert (on_disk(shelf, path), (shelf / "whole-new.md").exists()) == ("one\n", False)
    assert (last_turn(server)["turn"] if count else 0) == count
    server.post("/api/tools/batch", {"calls": own}, mode="apply")
    assert (on_disk(shelf, path), on_disk(shelf, "whole-new.md")) == ("three\n", "x")
    assert set(last_turn(server)["paths"]) == {path, "whole-new.md"}


def tidy_up(server: Server, shelf: Path, name: str) -> int:
    """A turn of four calls that edits, creates, moves and deletes documents whose names begin so; gives its number."""
    for part in ("edit", "move", "gone"):
        put(shelf, f"{name}-{part}.md")
    for part in ("edit", "gone"):
        server.tool("read_document", path=f"{name}-{part}.md")
    calls = [
        {"tool": "edit_text", "arguments": {"path": f"{name}-edit.md", "old_text": "Amber", "new_text": "Agate"}},
        {"tool": "create_document", "arguments": {"path": f"{name}-new.md", "content": "New.\n"}},
        {"tool": "move_document", "arguments": {"from_path": f"{name}-move.md", "to_path": f"{name}/moved.md"}},
        {"tool": "delete_document", "arguments": {"path": f"{name}-gone.md"}},
    ]
    agreed(server, "batch", calls=calls, title="Tidy up")
    return last_turn(server)["turn"]


@pytest.mark.covers("ML-cp-read-none")
def test_reading_makes_no_checkpoint(server: Server, shelf: Path):
    path = put(shelf, "only-read.md")
    before = server.get("/api/turns")["turns"]
    server.tool("read_document", path=path)
    assert server.get("/api/turns")["turns"] == before


@pytest.mark.covers("TK-turn-many-calls", "ML-optimistic-diff", "ML-change-content", "ML-diffsys-before")
def test_all_calls_of_a_turn_are_one_turn_with_a_patch_for_each_document(server: Server, shelf: Path):
    before = tidy_up(server, shelf, "t-first")
    number = tidy_up(server, shelf, "t")
    assert number == before + 1
    turn = server.get(f"/api/turns/{number}")
    assert (turn["turn"]["turn"], turn["turn"]["title"]) == (number, "Tidy up")
    made = datetime.fromisoformat(turn["turn"]["created_at"])
    assert timedelta() <= datetime.now(UTC) - made < timedelta(minutes=10)
    patches = {each["path"]: each["patch"] for each in turn["documents"]}
    assert "-Amber" in patches["t-edit.md"]
    assert "+Agate" in patches["t-edit.md"]
    assert "\nnew file" in patches["t-new.md"]
    assert "\ndeleted file" in patches["t-gone.md"]
    assert {"t-move.md", "t/moved.md"} <= set(turn["turn"]["paths"])
    assert [each["turn"] for each in server.get("/api/turns", path="t-edit.md")["turns"]] == [number]


@pytest.mark.covers("TK-checkpoint-every-turn", "TK-checkpoint-per-document", "TK-checkpoint-fields", "ML-cp-all-files",
                    "ML-cp-new-file", "ML-optimistic-checkpoint", "SB-cp-every-run", "SB-cp-fields")  # fmt: skip
def test_a_turns_checkpoint_holds_every_document_as_it_was_before(server: Server, shelf: Path):
    number = tidy_up(server, shelf, "held")
    checkpoint = server.get(f"/api/agent/checkpoints/{number}")
    created = server.get(f"/api/turns/{number}")["turn"]["created_at"]
    assert (checkpoint["checkpoint_id"], checkpoint["created_at"]) == (number, created)
    state = server.get(f"/api/agent/checkpoints/{number}/diff3", file_path="held-edit.md")
    assert (state["checkpoint_base"], state["current_file"]) == (POEM, POEM.replace("Amber", "Agate"))
    hashes = {file["file_path"]: file["base_snapshot_hash"] for file in checkpoint["affected_files"]}
    before = {"held-edit.md": POEM, "held-new.md": "", "held-gone.md": POEM}
    assert {name: hashes[name] for name in before} == {
        name: f"sha256:{sha256(text.encode()).hexdigest()}" for name, text in before.items()
    }


@pytest.mark.covers("ML-optimistic-undo", "ML-adv-batch-undo", "ML-record-undo-edit", "ML-record-undo-create",
                    "ML-record-undo-move", "ML-record-undo-delete")  # fmt: skip
def test_one_undo_takes_all_calls_of_a_turn_back(server: Server, shelf: Path):
    number = tidy_up(server, shelf, "back")
    server.post("/api/turns/undo", {"turn": number})
    for part in ("edit", "move", "gone"):
        assert on_disk(shelf, f"back-{part}.md") == POEM
    assert not (shelf / "back-new.md").exists()
    assert not (shelf / "back/moved.md").exists()


# Modes


@pytest.mark.covers("RD-decided-modes", "ML-mode-autonomous", "ML-mode-restricted", "ML-mode-supervised")
def test_modes_differ_only_in_when_the_disk_is_written(server: Server, shelf: Path):
    after = POEM.replace("Amber", "Agate")
    for mode in ("propose", "apply", "merge"):
        path = put(shelf, f"mode-{mode}.md")
        edit(server, path, "Amber", "Agate", mode)
        assert server.get("/api/documents", path=path)["content"] == after
        assert on_disk(shelf, path) == (POEM if mode == "propose" else after)
    path = put(shelf, "mode-read.md")
    body = {"path": path, "old_text": "Amber", "new_text": "Agate"}
    assert server.refused("POST", "/api/tools/edit_text", body, 403, mode="read")["error"] == "mode_refuses"
    assert on_disk(shelf, path) == POEM


@pytest.mark.covers(
    "ML-risk-bulk", "ML-risk-bulk-configurable", "ML-risk-destroy", "ML-delete-params", "ML-delete-result"
)
def test_many_files_and_deletions_ask_first(server: Server, shelf: Path):
    calls = [{"tool": "create_document", "arguments": {"path": f"bulk/{n}.md", "content": "x"}} for n in range(11)]
    told = server.refused("POST", "/api/tools/batch", {"calls": calls}, 403, mode="apply")
    assert told["error"] == "confirmation_required"
    assert not (shelf / "bulk").exists()
    server.post("/api/tools/batch", {"calls": calls[:10]}, mode="apply")
    assert len(list((shelf / "bulk").iterdir())) == 10
    server.post("/api/settings", {"confirm_files": 2}, method="PUT")
    few = [{"tool": "create_document", "arguments": {"path": f"few/{n}.md", "content": "x"}} for n in range(3)]
    server.refused("POST", "/api/tools/batch", {"calls": few}, 403, mode="apply")
    server.post("/api/settings", {"confirm_files": 10}, method="PUT")
    path = put(shelf, "asked.md")
    told = server.refused("POST", "/api/tools/delete_document", {"path": path}, 403, mode="apply")
    assert (told["error"], on_disk(shelf, path)) == ("confirmation_required", POEM)
    answer = agreed(server, "delete_document", path=path)
    assert (answer["path"], answer["deleted"], answer["recoverable"]) == (path, True, True)
    assert not (shelf / path).exists()


# The trash


@pytest.mark.covers(
    "ML-delete-trash", "ML-delete-trash-name", "RD-files-trash", "RD-files-no-replace", "ML-move-overwrite"
)
def test_deleted_documents_of_one_name_lie_side_by_side_and_nothing_is_written_over(server: Server, shelf: Path):
    for text in ("first\n", "second\n"):
        path = put(shelf, "twice.md", text)
        agreed(server, "delete_document", path=path)
    entries = [entry for entry in server.get("/api/trash")["documents"] if entry["path"] == "twice.md"]
    assert len({entry["turn"] for entry in entries}) == 2
    oldest = min(entry["turn"] for entry in entries)
    server.post("/api/trash/restore", {"path": "twice.md", "turn": oldest})
    assert on_disk(shelf, "twice.md") == "first\n"
    newest = max(entry["turn"] for entry in entries)
    assert (
        server.refused("POST", "/api/trash/restore", {"path": "twice.md", "turn": newest})["error"] == "already_exists"
    )
    server.post("/api/trash/restore", {"path": "twice.md", "turn": newest, "to": "back.md"})
    assert (on_disk(shelf, "twice.md"), on_disk(shelf, "back.md")) == ("first\n", "second\n")
    move = {"from_path": "back.md", "to_path": "twice.md"}
    assert server.refused("POST", "/api/tools/move_document", move, mode="apply")["error"] == "already_exists"
    create = {"path": "twice.md", "content": "x"}
    assert server.refused("POST", "/api/tools/create_document", create, mode="apply")["error"] == "already_exists"
    assert on_disk(shelf, "twice.md") == "first\n"


# The review


@pytest.mark.covers(
    "RD-review-authors",
    "SB-state-origin",
    "SB-manual-joins",
    "SB-manual-one-mechanism",
    "RD-review-save",
    "RD-review-mixed",
    "ML-goal-control",
)
def test_a_hunk_says_whose_it_is_and_saving_writes_the_persons_own(server: Server, shelf: Path):
    path = put(shelf, "authors.md")
    edit(server, path, "Amber", "Agate", "propose")
    edit(server, path, "Ember", "Emerald", "propose")
    tab = server.post("/api/tabs", {"path": path})["tab_id"]
    now = server.get("/api/documents", path=path)["content"]
    typed = now.replace("Cedar stands", "Cedar always stands").replace("Agate stands alone", "Agate stands quite alone")
    server.post(f"/api/tabs/{tab}/type", {"content": typed})
    assert [hunk["author"] for hunk in hunks(server, path)] == ["agent", "user", "user", "agent"]
    within = typed.replace("Emerald", "Eme-rald")  # amid the agent's own letters
    server.post(f"/api/tabs/{tab}/type", {"content": within})
    assert [hunk["author"] for hunk in hunks(server, path)] == ["agent", "user", "user", "mixed"]
    mixed = hunks(server, path)[3]
    assert (mixed["base"], mixed["working"]) == ("Ember", "Eme-rald")
    server.post("/api/review/reject", {"hunks": {path: [mixed["hunk_id"]]}})
    kept = typed.replace("Emerald", "Ember-")  # the agent's letters are gone, the person's one stays
    assert server.get("/api/documents", path=path)["content"] == kept
    assert on_disk(shelf, path) == POEM
    server.post(f"/api/tabs/{tab}/save")
    assert on_disk(shelf, path) == kept.replace("Agate", "Amber"), "what the agent still proposes waits"
    [waiting] = hunks(server, path)
    assert (waiting["author"], waiting["base"], waiting["working"]) == ("agent", "Amber", "Agate")
    server.post("/api/review/reject", {"hunks": {path: [waiting["hunk_id"]]}})
    assert server.get("/api/documents", path=path)["content"] == kept.replace("Agate", "Amber")


PARTS = ("edit", "move", "gone")


def propose_files(server: Server, shelf: Path, name: str) -> int:
    """A turn that edits, creates, moves and deletes a document each, whose names begin with `name`."""
    for part in PARTS:
        put(shelf, f"{name}-{part}.md")
    calls = [
        {"tool": "edit_text", "arguments": {"path": f"{name}-edit.md", "old_text": "Amber", "new_text": "Agate"}},
        {"tool": "create_document", "arguments": {"path": f"{name}-new.md", "content": "New.\n"}},
        {"tool": "move_document", "arguments": {"from_path": f"{name}-move.md", "to_path": f"{name}-moved.md"}},
        {"tool": "delete_document", "arguments": {"path": f"{name}-gone.md"}},
    ]
    server.post("/api/tools/batch", {"calls": calls}, mode="propose", agree="true")
    return last_turn(server)["turn"]


def waiting(server: Server, name: str) -> list[tuple[str, str, str, str]]:
    """What waits for a decision: the kind of change, the path, and the text before and after."""
    return [
        (each["kind"], each["path"], hunk["base"], hunk["working"])
        for each in server.get("/api/review")["documents"]
        if each["path"].startswith(name)
        for hunk in each["hunks"]
    ]


def contents(shelf: Path, name: str) -> dict[str, str]:
    """The documents whose names begin so, as they are on the disk."""
    return {path.name.removeprefix(f"{name}-"): on_disk(shelf, path.name) for path in shelf.glob(f"{name}-*.md")}


UNTOUCHED = {f"{part}.md": POEM for part in PARTS}


@pytest.fixture(params=["hunk", "turn"])
def review(server: Server, request: pytest.FixtureRequest) -> Generator[str]:
    """Whether hunks can be decided by themselves, or turns as a whole only; afterwards hunks can."""
    server.post("/api/settings", {"review": request.param}, method="PUT")
    yield request.param
    server.post("/api/settings", {"review": "hunk"}, method="PUT")


@pytest.mark.covers("RD-review-files", "ML-record-status", "TK-multi-accept", "ML-goal-control", "ML-change-content",
                    "ML-record-accept", "ML-diffsys-status")  # fmt: skip
def test_a_turn_over_several_files_waits_and_is_accepted_as_a_whole(server: Server, shelf: Path, review: str):
    name = f"{review}-kept"
    turn = propose_files(server, shelf, name)
    assert shown(server, turn)["state"] == "proposed"
    assert waiting(server, name) == [
        ("modified", f"{name}-edit.md", "Amber", "Agate"),
        ("deleted", f"{name}-gone.md", POEM, ""),
        ("moved", f"{name}-moved.md", "", ""),
        ("created", f"{name}-new.md", "", "New.\n"),
    ]
    server.post("/api/review/accept", {"turn": turn})
    assert (shown(server, turn)["state"], waiting(server, name)) == ("applied", [])
    assert contents(shelf, name) == {
        "edit.md": POEM.replace("Amber", "Agate"),
        "moved.md": POEM,
        "new.md": "New.\n",
    }


@pytest.mark.covers("RD-review-files", "ML-record-status", "TK-multi-reject")
def test_a_turn_over_several_files_that_is_rejected_changes_none_of_them(server: Server, shelf: Path, review: str):
    name = f"{review}-refused"
    before = {path.name: path.read_bytes() for path in shelf.glob("*.md")}
    turn = propose_files(server, shelf, name)
    server.post("/api/review/reject", {"turn": turn})
    assert shown(server, turn)["state"] == "discarded"
    assert contents(shelf, name) == UNTOUCHED
    after = {path.name: path.read_bytes() for path in shelf.glob("*.md")}
    assert {path: data for path, data in after.items() if not path.startswith(name)} == before


@pytest.mark.covers("RD-review-files", "ML-record-status")
def test_undoing_an_accepted_turn_brings_every_file_back(server: Server, shelf: Path, review: str):
    name = f"{review}-undone"
    before = {path.name: path.read_bytes() for path in shelf.glob("*.md")}
    turn = propose_files(server, shelf, name)
    server.post("/api/review/accept", {"turn": turn})
    server.post("/api/turns/undo", {"turn": turn})
    assert shown(server, turn)["state"] == "undone"
    assert contents(shelf, name) == UNTOUCHED
    after = {path.name: path.read_bytes() for path in shelf.glob("*.md")}
    assert {path: data for path, data in after.items() if not path.startswith(name)} == before


@pytest.mark.covers("TK-multi-whole-turn")
@pytest.mark.parametrize("review", ["turn"], indirect=True)
@pytest.mark.parametrize("decision", ["accept", "reject"])
def test_where_turns_are_decided_as_a_whole_no_part_is(server: Server, shelf: Path, review: str, decision: str):
    name = f"{review}-part-{decision}"
    turn = propose_files(server, shelf, name)
    for part in ({f"{name}-edit.md": None}, {f"{name}-new.md": ["file"]}):
        told = server.refused("POST", f"/api/review/{decision}", {"hunks": part}, 403)
        assert 'review = "turn"' in told["message"]
        assert told["suggestion"].startswith(f"Decide turn {turn} as a whole")
    assert (shown(server, turn)["state"], contents(shelf, name)) == ("proposed", UNTOUCHED)


@pytest.mark.covers("RD-review-files", "ML-goal-control")
def test_files_of_a_turn_are_decided_one_by_one_like_hunks(server: Server, shelf: Path):
    propose_files(server, shelf, "each")
    server.post("/api/review/accept", {"hunks": {"each-new.md": None}})
    server.post("/api/review/reject", {"hunks": {"each-gone.md": None}})
    assert contents(shelf, "each") == {**UNTOUCHED, "new.md": "New.\n"}
    server.post("/api/review/accept", {"hunks": {"each-moved.md": None}})
    assert contents(shelf, "each") == {"edit.md": POEM, "gone.md": POEM, "moved.md": POEM, "new.md": "New.\n"}
    assert [path for _, path, _, _ in waiting(server, "each")] == ["each-edit.md"]


@pytest.mark.covers("ML-err-ask")
def test_an_agents_turn_over_what_the_person_typed_is_a_conflict(server: Server, shelf: Path):
    path = put(shelf, "conflict.md", "The price is 100 EUR.\n")
    edit(server, path, "100", "200", "propose")
    put(shelf, path, "The price is 150 EUR.\n")
    [hunk] = hunks(server, path)
    assert hunk["conflict"]
    assert "150" in server.get("/api/documents", path=path)["content"]


# Rollback


@pytest.mark.covers("SB-rb-hard-scope", "SB-rb-modes", "RD-history-git-untouched")
def test_a_hard_rollback_touches_the_files_of_its_checkpoint_and_no_others(server: Server, shelf: Path):
    path, other = put(shelf, "hard.md"), put(shelf, "hard-other.md")
    put(shelf, ".git/config", "[core]\n")
    edit(server, path, "Amber", "Agate")
    number = last_turn(server)["turn"]
    edit(server, path, "Cedar", "Coral")
    edit(server, other, "Amber", "Agate")
    server.post(f"/api/agent/checkpoints/{number}/rollback", {"mode": "hard_all"})
    assert (on_disk(shelf, path), on_disk(shelf, other)) == (POEM, POEM.replace("Amber", "Agate"))
    assert [file.name for file in (shelf / ".git").iterdir()] == ["config"]
    assert on_disk(shelf, ".git/config") == "[core]\n"
    bad = server.refused("POST", f"/api/agent/checkpoints/{number}/rollback", {"mode": "gently"}, 422)
    assert bad["error"] == "invalid_argument"


# Failures


@pytest.mark.covers("RD-house-error-shape", "ML-err-shape", "ML-err-shape-recovery", "ML-err-validation",
                    "ML-exec-unknown-tool")  # fmt: skip
def test_a_failure_says_what_failed_and_what_to_do(server: Server, shelf: Path):
    path = put(shelf, "failing.md")
    before = server.get("/api/turns")
    calls: list[dict[str, Any]] = [
        {"id": "1", "name": "edit_document", "arguments": {"path": "../x.md", "operation": "append", "content": "x"}},
        {"id": "2", "name": "red_document", "arguments": {}},
        {"id": "3", "name": "edit_document", "arguments": {"path": path, "operation": "append"}},
        {"id": "4", "name": "edit_document", "arguments": {"path": path, "content": "x", "operation": 7}},
    ]
    wrong, unknown, missing, malformed = server.post("/api/tools", {"calls": calls}, mode="apply")["results"]
    assert {name: value for name, value in wrong.items() if name != "error"} == {
        "toolCallId": "1",
        "success": False,
        "action": "edit_document",
        "path": "../x.md",
    }
    message = wrong["error"].pop("message")
    assert message.startswith("The path '../x.md' cannot be used: ")
    assert wrong["error"] == {
        "code": "invalid_path",
        "recoverable": True,
        "suggestions": ["Use a path relative to the folder, with plain names."],
        "details": {},
    }
    assert (unknown["success"], unknown["error"]["code"]) == (False, "unknown_tool")
    assert unknown["error"]["message"] == "There is no tool 'red_document'. Did you mean `read_document`?"
    assert (missing["success"], missing["path"], missing["error"]["code"]) == (False, path, "invalid_argument")
    assert "content" in missing["error"]["message"]
    assert "operation" in malformed["error"]["message"]
    assert (on_disk(shelf, path), server.get("/api/turns")) == (POEM, before), "nothing ran"
    for method, path, status in (("GET", "/api/documents?path=none.md", 404), ("GET", "/api/turns/99999", 404)):
        told = server.refused(method, path, None, status)
        assert set(told) - {"details"} == {"error", "message", "suggestion", "recoverable"}
        kinds = {"error": str, "message": str, "suggestion": str, "recoverable": bool, "details": dict}
        assert all(isinstance(value, kinds[name]) and value != "" for name, value in told.items())
