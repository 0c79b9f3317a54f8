"""Real sessions of writing, keystroke by keystroke, through real websockets: all end in the recorded text."""

from __future__ import annotations

import asyncio
import gzip
import json
import random
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict

import pytest
from pycrdt import Doc, Text

from redraft.server.live import wire
from redraft.text.edits import Change
from tests.conftest import TORTURE
from tests.server.live.people import Person, expect_same, story, until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.serving import Server

pytestmark = pytest.mark.slow
ALONE = ["friendsforever_flat", "clownschool_flat", "sveltecomponent"] if TORTURE else ["clownschool_flat"]
TOGETHER = ["friendsforever", "clownschool"] if TORTURE else ["friendsforever"]
PREFIX_ALONE, PREFIX_TOGETHER = (None, None) if TORTURE else (1500, 800)


class Step(TypedDict):
    """What one of several did at once, and the steps after which they did it."""

    agent: int
    parents: list[int]
    patches: list[tuple[int, int, str]]


def trace_of(material: Path, name: str) -> dict[str, Any]:
    with gzip.open(material / "editing-traces" / f"{name}.json.gz", "rt", encoding="utf-8") as file:
        return json.load(file)


def begin(server: Server, name: str, content: str) -> str:
    assert server.folder is not None
    (server.folder / f"{name}.md").write_bytes(content.encode())
    return f"{name}.md"


def says(person: Person, text: str) -> bool:
    return str(person) == text


@pytest.mark.parametrize("name", ALONE)
def test_a_real_session_typed_by_two_ends_in_the_recorded_text(standing: Server, material: Path, name: str):
    """Each types for a while, and the other goes on from what they see."""
    trace = trace_of(material, name)
    steps = [patch for step in trace["txns"] for patch in step["patches"]][:PREFIX_ALONE]
    path = begin(standing, name, trace["startContent"])
    chance = random.Random(7)

    async def told() -> None:
        typing, waiting = [await Person(standing, path).join() for _ in range(2)]
        expected: str = trace["startContent"]
        left = 0
        for at, taken, new in steps:
            if left == 0:
                typing, waiting, left = waiting, typing, chance.randint(1, 250)
                await until(partial(says, typing, expected))
            left -= 1
            typing.type(at, new, taken)
            expected = Change.between(expected, expected[:at] + new + expected[at + taken :]).apply(expected)
            if left % 20 == 0:
                await asyncio.sleep(0)
        assert await expect_same(typing, waiting) == expected
        if PREFIX_ALONE is None:
            assert expected == trace["endContent"]
        await typing.leave()
        await waiting.leave()

    story(told())


class Writer:
    """Somebody who wrote at the same time as others: in the room, and at a replica of their own that has heard of the
    others just as much as they had when they typed."""

    def __init__(self, person: Person, number: int) -> None:
        self.person = person
        # Which of two comes first who typed at one place is decided by these numbers, here as when it was recorded.
        self.doc: Doc[Any] = Doc(client_id=number + 1)
        self.text: Text = self.doc.get("text", type=Text)
        self.doc.apply_update(person.doc.get_update())
        self.knows: set[int] = set()

    @property
    def clock(self) -> int:
        """How many characters they have put in."""
        return clocks(self.doc).get(self.doc.client_id, 0)

    async def type(self, patches: list[tuple[int, int, str]]) -> bytes:
        before = self.doc.get_state()
        with self.doc.transaction():
            for at, taken, new in patches:
                now = str(self.text)
                start, end = len(now[:at].encode()), len(now[: at + taken].encode())
                if end > start:
                    del self.text[start:end]
                if new:
                    self.text.insert(start, new)
        update = self.doc.get_update(before)
        self.person.doc.apply_update(update)
        await self.person.send(wire.update_message(update))
        return update


def clocks(doc: Doc[Any]) -> dict[int, int]:
    reader = wire.Reader(doc.get_state())
    return {reader.number(): reader.number() for _ in range(reader.number())}


def news(steps: list[Step], step: Step, known: set[int]) -> list[int]:
    """The steps that somebody had heard of before this one, and has not by now."""
    found: set[int] = set()
    ahead = [parent for parent in step["parents"] if parent not in known]
    while ahead:
        number = ahead.pop()
        found.add(number)
        ahead += [parent for parent in steps[number]["parents"] if parent not in known and parent not in found]
    return sorted(found)


@pytest.mark.parametrize("name", TOGETHER)
def test_a_real_session_of_several_at_once_ends_in_the_recorded_text(standing: Server, material: Path, name: str):
    """Nobody goes on before their own connection has brought what they had heard of; they type without the rest."""
    trace = trace_of(material, name)
    steps: list[Step] = trace["txns"][:PREFIX_TOGETHER]
    path = begin(standing, name, "")

    async def told() -> None:
        people = [await Person(standing, path).join() for _ in range(trace["numAgents"])]
        writers = [Writer(person, number) for number, person in enumerate(people)]
        typed: list[tuple[int, int, bytes]] = []

        def has_come(person: Person, numbers: list[int]) -> bool:
            come = clocks(person.doc)
            return all(come.get(typed[number][0], 0) >= typed[number][1] for number in numbers)

        for number, step in enumerate(steps):
            writer = writers[step["agent"]]
            heard = news(steps, step, writer.knows)
            await until(partial(has_come, writer.person, heard))
            with writer.doc.transaction():
                for each in heard:
                    writer.doc.apply_update(typed[each][2])
            update = await writer.type(step["patches"])
            typed.append((writer.doc.client_id, writer.clock, update))
            writer.knows |= {number, *heard}
        whole: Doc[Any] = Doc()
        text: Text = whole.get("text", type=Text)
        for _, _, update in typed:
            whole.apply_update(update)
        assert await expect_same(*people) == str(text)
        assert PREFIX_TOGETHER is not None or str(text) == trace["endContent"]
        for person in people:
            await person.leave()

    story(told())
