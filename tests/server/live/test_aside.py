"""Long work beside a person who types: a search, an outline, an export of awkward documents holds nobody up."""

from __future__ import annotations

import asyncio
import json
import os
import random
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import TORTURE
from tests.server.live.people import Person
from tests.server.serving import begun, ended
from tests.server.test_jobs import run, serving, until
from tests.server.test_team import TEAM, admitted, client
from tests.speaking.lines import Lines

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.server.serving import Client, Server

pytestmark = pytest.mark.slow
# A machine that runs other tests beside takes its time; one call of these took 46 seconds, and typing stood still.
PATIENCE_OF_A_WRITER = 4.0
LONGEST_CALL = 60.0
WORDS = "the lamp a ship harbour sea of keeper letter morning dark storm wind coast she he said walked".split()  # noqa: SIM905


@pytest.fixture
def awkward(tmp_path: Path) -> Path:
    """Documents that cost most: a line of 0.6 MB in three formats, 15,000 keys, a paragraph of 2 MB, a wide table."""
    folder = tmp_path / "notes"
    folder.mkdir()
    chance = random.Random(3)
    (folder / "story.md").write_text("# Story\n\nIt begins.\n", encoding="utf-8")
    (folder / "line.json").write_text(json.dumps({f"key{at}": "some words here" for at in range(22_000)}), "utf-8")
    (folder / "line.md").write_text(" ".join(chance.choices(WORDS, k=110_000)), encoding="utf-8")
    (folder / "line.txt").write_text("".join(chance.choices("abcdef []()*_`<>&!", k=600_000)), encoding="utf-8")
    (folder / "keys.yaml").write_text("".join(f"key{at}:\n  a: {at}\n  b: text\n" for at in range(15_000)), "utf-8")
    (folder / "lines.md").write_text("".join(f"the line of text {at} with words\n" for at in range(60_000)), "utf-8")
    wide = ["|a" * 3_000, "|-" * 3_000, *["|x" * 3_000] * 30]
    (folder / "table.md").write_text("".join(f"{row}|\n" for row in wide), encoding="utf-8")
    return folder


def long_work(viewer: Client) -> dict[str, Callable[[], Any]]:
    """What somebody who may only look can ask for."""
    found: dict[str, Callable[[], Any]] = {
        "meaning": lambda: viewer.get("/api/search/meaning", query="a lamp at the harbour"),
        "lines": lambda: viewer.get("/api/search/lines", query="l.*p.*h", regex="true"),
        "documents": lambda: viewer.tool("search_documents", query="Who walked to the harbour?"),
        "project": lambda: viewer.tool("search_project", query="Who walked to the harbour?"),
    }
    for number, path in enumerate(("line.json", "line.md", "line.txt", "keys.yaml")):
        works: dict[str, Callable[[], Any]] = {
            f"search {path}": lambda path=path: viewer.tool("search_document", path=path, query="a lamp"),
            f"outline {path}": lambda path=path: viewer.get("/api/outline", path=path),
            f"pattern {path}": lambda path=path: viewer.tool(
                "search_document", path=path, query="l.*p.*h", match_type="regex"
            ),
            f"read {path}": lambda path=path: viewer.get("/api/documents", path=path, limit=1_048_576),
        }
        found |= works if TORTURE else [[*works.items()][number]]
    for path in ("lines.md", "table.md"):
        found[f"editor {path}"] = lambda path=path: viewer.tool("getEditorText", path=path)
    return found


async def typed_beside(person: Person, act: Callable[[], Any]) -> tuple[float, float]:
    """Type until the act is done: how long the slowest letter took to be kept, and how long the act took."""
    began = time.monotonic()
    working = asyncio.create_task(asyncio.to_thread(act))
    slowest = 0.0
    while not working.done():
        pressed = time.monotonic()
        person.type(0, "x")
        await person.sent()
        slowest = max(slowest, time.monotonic() - pressed)
        await asyncio.sleep(0.01)
    await working
    return slowest, time.monotonic() - began


@pytest.mark.covers("RD-search-aside")
def test_nobody_who_types_waits_for_what_a_viewer_searches(awkward: Path):
    anna, vera = admitted(awkward, "anna", "editor"), admitted(awkward, "vera", "viewer")
    server = begun(awkward, *TEAM)
    editor, viewer = client(server, anna), client(server, vera)

    async def told() -> None:
        person = await Person(editor).join()
        for name, act in long_work(viewer).items():
            slowest, took = await typed_beside(person, act)
            # Who waits for the whole call has one letter that takes as long, however busy this machine is.
            assert slowest < max(PATIENCE_OF_A_WRITER, took / 2), (name, slowest, took)
            assert took < LONGEST_CALL, (name, took)
        # Many at once fill no thread that others need.
        many = [asyncio.to_thread(viewer.tool, "search_document", path="line.json", query=f"{at}") for at in range(12)]
        working = asyncio.gather(*many)
        slowest, _ = await typed_beside(person, lambda: editor.get("/api/documents", path="story.md"))
        assert slowest < PATIENCE_OF_A_WRITER
        await working
        await person.leave()

    asyncio.run(told())
    assert ended(server) == ""


@pytest.mark.covers("RD-search-aside")
@pytest.mark.parametrize("path", ["line.md", "lines.md"])
def test_nobody_who_types_waits_for_a_large_document_that_is_written_anew(awkward: Path, path: str):
    server = begun(awkward)
    text = (awkward / path).read_text(encoding="utf-8") * (3 if TORTURE else 1)

    async def told() -> None:
        person = await Person(server).join()
        server.post("/api/documents", {"content": text}, method="PUT", path=path)
        new = {"content": text.replace("the ", "some ")}
        slowest, took = await typed_beside(person, lambda: server.post("/api/documents", new, method="PUT", path=path))
        assert slowest < max(0.5, took / 2), (slowest, took)
        await person.leave()

    asyncio.run(told())
    assert (awkward / path).read_text(encoding="utf-8") == text.replace("the ", "some ")
    assert ended(server) == ""


@pytest.mark.covers("RD-one-index")
def test_a_server_has_one_index_and_one_watch_whoever_searches(folder: Path):
    looking = {"tool": "search_documents", "arguments": {"query": "the lamp"}}
    server = serving(folder, {"text": "", "calls": [looking]}, {"text": "Done."})
    server.get("/api/search/lines", query="lamp")
    server.tool("search_documents", query="the lamp")
    joined = Lines.to(folder)
    joined.start()
    joined.call("search_documents", query="the lamp")
    joined.ask("resources/list")
    job = until(server, run(server), "completed")
    shown = server.get(f"/api/agent/sessions/{job['session_id']}")
    assert any(entry["data"].get("tool") == "search_documents" for entry in shown["chat"]), shown
    assert held(server, "inotify") == 1
    assert held(server, "search.db") == 1
    assert joined.close() == ""
    assert ended(server) == ""


def held(server: Server, name: str) -> int:
    """How many descriptors of the server's process are of this kind, as the kernel says."""
    assert server.process is not None
    links = f"/proc/{server.process.pid}/fd"
    found = 0
    for number in os.listdir(links):
        with suppress(FileNotFoundError):  # closed since it was listed: a connection or a file that was only read
            found += os.readlink(f"{links}/{number}").endswith(name)
    return found
