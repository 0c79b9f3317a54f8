"""Promise 6: undo tells the truth, whichever way a turn's words were taken back and brought again before.

Each turn of the agent has a word of its own and the person types numbers, so the text says by itself whose words stand.
After an undo of a turn nothing of it stands and every number still does. While words of it stand, it is never refused
as undone or discarded: it is taken back, or the conflict is named and nothing changes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.promises.doors import Folder, Json, chance, number_of, rounds, served

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow
ACTS = 10


class Ledger:
    """A document, the word of each turn of the agent, and the numbers that the person typed."""

    def __init__(self, folder: Folder, seed: int) -> None:
        self.dice = chance("undo after undo", seed)
        self.folder = folder
        self.name = f"{seed}.md"
        self.words: dict[int, str] = {}
        self.numbers: set[str] = set()
        self.history: list[int] = []  # the turns that can be undone or rolled back
        self.done = [f"seed {seed}"]
        folder.put(self.name, self.dice.choice(["alpha beta gamma\n", "alpha beta\ngamma delta eps\n"]))

    def seen(self) -> str:
        """What the person sees, and what the disk holds."""
        return f"{self.folder.text(self.name)[0]}|{self.folder.bytes_of(self.name).decode()}"

    def note(self, what: str, turn: Json | int | None) -> None:
        number = turn if isinstance(turn, int) else number_of(turn)
        self.history += [number] if number else []
        self.done.append(f"{what}: turn {number}, {self.seen()!r}")

    def told(self) -> str:
        return "; ".join(self.done)

    def edits(self) -> None:
        text, version = self.folder.text(self.name)
        places = [match.span() for match in re.finditer(r"[A-Za-z]+", text)]
        if not places:
            return
        start, end = self.dice.choice(places)
        word = f"{chr(65 + len(self.words))}NEW"
        mode = self.dice.choice(["apply", "propose"])
        new = self.dice.choice([word, f"{word} MORE{word}"])
        content = text[:start] + new + text[end:]
        change = {"path": self.name, "version": version, "content": content, "allow_shrink": True}
        done, answer = self.folder.tool("write_document", mode, **change)
        if done and answer["turn"]:
            self.words[answer["turn"]] = word
        self.note(f"{mode} {text[start:end]} -> {new}", answer["turn"] if done else None)

    def decides(self) -> None:
        hunks = [hunk["hunk_id"] for hunk in self.folder.hunks(self.name)]
        if hunks:
            verdict = self.dice.choice(["accept", "accept", "accept", "reject"])
            _, answer = self.folder.decide(verdict, self.name, self.dice.sample(hunks, 1))
            self.note(verdict, answer.get("turn"))

    def types(self) -> None:
        text, version = self.folder.text(self.name)
        number = f"{len(self.done)}".zfill(3)
        at = self.dice.choice([match.end() for match in re.finditer(r"^|\w+", text)])
        assert self.folder.type(self.name, at, "", number, version), self.told()
        self.numbers.add(number)
        self.note(f"typed {number} at {at}", None)

    def saves(self) -> None:
        self.done.append(f"saved: {number_of(self.folder.save(self.name))}")

    def redoes(self) -> None:
        answer = self.folder.server.request("POST", "/api/turns/redo")
        self.note("redo", answer.json.get("turn"))

    def rolls_back(self) -> None:
        """Take some hunks of any turn back, also of an undo or a rollback."""
        number = self.dice.choice(self.history or [0])
        where = f"/api/agent/checkpoints/{number}"
        found = self.folder.server.request("GET", where)
        files: list[Json] = found.json["affected_files"] if found.status == 200 else []
        hunks = [hunk["hunk_id"] for file in files for hunk in file["hunks"]]
        if hunks:
            chosen = self.dice.sample(hunks, self.dice.randint(1, len(hunks)))
            asked = {"mode": "scoped_selected", "hunk_ids": chosen}
            answer = self.folder.server.request("POST", f"{where}/rollback", asked)
            self.note(f"rollback of {number}", answer.json.get("turn"))

    def undoes(self) -> None:
        self.undo(self.dice.choice([*self.history, *self.words] or [0]))

    def undo(self, number: int) -> None:
        if not number:
            return
        word = self.words.get(number)
        before = self.seen()
        done, answer = self.folder.undo(number)
        self.note(f"undo {number} {answer.get('conflicts')} {answer.get('message', '')}", answer.get("turn"))
        after = self.seen()
        if not done:
            assert after == before, self.told()
            assert answer.get("conflicts") or word is None or word not in before, self.told()
        elif word is not None:
            assert word not in after, self.told()
            lost = {each for each in self.numbers if each in before and each not in after}
            assert not lost, f"{self.told()}: lost {lost}"

    def play(self) -> None:
        acts = [self.edits, self.decides, self.types, self.saves, self.redoes, self.rolls_back, self.undoes]
        for _ in range(ACTS):
            self.dice.choices(acts, [4, 4, 2, 2, 1, 3, 4])[0]()
        for number in self.dice.sample(list(self.words), len(self.words)):
            self.undo(number)
        states = {turn["turn"]: turn["state"] for turn in self.folder.turns(min(self.words, default=1) - 1)}
        seen = self.seen()
        wrong = {turn for turn, word in self.words.items() if word in seen and states[turn] in ("undone", "discarded")}
        assert not wrong, f"{self.told()}: {wrong} stand, and are listed otherwise"


@pytest.mark.covers("P5", "P6")
def test_what_undo_says_of_a_turn_is_so_however_it_was_taken_back_and_brought_again(tmp_path: Path):
    with served(tmp_path) as folder:
        for seed in rounds(10, 10_000):
            Ledger(folder, seed).play()
