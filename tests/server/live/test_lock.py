"""`lock = true` in the browser and over HTTP: while a job has the documents, all can be read and nothing is typed; what
was typed all the same waits where it was typed."""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode
from typing import TYPE_CHECKING

import pytest

from redraft.agent.store.leases import SENTENCE
from tests.formats.pictures import png
from tests.server.live.people import Person, expect_same, story
from tests.server.live.people import until as until_so
from tests.server.serving import begun, ended, settled
from tests.server.test_jobs import EDIT, QUESTION, run, serving, until

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow
LOCK = {"lock": True}
READ = {"tool": "read_document", "arguments": {"path": "story.md"}}


@pytest.mark.covers("TK-lock-view", "RD-decided-lock", "TK-lock-cancel")
@pytest.mark.covers("TK-lock-released")
def test_nothing_is_typed_while_a_job_holds_the_documents_and_nothing_is_lost(folder: Path):
    server = serving(folder, {"text": "", "calls": [QUESTION]}, {"text": "", "calls": [EDIT]}, {"text": "Done."})

    async def told() -> None:
        anna, bert = await Person(server).join(), await Person(server).join()
        tab = server.post("/api/tabs", {"path": "story.md"})["tab_id"]
        anna.type(0, "Before. ")
        before = await expect_same(anna, bert)
        job = run(server, tool_config=LOCK)
        until(server, job, "waiting_for_user")

        anna.type(0, "Meanwhile. ")
        await asyncio.sleep(0)
        await bert.sent()  # who does not type is still told everything
        for method, path, body in (
            ("POST", f"/api/tabs/{tab}/type", {"content": "x"}),
            ("POST", f"/api/tabs/{tab}/save", None),
            ("PUT", "/api/documents?path=story.md", {"content": "x"}),
            ("POST", "/api/documents/move", {"path": "story.md", "to": "other-story.md"}),
            ("DELETE", "/api/documents?path=story.md", None),
            ("POST", "/api/images", {"document": "story.md", "name": "lamp", "content": b64encode(png()).decode()}),
        ):
            refused = server.refused(method, path, body, 409)
            assert (refused["error"], refused["message"]) == ("locked", SENTENCE)
        lock = {"locked": True, "job_id": job, "message": SENTENCE}
        assert server.get("/api/agent/lock") == lock
        assert server.get("/api/documents", path="story.md")["content"] == before == str(bert)

        question = server.get(f"/api/agent/jobs/{job}")["question"]["question_id"]
        server.post(f"/api/agent/jobs/{job}/clarify", {"question_id": question, "answer": "1890"})
        until(server, job, "awaiting_review")
        assert server.get("/api/agent/lock") == {"locked": False, "job_id": None, "message": ""}
        assert (await anna.ended())[0] == 1012
        await anna.join()  # as every browser does by itself
        assert await expect_same(anna, bert) == "Meanwhile. " + before.replace("eleven", "twelve")

        cancelled = run(server, tool_config=LOCK)
        until(server, cancelled, "waiting_for_user")
        server.post(f"/api/agent/jobs/{cancelled}/cancel")
        await until_so(lambda: server.get(f"/api/agent/jobs/{cancelled}")["status"] == "cancelled")
        bert.type(0, "After. ")
        assert (await expect_same(anna, bert)).startswith("After. Meanwhile. Before. ")
        for person in (anna, bert):
            await person.leave()

    story(told())
    assert ended(server) == ""


@pytest.mark.covers("TK-lock-released")
def test_a_job_that_fails_or_takes_too_long_lets_go_of_the_documents(folder: Path):
    asks = {"text": "", "calls": [QUESTION]}
    ways = {
        "fails": ([asks, {"error": "timeout", "message": "No answer came."}], "failed"),
        "dawdles": ([asks, *[{"text": "", "calls": [READ], "delay_ms": 1100}] * 9], "completed"),
    }
    config = folder.parent / "config" / "redraft"
    config.mkdir(parents=True)
    settings = "lock = true\n[agent]\nseconds = 1\n"
    for name, (steps, _) in ways.items():
        (config / f"{name}.jsonl").write_text("".join(json.dumps(step) + "\n" for step in steps), encoding="utf-8")
        settings += f'[models.{name}]\nkind = "scripted"\nfile = "{config / name}.jsonl"\n'
    (config / "settings.toml").write_text(settings, encoding="utf-8")
    server = begun(folder)
    for name, (_, status) in ways.items():
        job = run(server, model=name)
        question = until(server, job, "waiting_for_user")["question"]["question_id"]
        assert server.get("/api/agent/lock")["job_id"] == job
        server.post(f"/api/agent/jobs/{job}/clarify", {"question_id": question, "answer": "1890"})
        assert settled(server, job, question)["status"] == status
        assert server.get("/api/agent/lock") == {"locked": False, "job_id": None, "message": ""}
        server.post("/api/documents?path=story.md", {"content": f"Typed after it {name}.\n"}, method="PUT")
    assert ended(server) == ""
