"""Promise 5: nothing that a person typed is lost, whatever agents do and whatever is refused or taken back.

The person types digits and deletes nothing; nobody else writes digits, and no agent names one in what it takes out. So
every digit that was acknowledged must be there at every moment, and on the disk once it is saved.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.conftest import TORTURE
from tests.promises.doors import Folder, Json, chance, number_of, rounds
from tests.promises.test_4_order_of_decisions import make_text, pick_passage, rewrite
from tests.server.live.people import Person

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow
ACTS = 14


class Ledger:
    """A document, the digits that were acknowledged, and what may happen to it."""

    def __init__(self, folder: Folder, seed: int) -> None:
        self.dice = chance("typed", seed)
        self.folder = folder
        self.name = f"{seed}.txt"
        self.typed = Counter[str]()
        self.turns: list[int] = []  # of agents, and decisions on them
        self.done: list[str] = [f"seed {seed}"]
        folder.put(self.name, make_text(self.dice))
        self.person = Person(folder.server, self.name)

    def digits(self) -> str:
        return "".join(self.dice.choice("0123456789") for _ in range(self.dice.randint(1, 3)))

    async def types(self) -> None:
        text, version = await asyncio.to_thread(self.folder.text, self.name)
        at, new = self.dice.randint(0, len(text)), self.digits()
        if await asyncio.to_thread(self.folder.type, self.name, at, "", new, version):
            self.typed += Counter(new)
        self.done.append(f"typed {new} at {at}")

    async def types_live(self) -> None:
        self.person.client = self.folder.server
        if self.person.closed is not None or not self.person.epoch:
            await self.person.join()
        at, new = self.dice.randint(0, len(str(self.person))), self.digits()
        self.person.type(at, new)
        await self.person.sent()
        self.typed += Counter(new)
        self.done.append(f"typed {new} live at {at}")

    async def agent(self, mode: str) -> None:
        text, version = await asyncio.to_thread(self.folder.text, self.name)
        passage = pick_passage(self.dice, text)
        if passage is None:
            return
        new = rewrite(self.dice, passage, self.dice.choice("ABCDEFGH"))
        arguments = {"path": self.name, "version": version, "old_text": passage, "new_text": new}
        _, answer = await asyncio.to_thread(lambda: self.folder.tool("edit_text", mode, **arguments))
        self.keep_turn(answer.get("turn"))
        self.done.append(f"{mode} {passage!r} -> {new!r}")

    def keep_turn(self, turn: int | None) -> None:
        if turn is not None:
            self.turns.append(turn)

    async def decides(self) -> None:
        hunks = await asyncio.to_thread(self.folder.hunks, self.name)
        if hunks:
            verdict = self.dice.choice(["accept", "reject", "reject"])
            names = [hunk["hunk_id"] for hunk in self.dice.sample(hunks, self.dice.randint(1, len(hunks)))]
            done, answer = await asyncio.to_thread(self.folder.decide, verdict, self.name, names)
            if done and verdict == "reject":
                self.keep_turn(number_of(answer["turn"]))
            self.done.append(f"{verdict} {names}: {done}")

    async def undoes(self) -> None:
        if self.turns:
            turn = self.dice.choice(self.turns)
            done, _ = await asyncio.to_thread(self.folder.undo, turn)
            self.done.append(f"undo {turn}: {done}")

    async def rolls_back(self) -> None:
        if self.turns:
            turn = self.dice.choice(self.turns)
            found = await asyncio.to_thread(self.folder.server.request, "GET", f"/api/agent/checkpoints/{turn}")
            files: list[Json] = found.json["affected_files"] if found.status == 200 else []
            hunks: list[str] = [hunk["hunk_id"] for file in files for hunk in file["hunks"]]
            if hunks:
                body = {
                    "mode": "scoped_selected",
                    "hunk_ids": self.dice.sample(hunks, self.dice.randint(1, len(hunks))),
                }
                where = f"/api/agent/checkpoints/{turn}/rollback"
                answer = await asyncio.to_thread(self.folder.server.request, "POST", where, body)
                assert answer.status < 500, answer.body
                self.done.append(f"rollback of {turn}: {answer.status}")

    async def saves(self) -> None:
        await asyncio.to_thread(self.folder.save, self.name)
        self.done.append("saved")
        self.check(self.folder.bytes_of(self.name).decode())

    async def restarts(self) -> None:
        await self.person.leave()
        kill = self.dice.random() < 0.5
        await asyncio.to_thread(self.folder.kill if kill else self.folder.stop)
        await asyncio.to_thread(self.folder.start)
        self.done.append("killed" if kill else "restarted")

    def check(self, text: str) -> None:
        found = Counter(char for char in text if char.isdigit())
        assert found == self.typed, f"lost {self.typed - found}, added {found - self.typed}: {self.done} gave {text!r}"

    async def act(self) -> None:
        acts = [self.types, self.types, self.types_live, self.decides, self.decides, self.undoes, self.rolls_back]
        acts += [lambda: self.agent("propose"), lambda: self.agent("propose"), lambda: self.agent("apply"), self.saves]
        await self.dice.choice(acts)()
        self.check((await asyncio.to_thread(self.folder.text, self.name))[0])


async def check_round(folder: Folder, seed: int, *, restart: bool) -> None:
    ledger = Ledger(folder, seed)
    for number in range(ACTS):
        await ledger.act()
        if restart and number == ACTS // 2:
            await ledger.restarts()
            ledger.check((await asyncio.to_thread(folder.text, ledger.name))[0])
    await ledger.saves()
    await ledger.person.leave()


@pytest.mark.covers("P5")
def test_every_acknowledged_digit_is_there_through_turns_rejects_undo_rollback_and_restarts(tmp_path: Path):
    folder = Folder.serve(tmp_path)
    try:
        for seed in rounds(12, 10_000):
            asyncio.run(check_round(folder, seed, restart=seed % (100 if TORTURE else 6) == 5))
    except BaseException:
        folder.kill()
        raise
    folder.stop()
