"""A tool's call and the rich editors that are open on its document: exactly one of them is asked, and none can do harm.

The editors here are real connections that answer as the browser's code does; that code has its own tests.
"""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from redraft.server.live import wire
from redraft.server.live.editors import MAX_MESSAGE, READY_SECONDS
from tests.cli.running import Program
from tests.server.live.people import Person, expect_same, on_disk, story, until
from tests.server.serving import Client, begun, ended
from tests.server.test_team import TEAM, admitted, client
from tests.speaking.lines import Lines, answer_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.server.serving import Server

pytestmark = pytest.mark.slow
HELLO = "Hello world\n"


class Writer(Person):
    """Somebody with a rich editor. `pending` is what was typed into it and not handed in yet, at the text's beginning;
    `answers` says what it answers by itself."""

    def __init__(
        self, client: Client, path: str, pending: str = "", answers: Sequence[str] = ("ready", "shown")
    ) -> None:
        super().__init__(client, path)
        self.pending = pending
        self.answers = answers
        self.asked: list[dict[str, Any]] = []

    async def show(self, ago: int = 0) -> Writer:
        await self.join()
        await self.say(type="shows", ago=ago)
        await self.sent()
        return self

    async def say(self, **message: Any) -> None:
        await self.send(wire.editor(json.dumps(message).encode()))

    async def _take(self, data: bytes) -> None:
        kind, _, carried = wire.read_frame(data)
        if kind != wire.EDITOR:
            await super()._take(data)
            return
        message = json.loads(carried)
        self.asked.append(message)
        answer = {"ask": "ready", "done": "shown"}[message["type"]]
        if answer == "ready" and self.pending:
            self.type(0, self.pending)
            self.pending = ""
            await asyncio.sleep(0)
        if answer in self.answers:
            await self.say(type=answer, id=message["id"])

    @property
    def kinds(self) -> list[str]:
        return [message["type"] for message in self.asked]


async def replaced(server: Client, path: str, start: int, end: int, new: str, **more: Any) -> Any:
    arguments = {"path": path, "from": start, "to": end, "newText": new, **more}
    return await asyncio.to_thread(server.post, "/api/tools/replaceText", arguments, mode="propose", author="Scribe")


async def text_of(server: Client, path: str) -> Any:
    return await asyncio.to_thread(server.post, "/api/tools/getEditorText", {"path": path}, author="Scribe")


@pytest.fixture
def hello(standing: Server, page: str) -> str:
    """A document that says "Hello world"."""
    assert standing.folder is not None
    (standing.folder / page).write_text(HELLO, encoding="utf-8")
    return page


@pytest.mark.covers("RT-mcp-forward", "RT-goal-browser")
def test_the_editor_hands_in_what_was_typed_and_is_told_what_was_done(standing: Server, hello: str):
    async def told() -> None:
        anna = await Writer(standing, hello, "\U0001f44b ").show()
        read = await text_of(standing, hello)
        assert (read["text"], anna.kinds) == ("\U0001f44b Hello world", ["ask"])
        answer = await replaced(standing, hello, 2, 7, "Hi", version=read["version"])
        assert (answer["updatedText"], answer["state"]) == ("\U0001f44b Hi world", "proposed")
        done = anna.asked[-1]
        assert anna.kinds == ["ask", "ask", "done"]
        assert (done["cursor"], done["length"]) == (5, 11), "in the units of a browser"
        assert done["turn"] == answer["turn"]
        assert str(anna) == "\U0001f44b Hi world\n", "it has the text by the time it hears of it"
        await expect_same(anna, on="\U0001f44b Hi world\n")
        assert on_disk(standing, hello) == HELLO
        await anna.leave()

    story(told())


def test_the_change_is_the_agents_and_the_typing_the_persons(standing: Server, hello: str):
    async def told() -> None:
        anna = await Writer(standing, hello, "Oh.\n\n").show()
        await text_of(standing, hello)
        answer = await replaced(standing, hello, 11, 16, "moon")
        await expect_same(anna, on="Oh.\n\nHello moon\n")
        turn = standing.get(f"/api/turns/{answer['turn']}")["turn"]
        assert turn["author"] == {"kind": "agent", "name": "Scribe"}
        assert [hunk["author"] for hunk in _hunks(standing, hello)] == ["user", "agent"]
        assert anna.undo(), "her own typing can be undone"
        assert not anna.undo(), "and nothing else"
        await expect_same(anna, on="Hello moon\n")
        assert [hunk["author"] for hunk in _hunks(standing, hello)] == ["agent"]
        await anna.leave()

    story(told())


def _hunks(server: Client, path: str) -> Any:
    return server.get("/api/review/document", path=path)["hunks"]


@pytest.mark.covers("RT-bridge-one-executes")
def test_of_several_editors_only_the_one_used_last_is_asked(standing: Server, hello: str):
    async def told() -> None:
        anna = await Writer(standing, hello).show(ago=5000)
        bert = await Writer(standing, hello).show(ago=90_000)
        carl = await Person(standing, hello).join()
        assert (await replaced(standing, hello, 0, 5, "Hi"))["success"]
        assert (anna.kinds, bert.kinds) == (["ask", "done"], [])
        await bert.say(type="shows", ago=0)
        await bert.sent()
        await replaced(standing, hello, 0, 2, "Ho")
        assert (len(anna.asked), bert.kinds) == (2, ["ask", "done"])
        assert await expect_same(anna, bert, carl) == "Ho world\n"
        for person in (anna, bert, carl):
            await person.leave()

    story(told())


@pytest.mark.covers("RT-bridge-register")
def test_an_editor_that_closes_is_not_asked_any_more_nor_waited_for(standing: Server, hello: str):
    async def told() -> None:
        anna = await Writer(standing, hello, answers=()).show()
        asking = asyncio.create_task(replaced(standing, hello, 0, 5, "Hi"))
        await until(lambda: anna.kinds == ["ask"])
        await anna.say(type="hides")
        assert (await asking)["success"], "with none open the server makes the change"
        bert = await Writer(standing, hello, answers=()).show()
        asking = asyncio.create_task(replaced(standing, hello, 0, 2, "Ho"))
        await until(lambda: bert.kinds == ["ask"])
        await bert.leave()
        assert (await asking)["success"], "an editor that is waited for in vain is an error"
        assert await expect_same(anna, on="Ho world\n")
        assert anna.kinds == ["ask"]
        await anna.leave()

    story(told())


@pytest.mark.covers("RT-bridge-timeout")
def test_an_editor_that_stays_silent_is_an_error_and_nothing_is_changed_not_even_later(standing: Server, hello: str):
    async def told() -> None:
        anna = await Writer(standing, hello, answers=()).show()
        bert = await Writer(standing, hello).show(ago=1000)
        began = time.monotonic()
        reading = asyncio.create_task(
            asyncio.to_thread(standing.refused, "POST", "/api/tools/getEditorText", {"path": hello}, 503)
        )
        answer = await replaced(standing, hello, 0, 5, "Hi")
        assert time.monotonic() - began > READY_SECONDS - 0.1
        assert (answer["success"], answer["message"]) == (False, "Editor not ready")
        assert "did not answer within 5 s. Nothing was changed." in answer["error"]
        assert (await reading)["error"] == "editor_unavailable"
        for message in anna.asked:
            await anna.say(type="ready", id=message["id"])
        anna.type(0, "Late. ")
        assert await expect_same(anna, bert) == "Late. " + HELLO
        assert (anna.kinds, bert.kinds) == (["ask", "ask"], [])
        await anna.leave()
        await bert.leave()

    story(told())


def test_an_editor_that_cannot_hand_in_its_typing_is_an_error_at_once(standing: Server, hello: str):
    async def told() -> None:
        anna = await Writer(standing, hello, answers=()).show()
        asking = asyncio.create_task(replaced(standing, hello, 0, 5, "Hi"))
        await until(lambda: anna.kinds == ["ask"])
        await anna.say(type="busy", id=anna.asked[0]["id"])
        answer = await asking
        assert (answer["success"], "could not send" in answer["error"]) == (False, True)
        await expect_same(anna, on=HELLO)
        await anna.leave()

    story(told())


def test_an_edit_stands_though_the_editor_never_says_that_it_shows_it(standing: Server, hello: str):
    async def told() -> None:
        anna = await Writer(standing, hello, answers=("ready",)).show()
        answer = await replaced(standing, hello, 0, 5, "Hi")
        assert (answer["success"], answer["updatedText"], answer["state"]) == (True, "Hi world", "proposed")
        await expect_same(anna, on="Hi world\n")
        await anna.leave()

    story(told())


def test_typing_that_the_caller_has_not_read_makes_the_call_stale(standing: Server, hello: str):
    async def told() -> None:
        anna = await Writer(standing, hello).show()
        await text_of(standing, hello)
        anna.pending = "Oh. "
        answer = await replaced(standing, hello, 0, 5, "Hi")
        assert (answer["success"], "changed since it was read" in answer["error"]) == (False, True)
        assert anna.kinds == ["ask", "ask"]
        version = (await text_of(standing, hello))["version"]
        wrong = await replaced(standing, hello, 0, 5, "Hi", expected="Hello", version=version)
        assert "not what was expected" in wrong["error"]
        assert await expect_same(anna) == "Oh. " + HELLO
        await anna.leave()

    story(told())


def test_only_the_editor_that_was_asked_can_answer(standing: Server, hello: str):
    async def told() -> None:
        anna = await Writer(standing, hello, answers=()).show()
        mallory = await Writer(standing, hello).show(ago=1000)
        asking = asyncio.create_task(replaced(standing, hello, 0, 5, "Hi"))
        await until(lambda: anna.kinds == ["ask"])
        for number in (anna.asked[0]["id"], "", None, 7, ["x"], "0" * 16):
            await mallory.say(type="ready", id=number)
        await mallory.sent()
        await asyncio.sleep(0.1)
        assert not asking.done()
        await anna.say(type="ready", id=anna.asked[0]["id"])
        await anna.say(type="busy", id=anna.asked[0]["id"])  # the first word counts
        assert (await asking)["success"]
        await anna.leave()
        await mallory.leave()

    story(told())


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[1]",
        b"null",
        b"{}",
        b'{"type": "does"}',
        b'{"type": "shows"}',
        b'{"type": "shows", "ago": -1}',
        b'{"type": "shows", "ago": true}',
        b'{"type": "shows", "ago": 1e999}',
        b'{"type": ["ready"], "id": "x"}',
        b"[" * 400,
        b'{"type": "ready", "id": "' + b"x" * MAX_MESSAGE + b'"}',
    ],
)
def test_an_editor_that_makes_no_sense_loses_its_connection_and_nothing_else(standing: Server, hello: str, data: bytes):
    async def told() -> None:
        anna, mallory = await Writer(standing, hello).show(), await Person(standing, hello).join()
        await mallory.send(wire.editor(data))
        assert (await mallory.ended())[0] == 4400
        assert (await replaced(standing, hello, 0, 5, "Hi"))["success"]
        await anna.leave()

    story(told())


def test_many_calls_at_once_are_made_one_after_the_other_or_told_to_come_again(standing: Server, hello: str):
    async def told() -> None:
        anna = await Writer(standing, hello, answers=("shown",)).show()
        asking = [asyncio.create_task(_status(standing, hello)) for _ in range(12)]
        await until(lambda: len(anna.asked) >= 4)
        anna.type(0, "Typing goes on. ")
        await until(lambda: anna.told["saved"] is False)
        for message in tuple(anna.asked):
            await anna.say(type="ready", id=message["id"])
        statuses = [await each for each in asking]
        assert set(statuses) == {200, 503}
        assert await expect_same(anna) == "Typing goes on. " + HELLO
        await anna.leave()

    story(told())


async def _status(server: Client, path: str) -> int:
    answer = await asyncio.to_thread(server.request, "POST", "/api/tools/getEditorText", {"path": path})
    return answer.status


def test_the_calls_of_one_caller_do_not_mix_while_one_waits(standing: Server, hello: str):
    """The one that waits keeps its mode, its consent and its line in the log."""

    async def told() -> None:
        anna = await Writer(standing, hello, answers=("shown",)).show()
        asking = asyncio.create_task(replaced(standing, hello, 0, 5, "Hi"))
        await until(lambda: anna.kinds == ["ask"])
        made = await asyncio.to_thread(
            standing.post, "/api/tools/create_document", {"path": f"new-{hello}", "content": "x\n"},
            mode="apply", author="Scribe",
        )  # fmt: skip
        assert made["state"] == "applied"
        await anna.say(type="ready", id=anna.asked[0]["id"])
        answer = await asking
        assert answer["state"] == "proposed"
        turn = await asyncio.to_thread(standing.get, f"/api/turns/{answer['turn']}")
        assert turn["turn"]["title"] == f"Replace text in {hello}"
        await anna.leave()

    story(told())


def test_a_client_on_the_standard_streams_reaches_the_editor_through_the_server(standing: Server, hello: str):
    async def told() -> None:
        anna = await Writer(standing, hello, "Oh. ").show()
        client = await asyncio.to_thread(_joined, standing)
        try:
            read = await asyncio.to_thread(client.call, "getEditorText", path=hello)
            assert answer_of(read)["text"] == "Oh. Hello world"
            given = {"path": hello, "from": 4, "to": 9, "newText": "Hi"}
            answer = answer_of(await asyncio.to_thread(lambda: client.call("replaceText", **given)))
            assert answer["updatedText"] == "Oh. Hi world"
            assert anna.kinds == ["ask", "ask", "done"]
        finally:
            assert await asyncio.to_thread(client.close) == ""
        await anna.leave()

    story(told())


def _joined(server: Server) -> Lines:
    assert server.folder is not None
    client = Lines.to(server.folder, "--profile", "editor")
    client.start()
    return client


def test_the_command_line_reaches_the_editor_through_the_server(standing: Server, hello: str):
    assert standing.folder is not None
    program = Program(standing.folder)

    def tool(name: str, **arguments: Any) -> Any:
        given = json.dumps({"path": hello, **arguments})
        return program.run("tool", name, given, "--mode", "propose", "--author", "Scribe").json

    async def told() -> None:
        anna = await Writer(standing, hello, "Oh. ").show()
        assert (await asyncio.to_thread(tool, "getEditorText"))["text"] == "Oh. Hello world"
        given = {"from": 4, "to": 9, "newText": "Hi"}
        answer = await asyncio.to_thread(lambda: tool("replaceText", **given))
        assert (answer["updatedText"], answer["state"]) == ("Oh. Hi world", "proposed")
        assert anna.kinds == ["ask", "ask", "done"]
        turn = standing.get(f"/api/turns/{answer['turn']}")["turn"]
        assert turn["author"] == {"kind": "agent", "name": "Scribe"}
        await anna.leave()

    story(told())


def test_a_viewers_editor_is_never_asked(folder: Path):
    tokens = [admitted(folder, *each) for each in (("anna", "editor"), ("vera", "viewer"))]
    (folder / "a.md").write_text(HELLO, encoding="utf-8")
    server = begun(folder, *TEAM)
    editor, viewer = (client(server, token) for token in tokens)

    async def told() -> None:
        anna, vera = await Writer(editor, "a.md").show(ago=60_000), await Writer(viewer, "a.md").show()
        assert (await replaced(editor, "a.md", 0, 5, "Hi"))["success"]
        assert (vera.kinds, anna.kinds) == ([], ["ask", "done"])
        await anna.say(type="hides")
        await anna.sent()
        assert (await replaced(editor, "a.md", 0, 2, "Ho"))["success"]
        assert (vera.kinds, len(anna.kinds)) == ([], 2)
        assert await expect_same(anna) == "Ho world\n"
        await anna.leave()
        await vera.leave()

    story(told())
    assert ended(server) == ""
