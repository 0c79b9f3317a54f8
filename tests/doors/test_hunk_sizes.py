"""No hunk is larger than 80 lines or 8192 bytes, or it says so: as a reviewer sees it, with nothing set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.serving import Server

pytestmark = pytest.mark.slow
LINES, BYTES = 80, 8192


def paragraphs(count: int, word: str) -> str:
    return "".join(f"Paragraph {at} tells a {word} story.\nIt is told by {word} people.\n\n" for at in range(count))


def written(server: Server, shelf: Path, path: str, old: str, new: str) -> list[dict[str, Any]]:
    """The hunks of a document that an agent writes anew."""
    (shelf / path).write_text(old, encoding="utf-8")
    version = server.tool("read_document", path=path)["version"]
    server.tool("write_document", path=path, version=version, content=new)
    return hunks(server, path)


def hunks(server: Server, path: str) -> list[dict[str, Any]]:
    return server.get("/api/review/document", path=path)["hunks"]


def fits(hunk: dict[str, Any]) -> bool:
    sides: list[str] = [hunk["base"], hunk["working"]]
    return all(len(side.splitlines()) <= LINES and len(side.encode()) <= BYTES for side in sides)


@pytest.mark.covers("SB-size-lines")
def test_an_insertion_of_three_hundred_lines_is_cut_at_blank_lines(server: Server, shelf: Path):
    found = written(server, shelf, "lines.md", "# T\n\n", "# T\n\n" + paragraphs(100, "new"))
    assert len(found) >= 4
    assert all(fits(hunk) and not hunk["oversized_hunk"] for hunk in found)
    assert all(hunk["working"].startswith("Paragraph") for hunk in found)
    server.post("/api/review/accept", {"hunks": {"lines.md": [found[1]["hunk_id"]]}})
    assert (shelf / "lines.md").read_text(encoding="utf-8") == "# T\n\n" + found[1]["working"], "each by itself"


@pytest.mark.covers("SB-size-bytes")
@pytest.mark.parametrize("sentence", ["This is a sentence of some length. ", "漢字の文です。"])
def test_a_paragraph_of_more_than_8192_bytes_is_cut_between_sentences(server: Server, shelf: Path, sentence: str):
    new = sentence * (20_000 // len(sentence.encode()))
    found = written(server, shelf, "bytes.md", "Old.\n\n", f"Old.\n\n{new}\n")
    assert len(found) >= 3
    assert all(fits(hunk) and not hunk["oversized_hunk"] for hunk in found)
    assert all(hunk["working"].startswith(sentence[:4]) for hunk in found)
    server.post("/api/review/reject", {"all": True})


@pytest.mark.covers("SB-hunk-split-edits", "SB-size-order")
def test_edits_come_first_then_blank_lines_then_sentences(server: Server, shelf: Path):
    """A rewritten passage has a blank line that would make nicer halves than its two edits do; and each edit that is
    too large by itself is cut at its blank lines before its sentences are."""
    old = [f"{at}\n" for at in range(100)]
    (shelf / "order.md").write_text("".join(old), encoding="utf-8")
    version = server.tool("read_document", path="order.md")["version"]
    first = "".join(f"x{at}\n" for at in range(30))
    second = "".join(f"y{at}\n" for at in range(20)) + "\n" + "".join(f"y{at}\n" for at in range(20, 70))
    calls = [
        ("replace_lines", {"start_line": 0, "end_line": 29, "content": first}),
        ("replace_lines", {"start_line": 30, "end_line": 99, "content": second}),
    ]
    made = [{"tool": tool, "arguments": {"path": "order.md", "version": version, **more}} for tool, more in calls]
    server.post("/api/tools/batch", {"calls": made}, mode="propose")
    found = hunks(server, "order.md")
    assert [hunk["base"].split() for hunk in found] == ["".join(old[:30]).split(), "".join(old[30:]).split()]
    assert [hunk["working"].split() for hunk in found] == [first.split(), second.split()]
    long = "A sentence of some length stands here. " * 120
    found = written(server, shelf, "both.md", "T\n\n", f"T\n\n{long}\n\n{long}\n\n{long}\n")
    assert all(fits(hunk) for hunk in found)
    assert [hunk["working"].strip() for hunk in found] == [long.strip()] * 3, (
        "at blank lines, and no sentence is parted"
    )


@pytest.mark.covers("SB-size-oversized", "SB-size-oversized-choice")
def test_what_cannot_be_cut_says_so_and_is_taken_as_one_or_cut_by_hand(server: Server, shelf: Path):
    old, new = "before\n\n" + "a" * 9000 + "\n\nafter\n", "before\n\n" + "b" * 9000 + "\n\nafter\n"
    [hunk] = written(server, shelf, "one.md", old, new)
    assert hunk["oversized_hunk"]
    server.post("/api/review/accept", {"hunks": {"one.md": [hunk["hunk_id"]]}})
    assert (shelf / "one.md").read_text(encoding="utf-8") == new
    [hunk] = written(server, shelf, "two.md", old, new)
    half = {"path": "two.md", "hunk_id": hunk["hunk_id"], "at": 4500, "base_at": 4500}
    server.post("/api/review/hunk/split", half)
    first, second = hunks(server, "two.md")
    assert not any(hunk["oversized_hunk"] for hunk in (first, second))
    server.post("/api/review/accept", {"hunks": {"two.md": [second["hunk_id"]]}})
    halves = "a" * 4500 + "b" * 4500
    assert (shelf / "two.md").read_text(encoding="utf-8") == f"before\n\n{halves}\n\nafter\n"


@pytest.mark.covers("SB-size-oversized", "SB-size-oversized-choice")
def test_a_whole_document_that_is_too_long_to_judge_at_once_says_so(server: Server, shelf: Path):
    long, short = paragraphs(100, "new"), paragraphs(20, "new")
    (shelf / "away.md").write_text(long, encoding="utf-8")
    server.tool("create_document", path="made.md", content=long)
    server.tool("create_document", path="short.md", content=short)
    server.post("/api/tools/delete_document", {"path": "away.md"}, mode="propose", agree="true")
    told = {
        path: [hunk["oversized_hunk"] for hunk in hunks(server, path)] for path in ("made.md", "short.md", "away.md")
    }
    assert told == {"made.md": [True], "short.md": [False], "away.md": [True]}
    server.post("/api/review/accept", {"hunks": {"made.md": None, "away.md": None}})
    assert (shelf / "made.md").read_text(encoding="utf-8") == long
    assert not (shelf / "away.md").exists()
    server.post("/api/review/reject", {"all": True})
