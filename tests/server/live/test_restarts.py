"""Live documents through the end of a server, orderly or not: the epoch stays, and with it all that anybody typed."""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING

import pytest

from tests.conftest import TORTURE
from tests.server.live.people import Person, expect_same, story
from tests.server.serving import begun, ended
from tests.tools.calling import STORY

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.serving import Server

pytestmark = pytest.mark.slow
LIVES = 10 if TORTURE else 1


def test_an_epoch_outlives_the_server_and_who_was_away_loses_nothing(folder: Path):
    async def before(server: Server) -> tuple[Person, Person]:
        anna, bert = await Person(server).join(), await Person(server).join()
        anna.type(0, "Anna. ")
        await expect_same(anna, bert)
        await bert.leave()
        bert.type(0, "Bert, offline. ")
        return anna, bert

    async def after(server: Server, anna: Person, bert: Person) -> None:
        for person in (anna, bert):
            person.client = server
        await bert.join()
        await anna.join()
        now = await expect_same(anna, bert)
        assert now.count("Anna. ") == now.count("Bert, offline. ") == now.count("# The Lamp") == 1
        for person in (anna, bert):
            await person.leave()

    async def told() -> None:
        server = begun(folder)
        anna, bert = await before(server)
        assert await asyncio.to_thread(ended, server, signal.SIGTERM) == ""
        assert (await anna.ended())[0] == 1012
        anna.type(0, "Typed while it was down. ")
        server = begun(folder)
        assert server.get("/api/live", path="story.md")["epoch"] == anna.epoch
        await after(server, anna, bert)
        assert await asyncio.to_thread(ended, server) == ""

    story(told())


def test_typing_that_is_told_to_have_arrived_is_kept_even_if_the_server_is_killed_at_once(folder: Path):
    """Who was told so may be closed, and never come back."""

    async def told() -> None:
        server = begun(folder)
        anna = await Person(server).join()
        anna.type(0, "Arrived. ")
        await anna.sent()
        assert server.process is not None
        server.process.kill()
        server.process.communicate()
        await anna.ended()
        server = begun(folder)
        assert server.get("/api/documents", path="story.md")["content"] == "Arrived. " + STORY
        assert await asyncio.to_thread(ended, server) == ""

    story(told())


def test_a_server_that_is_killed_in_mid_typing_loses_nothing(folder: Path):
    async def told() -> None:
        server = begun(folder)
        anna = await Person(server).join()
        bert = await Person(server).join()
        for life in range(LIVES):
            for number in range(30):
                anna.type(0, f"a{life}.{number} ")
                bert.type(len(str(bert)), f"b{life}.{number} ")
                await asyncio.sleep(0.002)
            assert server.process is not None
            server.process.kill()
            server.process.communicate()
            await anna.ended()
            await bert.ended()
            server = begun(folder)
            for person in (anna, bert):
                person.client = server
                await person.join()
            now = await expect_same(anna, bert)
            words = now.split()
            for each in range(life + 1):
                for number in range(30):
                    assert words.count(f"a{each}.{number}") == words.count(f"b{each}.{number}") == 1
            assert now.count("She read the letter twice.") == 1
        await anna.leave()
        await bert.leave()
        assert await asyncio.to_thread(ended, server) == ""

    story(told())


def test_an_old_state_never_comes_into_a_new_epoch(standing: Server, page: str):
    async def told() -> None:
        anna = await Person(standing, page).join()
        await anna.leave()
        anna.type(0, "Old. ")
        for epoch in ("0123456789abcdef", "x"):
            await anna.dial(epoch)
            assert (await anna.ended())[0] == 4409
            assert anna.heard == [anna.heard[0]]  # what it was told when it was there
        await expect_same(await Person(standing, page).join(), on=STORY)

    story(told())
