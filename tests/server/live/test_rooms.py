"""A live document: people, agents, decisions, the disk and other processes, all in one text, and nothing lost."""

from __future__ import annotations

import asyncio
import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from redraft.server.live import wire
from redraft.text.edits import Change, Edit
from tests.server.live.people import Person, edit, elsewhere, expect_same, on_disk, place, story, tab_of, until
from tests.speaking.lines import ENVELOPE_VERSION, Lines, answer_of, envelope
from tests.tools.calling import STORY

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from contextlib import AbstractContextManager

    from tests.server.serving import Server

    Call = Callable[..., Any]

pytestmark = pytest.mark.slow


def test_people_type_into_one_text_and_the_workspace_follows(standing: Server, page: str):
    async def told() -> None:
        anna, bert = await Person(standing, page).join(), await Person(standing, page).join()
        assert str(anna) == str(bert) == STORY
        assert anna.told["saved"] is True
        anna.type(0, "Ä😀 ")
        bert.type(len(STORY), "The end.\r\n")
        bert.type(2, "", 4)
        now = await expect_same(anna, bert)
        assert now == "Ä😀 # Lamp" + STORY.removeprefix("# The Lamp") + "The end.\r\n"
        assert anna.told == {"epoch": anna.epoch, "version": anna.told["version"], "saved": False, "pending": 0}
        assert on_disk(standing, page) == STORY
        tab = tab_of(standing, page)
        standing.post(f"/api/tabs/{tab['tab_id']}/save")
        assert on_disk(standing, page) == now
        await until(lambda: anna.told["saved"] is True)
        await anna.leave()
        await bert.leave()

    story(told())


def test_saving_waits_for_what_was_received(standing: Server, page: str):
    async def told() -> None:
        anna = await Person(standing, page).join()
        tab = tab_of(standing, page)
        for number in range(20):
            anna.type(0, f"{number} ")
            await anna.received()
            standing.post(f"/api/tabs/{tab['tab_id']}/save")
            assert on_disk(standing, page) == str(anna)
        await anna.leave()

    story(told())


@contextmanager
def by_tool(server: Server) -> Generator[Call]:
    yield server.tool


@contextmanager
def by_post(server: Server) -> Generator[Call]:
    """Over `/mcp`, every request for itself."""

    def call(name: str, **arguments: Any) -> Any:
        told = {"name": name, "arguments": arguments, "_meta": envelope()}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": told}
        headers = {"Mcp-Protocol-Version": ENVELOPE_VERSION, "Mcp-Method": "tools/call", "Mcp-Name": name}
        answer = server.request("POST", "/mcp", message, {"Accept": "application/json, text/event-stream", **headers})
        return answer_of(answer.json["result"])

    yield call


@contextmanager
def by_joining(server: Server) -> Generator[Call]:
    """By `redraft mcp`, in another process."""
    assert server.folder is not None
    client = Lines.to(server.folder)
    client.start()

    def call(name: str, **arguments: Any) -> Any:
        return answer_of(client.call(name, **arguments))

    yield call
    assert client.close() == ""


@pytest.mark.parametrize("way", [by_tool, by_post, by_joining])
def test_an_agent_reads_and_edits_what_was_typed_just_now(
    standing: Server, page: str, way: Callable[[Server], AbstractContextManager[Call]]
):
    """What has come into the room and not yet to the workspace is neither missed nor a reason to refuse."""

    async def told(call: Call) -> None:
        anna = await Person(standing, page).join()
        for number in range(10):
            word = f"Typed-{number}"
            anna.type(len(str(anna)), f"{word}\n")
            await anna.received()
            found = await asyncio.to_thread(call, "read_document", path=page)
            assert found["content"].endswith(f"{word}\n")
            anna.type(0, "!")
            await anna.received()
            edited = await asyncio.to_thread(call, "edit_text", path=page, old_text=f"{word}\n", new_text="Edited\n")
            assert "error" not in edited
            assert "!" * (number + 1) + STORY + "Edited\n" * (number + 1) == await expect_same(anna)
        await anna.leave()

    with way(standing) as call:
        story(told(call))


@pytest.mark.covers("ML-open-collaboration")
@pytest.mark.covers("RD-tabs-external")
def test_what_others_do_comes_into_the_room(standing: Server, page: str):
    """An agent proposes, a person decides and takes it back, types over HTTP, and another program writes the file."""

    async def told() -> None:
        anna = await Person(standing, page).join()
        edit(standing, page, "eleven", "twelve")
        now = await expect_same(anna, on=STORY.replace("eleven", "twelve"))
        assert anna.told["pending"] == 1
        standing.post("/api/review/reject", {"hunks": {page: None}})
        await expect_same(anna, on=STORY)
        standing.post("/api/turns/undo", {})
        await expect_same(anna, on=now)
        standing.post("/api/review/accept", {"hunks": {page: None}})
        await until(lambda: anna.told["pending"] == 0 and anna.told["saved"] is True)
        assert on_disk(standing, page) == str(anna) == now
        edit(standing, page, "twice", "thrice", "apply")
        now = await expect_same(anna, on=now.replace("twice", "thrice"))
        tab = tab_of(standing, page)
        standing.post(f"/api/tabs/{tab['tab_id']}/type", {"content": now + "By HTTP.\n"})
        now = await expect_same(anna, on=now + "By HTTP.\n")
        place(standing, page).write_text(on_disk(standing, page).replace("keys.", "keys. 😀"), encoding="utf-8")
        await expect_same(anna, on=now.replace("keys.", "keys. 😀"))
        await anna.leave()

    story(told())


def test_a_file_that_is_emptied_and_written_again_never_shows_a_mixture_of_its_states(standing: Server, page: str):
    async def told() -> None:
        anna = await Person(standing, page).join()
        anna.type(STORY.index("eleven"), "TYPED ")
        before = await expect_same(anna)
        for number in range(5):
            place(standing, page).write_text("", encoding="utf-8")
            await asyncio.to_thread(standing.get, "/api/documents", path=page)  # it is noticed in between
            place(standing, page).write_text(STORY.replace("Lamp", f"{number}amp"), encoding="utf-8")
            after = before.replace("Lamp", f"{number}amp")
            assert standing.get("/api/documents", path=page)["content"] == after
            await expect_same(anna, on=after)
        await anna.leave()

    story(told())


def test_another_process_is_seen_too(standing: Server, page: str):
    async def told() -> str:
        anna = await Person(standing, page).join()
        edit(standing, page, "eleven", "twelve")
        await expect_same(anna, on=STORY.replace("eleven", "twelve"))
        with elsewhere(standing) as workspace:
            workspace.reject({page: None})
            await expect_same(anna, on=STORY)
            workspace.type(page, Change((Edit(0, "", "Typed elsewhere. "),)))
            await expect_same(anna, on="Typed elsewhere. " + STORY)
        await anna.leave()
        return str(anna.text)

    assert story(told()) == "Typed elsewhere. " + STORY


def test_an_agents_text_is_not_undone_with_the_persons_nor_the_persons_with_it(standing: Server, page: str):
    async def told() -> None:
        anna = await Person(standing, page).join()
        anna.type(STORY.index("dark"), "very ")
        await expect_same(anna)
        edit(standing, page, "eleven", "twelve")
        typed = STORY.replace("dark", "very dark")
        await expect_same(anna, on=typed.replace("eleven", "twelve"))
        assert anna.undo()
        await expect_same(anna, on=STORY.replace("eleven", "twelve"))
        assert not anna.undo()
        anna.undoing.redo()
        await anna.leave()
        await anna.join()
        await expect_same(anna, on=typed.replace("eleven", "twelve"))
        standing.post("/api/review/reject", {"hunks": {page: None}})
        await expect_same(anna, on=typed)
        assert anna.undo()
        await expect_same(anna, on=STORY)
        await anna.leave()

    story(told())


def edit_until_it_lands(server: Server, path: str, old: str, new: str) -> None:
    """As an agent would: where somebody types at the very place, it looks again."""
    for _ in range(50):
        body = {"path": path, "old_text": old, "new_text": new}
        answer = server.request("POST", "/api/tools/edit_text", body, query={"mode": "propose"})
        if answer.status == 200:
            return
        assert answer.json["error"] == "version_mismatch", answer.body
        server.tool("read_document", path=path)
    raise AssertionError("it never landed")


def test_typing_in_the_words_that_an_agent_changes_keeps_every_letter(standing: Server, page: str):
    """Neither waits for the other. Whoever is first, the person's letters stand, and so do the agent's words."""

    async def told() -> None:
        anna = await Person(standing, page).join()
        for number in range(12):
            at = str(anna).index("years")
            anna.type(at, f"<{number}>")
            await asyncio.gather(
                asyncio.to_thread(edit_until_it_lands, standing, page, "lighthouse", f"house{number} lighthouse"),
                anna.sent(),
            )
            anna.type(str(anna).index("had"), f"[{number}]")
        now = await expect_same(anna)
        for number in range(12):
            assert now.count(f"<{number}>") == now.count(f"[{number}]") == now.count(f"house{number} ") == 1
        assert now.count("eleven") == now.count("She read the letter twice.") == 1
        await anna.leave()

    story(told())


def test_what_is_not_there_cannot_be_joined(standing: Server, page: str):
    place(standing, "picture.png").write_bytes(b"\x89PNG\0\xff")

    async def told() -> None:
        for path in ("none.md", "..%2fsecret.md", ".redraft%2fid", "picture.png", "a%00b"):
            person = Person(standing, path)
            person.epoch = "x"
            await person.dial()
            assert (await person.ended())[0] == 4404, path
        anna = await Person(standing, page).join()
        place(standing, page).unlink()
        assert (await anna.ended())[0] == 4404

    story(told())
    assert standing.refused("GET", "/api/live", None, 404, path="none.md")["error"] == "not_found"
    assert standing.refused("GET", "/api/live", None, 415, path="picture.png")["error"] == "unsupported_file_type"


def test_a_room_moves_with_its_document(standing: Server, page: str):
    """The tab says where to; the epoch is the same, so that what was typed meanwhile comes along."""

    async def told() -> None:
        anna = await Person(standing, page).join()
        anna.type(0, "Here. ")
        await expect_same(anna)
        moving = {"from_path": page, "to_path": "moved.md"}
        standing.post("/api/tools/move_document", moving, mode="apply", agree="true")
        assert (await anna.ended())[0] == 4404
        anna.type(0, "There. ")
        tab_of(standing, "moved.md")
        assert standing.get("/api/live", path="moved.md")["epoch"] == anna.epoch
        anna.path = "moved.md"
        await anna.join()
        assert await expect_same(anna) == "There. Here. " + STORY
        await anna.leave()

    story(told())


def test_who_is_there_is_told_by_the_name_the_server_knows(standing: Server, page: str):
    async def told() -> None:
        anna, bert = await Person(standing, page).join(), await Person(standing, page).join()
        state = json.dumps({"user": {"name": "Agent", "kind": "agent", "color": "#f00"}, "cursor": None}).encode()
        await anna.send(wire.awareness(b"\1\7\1" + wire.blob(state)))
        await until(lambda: 7 in bert.others)
        assert bert.others[7] == {"user": {"name": "you", "kind": "person", "color": "#f00"}, "cursor": None}
        await bert.send(wire.awareness(b"\1\7\5" + wire.blob(b"null")))  # not Bert's to say
        carl = await Person(standing, page).join()
        await until(lambda: 7 in carl.others)
        await anna.leave()
        await until(lambda: 7 not in bert.others and 7 not in carl.others)
        await carl.send(bytes((wire.ASK_AWARENESS,)))
        await bert.leave()
        await carl.leave()

    story(told())
