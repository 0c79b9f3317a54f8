"""Three people and all else that happens to a document, at random: they come to one text, in which every word that
anybody put in stands exactly once."""

from __future__ import annotations

import asyncio
import random
import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import TORTURE
from tests.server.live.people import Person, expect_same, story, tab_of
from tests.server.serving import begun, ended

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.server.serving import Server

pytestmark = pytest.mark.slow
HISTORIES = 1000 if TORTURE else 12
ACTS = 40
RESTART_EVERY = 12
WORD = re.compile("Q[^Q]*Q")
PARAGRAPHS = 30
START = "# Of lamps\r\n\n" + "".join(f"Paragraph {n} says that lamp {n} was lit.\n\n" for n in range(PARAGRAPHS))


class World:
    """A server that may end and begin again, and a document that many hands are at."""

    def __init__(self, server: Server, seed: int) -> None:
        self.server = server
        self.chance = random.Random(seed)
        self.path = f"history-{seed}.md"
        self.expected: set[str] = set()
        self.perhaps: set[str] = set()  # of agents: a decision may have taken it back
        self.done: list[str] = []
        self.conflicts = False  # then both sides' words stand there, and with them what surrounds them
        assert server.folder is not None
        self.file = server.folder / self.path
        self.file.write_bytes(START.encode())
        self.people = [Person(server, self.path) for _ in range(3)]

    def word(self, who: str) -> str:
        """Something to put in that never was there; often with characters that are several bytes, or two units."""
        return f"Q{who}{len(self.done)}{self.chance.choice(['', 'é', '😀', '漢', 'e' + chr(0x301)])}Q"

    def safe(self, text: str) -> int:
        """A place at which nothing that is counted is cut in two."""
        places = [at for at in range(len(text) + 1) if not any(m.start() < at < m.end() for m in WORD.finditer(text))]
        return self.chance.choice([at for at in places if not text.startswith(("\u0301", "\r\n"), at)])

    # What people do

    def types(self, person: Person) -> None:
        word = self.word("p")
        person.type(self.safe(str(person)), word)
        self.expected.add(word)

    def takes_out(self, person: Person) -> None:
        """A word that a person put in; nobody types within words."""
        found = [match for match in re.finditer("Qp[^Q]*Q", str(person)) if match.group() in self.expected]
        if found:
            match = self.chance.choice(found)
            person.type(match.start(), "", len(match.group()))
            self.expected.discard(match.group())

    def moves(self, person: Person) -> None:
        """Take a word out here and put a new one in there, in one go."""
        self.takes_out(person)
        self.types(person)

    async def comes_or_goes(self, person: Person) -> None:
        if person.closed is None and person.epoch:
            await person.leave()
        else:
            person.client = self.server
            await person.join()

    # What else happens

    async def ask(self, act: Callable[..., Any], *arguments: Any, **query: Any) -> Any:
        return await asyncio.to_thread(act, *arguments, **query)

    async def agent_edits(self, mode: str) -> None:
        word = self.word("a")
        old = f"Paragraph {self.chance.randrange(PARAGRAPHS)} says"
        body = {"path": self.path, "old_text": old, "new_text": f"{old} {word}"}
        answer = await self.ask(
            self.server.request, "POST", "/api/tools/edit_text", body, query={"mode": mode, "agree": "true"}
        )
        if answer.status == 200:
            (self.expected if mode == "apply" else self.perhaps).add(word)
            await self.look()

    async def decides(self, verdict: str) -> None:
        await self.ask(self.server.request, "POST", f"/api/review/{verdict}", {"hunks": {self.path: None}})

    async def saves(self) -> None:
        tab = await self.ask(tab_of, self.server, self.path)
        await self.ask(self.server.post, f"/api/tabs/{tab['tab_id']}/save")

    async def program_writes(self) -> None:
        word = self.word("d")
        now = self.file.read_bytes().decode()
        at = self.chance.choice([match.end() for match in re.finditer("\n\n", now)])
        beside = self.file.with_suffix(".new")  # as good programs write: nobody sees half a file
        beside.write_bytes((now[:at] + word + "\n\n" + now[at:]).encode())
        beside.replace(self.file)
        self.expected.add(word)
        await self.look()

    async def look(self) -> None:
        """Whether somebody changed what somebody else was just changing, too."""
        drafts = (await self.ask(self.server.get, "/api/review", path=self.path))["documents"]
        self.conflicts |= any(hunk["conflict"] for draft in drafts for hunk in draft["hunks"])

    async def restarts(self) -> None:
        process, folder = self.server.process, self.server.folder
        assert process is not None
        assert folder is not None
        if self.chance.random() < 0.5:
            process.kill()
            process.communicate()
        else:
            assert await asyncio.to_thread(ended, self.server) == ""
        for person in self.people:
            if person.epoch:
                await person.ended()
        self.chance.choice([self.types, self.takes_out])(self.people[0])
        again = await asyncio.to_thread(begun, folder)
        self.server.port, self.server.token, self.server.process = again.port, again.token, again.process
        await self.ask(self.server.get, "/api/version")  # it answers, so it will also end when it is told to

    async def act(self, may_restart: bool) -> None:
        person = self.chance.choice(self.people)
        acts: list[tuple[int, str, Callable[[], Any]]] = [
            (12, "types", lambda: self.types(person)),
            (4, "takes out", lambda: self.takes_out(person)),
            (3, "moves", lambda: self.moves(person)),
            (4, "comes or goes", lambda: self.comes_or_goes(person)),
            (2, "agent proposes", lambda: self.agent_edits("propose")),
            (1, "agent applies", lambda: self.agent_edits("apply")),
            (1, "accept", lambda: self.decides("accept")),
            (1, "reject", lambda: self.decides("reject")),
            (1, "save", self.saves),
            (2, "another program", self.program_writes),
            (3, "pause", lambda: asyncio.sleep(self.chance.choice([0.0, 0.005, 0.03]))),
            (1 if may_restart else 0, "restart", self.restarts),
        ]
        _, name, does = self.chance.choices(acts, [weight for weight, _, _ in acts])[0]
        self.done.append(name)
        done = does()
        if done is not None:
            await done

    async def run(self, may_restart: bool) -> str:
        """Live through it; gives the text that all of them have at the end."""
        for person in self.people:
            await person.join()
        for _ in range(ACTS):
            await self.act(may_restart)
        for person in self.people:
            if person.closed is not None:
                person.client = self.server
                await person.join()
        text = await expect_same(*self.people)
        await self.decides("accept")
        await self.saves()
        assert self.file.read_bytes().decode() == await expect_same(*self.people) == text
        for person in self.people:
            await person.leave()
        return text

    def faults(self, text: str) -> list[str]:
        """What is wrong with the text that all of them have."""
        found = WORD.findall(text)
        wrong = [] if self.expected <= set(found) else ["something is lost"]
        if self.conflicts:
            return wrong
        if len(found) != len(set(found)):
            wrong.append("something stands there twice")
        # After these a merge in the workspace may have brought back what a person took out and had not saved.
        merged = {"another program", "agent applies", "accept", "reject"} & set(self.done)
        if not merged and not set(found) <= self.expected | self.perhaps:
            wrong.append("something came back")
        for who in ("Qp[^Q]*Q", " Qa[^Q]*Q", "Qd[^Q]*Q\n\n"):
            text = re.sub(who, "", text)
        return wrong if text == START else [*wrong, "something else was changed"]


def test_three_people_and_all_the_rest_come_to_one_text(standing: Server):
    async def told() -> dict[int, tuple[list[str], str]]:
        wrong: dict[int, tuple[list[str], str]] = {}
        for seed in range(HISTORIES):
            world = World(standing, seed)
            try:
                faults = world.faults(await world.run(may_restart=seed % RESTART_EVERY == 5))
            except BaseException as error:
                error.add_note(f"seed {seed}: {world.done} -> {world.expected} {world.perhaps}")
                raise
            if faults:
                wrong[seed] = faults, f"{world.done} -> {world.expected} {world.perhaps}"
        return wrong

    assert story(told()) == {}
