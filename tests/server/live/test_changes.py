"""The stream of what changed: whoever did it, told once, in order, and nothing missed by who comes back."""

from __future__ import annotations

import asyncio
import http.client
import json
import queue
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redraft.server.change_feed import CHANGES, ChangeFeed
from redraft.text.edits import Change, Edit
from tests.conftest import TORTURE
from tests.server.live.people import Person, edit, elsewhere, expect_same, place, story, tab_of, until
from tests.server.serving import Client, ended
from tests.server.test_jobs import EDIT, QUESTION, run, serving
from tests.server.test_jobs import until as job_until
from tests.speaking.lines import PATIENCE
from tests.tools.calling import STORY

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

    from tests.server.serving import Server


class Ear:
    """One listener: what it was told, and the number of the last of it."""

    def __init__(self) -> None:
        self.last = 0
        self._told: queue.Queue[dict[str, Any]] = queue.Queue()

    def take(self, lines: list[str]) -> None:
        fields = dict(line.split(": ", 1) for line in lines if not line.startswith(":"))
        if "data" in fields:
            told = json.loads(fields["data"])
            assert (int(fields["id"]), fields["event"]) == (told["seq"], told["kind"])
            assert told["seq"] > self.last
            self.last = told["seq"]
            self._told.put(told)

    def until(self, true: Callable[[dict[str, Any]], bool]) -> list[dict[str, Any]]:
        """What comes up to and with a certain change, which must come."""
        found: list[dict[str, Any]] = []
        while True:
            try:
                found.append(self._told.get(timeout=PATIENCE))
            except queue.Empty:
                raise AssertionError(found) from None
            if true(found[-1]):
                return found


@contextmanager
def listening(client: Client, last: int | None = None) -> Generator[Ear]:
    headers = {"Authorization": f"Bearer {client.token}"}
    if last is not None:
        headers["Last-Event-ID"] = str(last)
    connection = http.client.HTTPConnection("127.0.0.1", client.port, timeout=PATIENCE)
    connection.request("GET", "/api/changes/stream", headers=headers)
    response = connection.getresponse()
    assert (response.status, response.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    ear = Ear()

    def read() -> None:
        lines: list[str] = []
        while line := response.fp.readline() if response.fp else b"":
            text = line.decode().rstrip("\r\n")
            if text and not text.isalnum():
                lines.append(text)
            elif not text and lines:
                ear.take(lines)
                lines = []

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    try:
        yield ear
    finally:
        if connection.sock is not None:
            connection.sock.shutdown(2)
        thread.join(PATIENCE)
        response.close()
        connection.close()


def kinds(told: list[dict[str, Any]], path: str | None = None) -> set[str]:
    return {each["kind"] for each in told if path is None or each.get("path") in (None, path)}


@pytest.mark.slow
@pytest.mark.covers("RD-turn-events")
def test_what_this_server_does_is_told(standing: Server, page: str):
    standing.get("/api/live", path=page)
    with listening(standing) as ear:
        proposed = edit(standing, page, "eleven", "twelve")
        assert proposed
        told = ear.until(lambda each: each["kind"] == "review" and each.get("path") == page)
        assert {"turn", "document", "review"} <= kinds(told, page)
        version = standing.get("/api/documents", path=page)["version"]
        assert [each for each in told if each["kind"] == "document"][-1]["version"] == version
        tab = tab_of(standing, page)
        standing.post(f"/api/tabs/{tab['tab_id']}/type", {"content": STORY + "More.\n"})
        ear.until(lambda each: each["kind"] == "document" and each.get("path") == page)
        standing.post("/api/documents", {"path": f"new-{page}", "content": "New.\n"})
        ear.until(lambda each: each["kind"] == "tree")
        made = standing.post("/api/tabs", {"path": f"new-{page}"})
        ear.until(lambda each: each["kind"] == "tabs")
        standing.post(f"/api/tabs/{made['tab_id']}", method="DELETE")
        ear.until(lambda each: each["kind"] == "tabs")
        new = f"new-{page}"
        edit(standing, new, "New", "Newer")
        ear.until(lambda each: each["kind"] == "review" and each.get("path") == new)
        for act, body in (
            ("review/accept", {"hunks": {new: None}}),
            ("turns/undo", {}),
            ("review/reject", {"all": True}),
        ):
            number = standing.post(f"/api/{act}", body)["turn"]["turn"]
            ear.until(lambda each, number=number: each["kind"] == "turn" and each.get("turn") == number)
            ear.until(lambda each: each["kind"] == "review" and each.get("path") == new)


@pytest.mark.slow
def test_what_others_do_is_told(standing: Server, page: str):
    standing.get("/api/documents", path=page)  # a document that the server has never seen is a new one to it
    with listening(standing) as ear, elsewhere(standing) as workspace:
        place(standing, page).write_text(STORY + "By another program.\n", encoding="utf-8")
        version = workspace.read(page).version
        ear.until(lambda each: each["kind"] == "document" and each.get("version") == version)
        place(standing, f"other-{page}").write_text("A new file.\n", encoding="utf-8")
        ear.until(lambda each: each["kind"] == "tree")
        workspace.open_tab(page)
        ear.until(lambda each: each["kind"] == "tabs")
        workspace.type(page, Change((Edit(0, "", "Typed. "),)))
        ear.until(lambda each: each["kind"] == "document" and each.get("version") == workspace.read(page).version)
        saved = workspace.save(page)
        assert saved is not None
        ear.until(lambda each: each["kind"] == "turn" and each.get("turn") == saved.id)


@pytest.mark.slow
def test_who_comes_back_misses_nothing(standing: Server, page: str):
    tab = standing.post("/api/tabs", {"path": page})
    with listening(standing) as ear:
        edit(standing, page, "eleven", "twelve")
        ear.until(lambda each: each["kind"] == "review" and each.get("path") == page)
    edit(standing, page, "twice", "thrice")
    with listening(standing, ear.last) as again:
        told = again.until(lambda each: each["kind"] == "review" and each.get("path") == page)
        assert told[0]["seq"] == ear.last + 1
    for old in (0, ear.last + 10**9):  # from before this server, and from a clock that was wrong
        with listening(standing, old) as back:
            assert back.until(lambda each: each["kind"] == "all")[0]["kind"] == "all"
    assert standing.request("GET", "/api/changes/stream", headers={"Last-Event-ID": "x"}).status == 422
    assert tab["path"] == page


@pytest.mark.slow
def test_typing_is_told_now_and_then_and_its_last_state_always(standing: Server, page: str):
    with listening(standing) as ear:

        async def told() -> None:
            anna = await Person(standing, page).join()
            for letter in "a letter at a time, and quickly " * 4:
                anna.type(0, letter)
                await asyncio.sleep(0.004)
            await expect_same(anna)
            await anna.leave()

        story(told())
        version = standing.get("/api/documents", path=page)["version"]
        found = ear.until(lambda each: each["kind"] == "document" and each.get("version") == version)
        assert len([each for each in found if each["kind"] == "document"]) < 20


@pytest.mark.slow
def test_the_agent_is_somebody_who_is_there(folder: Path):
    """While its job works on the document, for whoever was there before, and whoever comes."""
    server = serving(folder, {"text": "I will.", "calls": [EDIT]}, {"calls": [QUESTION]}, {"text": "Done."})

    def agents(person: Person) -> list[Any]:
        return [state for state in person.others.values() if state["user"]["kind"] == "agent"]

    async def told(ear: Ear) -> None:
        anna = await Person(server, "story.md").join()
        row = {"id": "1", "kind": "file", "file_path": "story.md"}
        job = run(server, mode="apply", context_rows=[row])
        await until(lambda: bool(agents(anna)))
        assert agents(anna)[0] == {**agents(anna)[0], "user": {"name": "Agent", "kind": "agent"}, "job_id": job}
        asked = (await asyncio.to_thread(job_until, server, job, "waiting_for_user"))["question"]
        await expect_same(anna)
        assert {each["job_id"] for each in ear.until(lambda each: each["kind"] == "job") if "job_id" in each} == {job}
        bert = await Person(server, "story.md").join()
        await until(lambda: bool(agents(bert)))
        server.post(f"/api/agent/jobs/{job}/clarify", {"question_id": asked["question_id"], "answer": "Now."})
        await until(lambda: not agents(anna) and not agents(bert), lambda: (agents(anna), agents(bert)))
        await anna.leave()
        await bert.leave()

    with listening(server) as ear:
        story(told(ear))
    assert ended(server) == ""


@given(st.lists(st.one_of(st.just("tell"), st.integers(0, 40)), max_size=60))
@settings(max_examples=2000 if TORTURE else 50)
def test_every_change_is_told_or_all_are(acts: list[Any]):
    """The log keeps eight here. Whoever comes with the number of something forgotten, or with one that never was, is
    told `all`, and after it what there is; everybody else exactly what came behind."""
    changes = ChangeFeed(kept=8)
    first = changes.begin(None)
    count = 0
    for act in acts:
        if act == "tell":
            changes.tell("document", path=str(count))
            count += 1
            continue
        cursor = changes.begin(first + act)
        found = changes.after(CHANGES, cursor)
        missed = [str(number) for number in range(count)][act:] if act <= count else []
        if act > count or len(missed) > 8:
            assert found[0].type == "all"
            assert [each.path for each in found[1:]] == [str(number) for number in range(count)][-8:]
        else:
            assert [each.path for each in found] == missed
        assert [each.cursor for each in found] == sorted({each.cursor for each in found})
