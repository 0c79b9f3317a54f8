"""A line with thousands of changes: what is told of it stays small, and others type meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from redraft.text.text import Text
from redraft.workspace.document import version_of
from tests.server.serving import ended
from tests.server.test_jobs import run, serving, until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.serving import Server

pytestmark = pytest.mark.slow
WORDS = 3_000  # in one line of 15 KB
LINE = " ".join(f"cab{number % 9}" for number in range(WORDS))
LARGEST = 8_000_000  # bytes of an answer


def replaced(server: Server, folder: Path, mode: str = "propose") -> int:
    """A turn that changes every word of one long line; its number."""
    (folder / "line.md").write_text(LINE + "\n", encoding="utf-8")
    version = server.get("/api/documents", path="line.md")["version"]
    given = {"path": "line.md", "version": version, "find": "a", "replace": "bb"}
    return server.post("/api/tools/find_and_replace", given, mode=mode)["turn"]


def small(server: Server, path: str, /, **query: Any) -> Any:
    found = server.request("GET", path, query=query)
    assert found.status == 200, found.body[:300]
    assert len(found.body) < LARGEST
    return found.json


@pytest.mark.parametrize("mode", ["propose", "apply"])
def test_a_turn_that_changes_a_long_line_everywhere_is_told_page_by_page(server: Server, folder: Path, mode: str):
    number = replaced(server, folder, mode)
    seen: list[Any] = []
    total, offset = small(server, f"/api/turns/{number}")["total_hunks"], 0
    while offset is not None:
        page = small(server, f"/api/turns/{number}", offset=offset, limit=200)
        checkpoint = small(server, f"/api/agent/checkpoints/{number}", offset=offset, limit=200)
        [file] = checkpoint["affected_files"]
        assert file["hunks"] == page["hunks"]
        assert checkpoint["next_offset"] == page["next_offset"]
        seen += page["hunks"]
        offset = page["next_offset"]
    assert total == len(seen) == len({hunk["hunk_id"] for hunk in seen})
    assert 200 < total <= 500, "neighbours of a crowded line are decided together"
    middle = seen[len(seen) // 2]
    assert middle["truncated"] is True
    assert len(middle["patch"]) < 20_000
    for patch in (middle["patch"], middle["reverse_patch"]):
        header, removed, added = patch.splitlines()
        assert header == "@@ -1 +1 @@"
        assert removed.startswith("-…")
        assert removed.endswith("…")
        assert added.startswith("+…")
    assert "ca" in middle["patch"].splitlines()[1]
    two = small(server, f"/api/turns/{number}", offset=1, limit=2)
    assert (two["hunks"], two["next_offset"]) == (seen[1:3], 3)


def test_a_small_turn_is_told_whole(server: Server, folder: Path):
    server.tool("edit_text", mode="apply", path="story.md", old_text="eleven", new_text="twelve")
    told = server.get("/api/turns/1")
    assert (told["total_hunks"], told["next_offset"]) == (len(told["hunks"]), None)
    assert all("truncated" not in hunk for hunk in told["hunks"])


def test_the_bundle_of_a_job_shows_of_a_long_line_what_stands_around_each_change(folder: Path):
    (folder / "line.md").write_text(LINE + "\n", encoding="utf-8")
    given = {"path": "line.md", "version": version_of(Text(LINE + "\n")), "find": "a", "replace": "bb"}
    call = {"tool": "find_and_replace", "arguments": given}
    server = serving(folder, {"text": "", "calls": [call]}, {"text": "Done."})
    job = until(server, run(server, mode="propose"), "awaiting_review", "completed")
    assert len(server.request("GET", f"/api/agent/jobs/{job['job_id']}").body) < LARGEST
    [file] = job["diff_bundle"]["files"]
    middle = file["hunks"][len(file["hunks"]) // 2]
    assert middle["truncated"] is True
    _, _, _, header, removed, added = middle["patch"].splitlines()
    assert (header, removed[:2], added[:2]) == ("@@ -1 +1 @@", "-…", "+…")
    accepted = [hunk["hunk_id"] for hunk in file["hunks"]]
    decision = {"session_id": job["session_id"], "job_id": job["job_id"], "accepted_hunk_ids": accepted}
    assert server.post("/api/agent/apply", decision)["status"] == "completed"
    assert (folder / "line.md").read_text(encoding="utf-8") == LINE.replace("a", "bb") + "\n"
    assert ended(server) == ""


def test_a_crowded_line_is_reviewed_in_few_hunks_and_each_is_decided_by_itself(server: Server, folder: Path):
    replaced(server, folder)
    [draft] = small(server, "/api/review")["documents"]
    assert draft == small(server, "/api/review/document", path="line.md")
    hunks = draft["hunks"]
    assert 200 < len(hunks) <= 500
    first, last = hunks[0], hunks[-1]
    server.post("/api/review/reject", {"hunks": {"line.md": [first["hunk_id"]]}})
    server.post("/api/review/accept", {"all": True})
    old, new = LINE + "\n", LINE.replace("a", "bb") + "\n"
    text = (folder / "line.md").read_text(encoding="utf-8")
    assert text == first["base"] + new[len(first["working"]) :]
    assert text.endswith(last["working"] + new[last["working_at"] + len(last["working"]) :])
    server.post("/api/turns/undo", {})
    assert (folder / "line.md").read_text(encoding="utf-8") == old
