"""Promises 5 and 6 together: decisions, undo and rollback while the person types and does not save.

No two words are the same, so the text says by itself what became of each of them. The ledger knows who wrote a word and
which turns took it out; so it knows what must be seen after every act. Two words that were ever seen together never
change their order, and no word runs into another. What is refused changes nothing and names what stands in its way.
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from tests.promises.doors import Folder, Json, chance, rounds, served
from tests.server.live.people import Person, expect_same

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow
PERSON, DOCUMENT = -1, 0
ACTS = 9


@dataclass(slots=True)
class Word:
    """Who put it in, and which turns took it out. What was taken back for good, by a rollback, is `dropped`."""

    by: int
    gone: set[int] = field(default_factory=set[int])
    dropped: bool = False
    saved: bool = True


class Ledger:
    """A document, and what is known of every word in it."""

    def __init__(self, folder: Folder, seed: int, refusals: Counter[str]) -> None:
        self.dice = chance("undo beside typing", seed)
        self.folder = folder
        self.name = f"{seed}.md"
        self.refusals = refusals
        self.words: dict[str, Word] = {}
        self.before: set[tuple[str, str]] = set()  # of these two, the first stands before the second
        self.beside: set[frozenset[str]] = set()  # these two stood side by side at some time
        self.unsure: set[str] = set()  # words of agents that nobody saw when all around them was taken back
        self.undone: set[int] = set()
        self.turns: list[int] = []
        self.decisions: list[int] = []
        self.of_agents: set[str] = set()  # hunks that were accepted with nothing of the person's in them
        self.number = 0
        self.complete = True  # whether all that was done can be told from the ledger
        self.done = [f"seed {seed}"]
        names = [self.new_word("d", DOCUMENT) for _ in range(self.dice.randint(3, 9))]
        self.first = "".join(name + self.dice.choice("   \n") for name in names)[:-1] + "\n"
        folder.put(self.name, self.first)
        self.person = Person(folder.server, self.name) if seed % 5 == 4 else None
        self.runner = asyncio.Runner() if self.person else None
        self.check()

    # What must be seen

    def new_word(self, letter: str, by: int) -> str:
        """A word like no other. They have letters in common, as words do."""
        self.number += 1
        name = f"{letter}{self.dice.choice('aabt')}{self.number}{self.dice.choice('aat')}"
        self.words[name] = Word(by, saved=by != PERSON)
        return name

    def stands(self, name: str) -> bool:
        word = self.words[name]
        return not word.dropped and word.by not in self.undone and not word.gone - self.undone

    def told(self) -> str:
        return f"{self.first!r}; " + "; ".join(self.done)

    def text(self) -> str:
        return self.folder.text(self.name)[0]

    def on_disk(self) -> str:
        return self.folder.bytes_of(self.name).decode()

    def check(self) -> None:
        for text in (self.text(), self.on_disk()):
            names = text.split()
            unknown = [name for name in names if name not in self.words]
            assert not unknown, f"{self.told()}: {unknown} in {text!r}"
            assert len(set(names)) == len(names), f"{self.told()}: {text!r}"
            pairs = {(first, second) for at, first in enumerate(names) for second in names[at + 1 :]}
            turned = [pair for pair in pairs if pair[::-1] in self.before]
            assert not turned, f"{self.told()}: order of {turned} in {text!r}"
            self.before |= pairs
            self.beside |= {frozenset(pair) for pair in pairwise(names)}
        seen, wanted = set(self.text().split()), {name for name in self.words if self.stands(name)}
        if not self.folder.hunks(self.name):  # nothing is left of what one proposal put in and another took out
            self.unsure |= {name for name, word in self.words.items() if word.by > 0 and word.gone - self.undone}
        assert seen - self.unsure == wanted - self.unsure, (
            f"{self.told()}: lost {wanted - seen}, too many {seen - wanted} in {self.text()!r}"
        )
        kept = {name for name in self.on_disk().split() if not self.words[name].saved}
        assert not kept, f"{self.told()}: {kept} was not saved and is on the disk"

    def typed(self) -> set[str]:
        """The words that the person typed and that nothing they did took back."""
        return {name for name, word in self.words.items() if word.by == PERSON and self.stands(name)}

    # What happens

    def is_free(self, text: str, at: int) -> bool:
        """Whether a place does not lie between two words of one turn. What is written there goes with them."""
        before, behind = ({self.words[name].by for name in side.split()} for side in (text[:at], text[at:]))
        return all(turn <= 0 for turn in before & behind)

    def types(self) -> None:
        text, version = self.folder.text(self.name)
        name = self.new_word("K", PERSON)
        at = self.dice.choice(
            [match.start() for match in re.finditer(r"\S+", text) if self.is_free(text, match.start())]
        )
        self.done.append(f"typed {name} at {at}")
        if self.person is None:
            assert self.folder.type(self.name, at, "", f"{name} ", version), self.told()
        else:
            assert self.runner is not None
            self.runner.run(self.types_live(self.person, at, name))

    async def types_live(self, person: Person, at: int, name: str) -> None:
        if person.closed is not None or not person.epoch:
            await person.join()
        await expect_same(person)
        person.type(at, f"{name} ")
        await person.sent()

    def proposes(self) -> None:
        text, version = self.folder.text(self.name)
        spans = [match.span() for match in re.finditer(r"\S+\s", text)]
        first = self.dice.randint(0, len(spans))
        last = min(len(spans), first + self.dice.choice([0, 1, 1, 2, 3]))
        if last - first == len(spans):
            return  # a document that is emptied is another story
        start = spans[first][0] if first < len(spans) else len(text)
        end = spans[last - 1][1] if last > first else start
        if not self.is_free(text, start) or not self.is_free(text, end):
            return
        turn = -len(self.turns) - 10
        new = [self.new_word("A", turn) for _ in range(self.dice.randint(0 if last > first else 1, 2))]
        put_in = "".join(f"{name} " for name in new)
        content = text[:start] + put_in + text[end:]
        if start == len(text):
            content = f"{text[:-1]} {put_in[:-1]}\n"
        elif end == len(text):
            content = f"{(text[:start] + put_in)[:-1]}\n"
        call = {"path": self.name, "content": content, "version": version, "allow_shrink": True}
        done, answer = self.folder.tool("write_document", "propose", **call)
        assert done, (self.told(), answer)
        number = answer["turn"]
        for name in new:
            self.words[name].by = number
        for name in text[start:end].split():
            self.words[name].gone.add(number)
        self.turns.append(number)
        self.done.append(f"turn {number} made {content!r}")
        assert self.text() == content, self.told()

    def accepts(self) -> None:
        hunks = self.folder.hunks(self.name)
        if not hunks:
            return
        names = [hunk["hunk_id"] for hunk in self.dice.sample(hunks, self.dice.choice([1, 1, 1, len(hunks)]))]
        everything = self.dice.random() < 0.15
        before = self.text()
        done, answer = self.folder.decide("accept", self.name, None if everything else names)
        assert done, (self.told(), answer)
        self.decisions.append(answer["turn"]["turn"])
        self.of_agents |= {hunk["hunk_id"] for hunk in hunks if hunk["author"] == "agent"}
        if everything:
            self.mark_saved()
        kept = "" if everything else [hunk["working"] for hunk in hunks if hunk["hunk_id"] in names]
        for name in "".join(kept).split():  # what was typed into a hunk is one with it
            if name in self.words:
                self.words[name].saved = True
        self.done.append(f"accepted {'all' if everything else kept} by {self.decisions[-1]}: {self.on_disk()!r}")
        assert self.text() == before, f"{self.told()}: {self.text()!r}"

    def mark_saved(self) -> None:
        """All that was typed is on the disk, or comes back there."""
        for name in self.on_disk().split():
            if name in self.words:
                self.words[name].saved = True

    def saves(self) -> None:
        turn = self.folder.save(self.name)
        if turn is not None:
            self.mark_saved()
            self.done.append(f"saved by {turn['turn']}: {self.on_disk()!r}")

    def undo(self, number: int) -> bool:
        before, disk = self.text(), self.on_disk()
        done, answer = self.folder.undo(number)
        mine = {name for name, word in self.words.items() if word.by == number}
        if done:
            self.done.append(f"undid {number}: {self.text()!r}, saved {self.on_disk()!r}")
            left = mine & {*self.text().split(), *self.on_disk().split()}
            assert not left, f"{self.told()}: {left} stands"
            return True
        conflicts: list[Json] = answer.get("conflicts") or []
        reason: str = conflicts[0]["reason"] if conflicts else answer["message"]
        self.done.append(f"undo of {number} was refused: {reason}")
        assert (self.text(), self.on_disk()) == (before, disk), self.told()
        assert conflicts or mine.isdisjoint([*before.split(), *disk.split()]), self.told()
        self.refusals[re.sub(r"\d+", "N", reason)] += 1
        return False

    def undoes_turn(self) -> None:
        standing = [turn for turn in self.turns if turn not in self.undone]
        if not standing:
            return
        turn = self.dice.choice(standing)
        if self.undo(turn):
            self.undone.add(turn)
            self.bring_back(turn)
        elif "discarded" in self.done[-1] or "is left here" in self.done[-1]:
            left = {name for name, word in self.words.items() if word.by == turn and self.stands(name)}
            assert left <= self.unsure, self.told()
            self.undone.add(turn)  # all that it took out was another turn's, and is gone with that
            self.unsure |= {name for name, word in self.words.items() if turn in word.gone and word.by > 0}
        else:
            # Of a turn that was rolled back in part, words that nobody sees may be in the way.
            assert self.later_turns(turn) or not self.complete, self.told()

    def bring_back(self, turn: int) -> None:
        """What the person typed and a turn took out comes back to the disk with all that the turn took out."""
        for name, word in self.words.items():
            if turn in word.gone and self.stands(name) and name in self.on_disk().split():
                word.saved = True

    def later_turns(self, turn: int) -> set[int]:
        """Those that still stand and took out words of a turn, words beside them with their blank, or what stood on
        both sides of words that it took out."""
        mine = {name for name, word in self.words.items() if word.by == turn and not word.dropped}
        near = mine.union(*(pair for pair in self.beside if pair & mine))
        around = {name for pair in self.beside for name in pair if any(turn in self.words[each].gone for each in pair)}
        both_sides = Counter(later for name in around for later in self.words[name].gone)
        found = {later for name in near for later in self.words[name].gone}
        found |= {later for later, often in both_sides.items() if often > 1}
        return {later for later in found if later > turn} - self.undone

    def undoes_decision(self) -> None:
        if self.decisions and not self.undone:  # it proposes again what was undone
            decision = self.dice.choice(self.decisions)
            before = self.text()
            if self.undo(decision):
                self.decisions.remove(decision)
                assert self.text() == before, f"{self.told()}: {before!r}"

    def rolls_back(self) -> None:
        """Take some of the agents' hunks back that one decision accepted."""
        if not self.decisions:
            return
        number = self.dice.choice(self.decisions)
        where = f"/api/agent/checkpoints/{number}"
        found = self.folder.server.request("GET", where)
        files: list[Json] = found.json["affected_files"] if found.status == 200 else []
        hunks = [hunk["hunk_id"] for file in files for hunk in file["hunks"] if hunk["hunk_id"] in self.of_agents]
        if not hunks:
            return
        before, seen = self.text(), set(self.text().split())
        chosen = self.dice.sample(hunks, self.dice.randint(1, len(hunks)))
        answer = self.folder.server.request(
            "POST", f"{where}/rollback", {"mode": "scoped_selected", "hunk_ids": chosen}
        )
        assert answer.status in (200, 409), (self.told(), answer.body)
        conflicts = answer.json.get("conflicts", [])
        self.done.append(f"rollback of {chosen} of {number}: {answer.body} {self.text()!r} saved {self.on_disk()!r}")
        if answer.status == 409 or answer.json["turn"] is None:
            assert self.text() == before, self.told()
        for conflict in conflicts:
            self.refusals[re.sub(r"\d+", "N", f"rollback: {conflict['reason']}")] += 1
        self.complete = False
        self.decisions.remove(number)
        self.unsure |= {name for name, word in self.words.items() if word.by > 0 and word.gone - self.undone}
        now = set(self.text().split())
        for name in seen - now:
            assert self.words[name].by > 0, f"{self.told()}: lost {name}"
            self.words[name].dropped = True
        for name in now - seen:
            assert name in self.words, f"{self.told()}: {name}"
            assert self.words[name].gone, f"{self.told()}: {name}"
            self.words[name].gone.clear()
            self.words[name].saved = True

    def play(self) -> None:
        acts = [self.types, self.types, self.proposes, self.proposes, self.accepts, self.accepts, self.accepts]
        acts += [self.undoes_turn, self.saves, self.undoes_decision, self.rolls_back]
        likely = [4, 4, 4, 4, 4, 4, 4, 4, 1, 1, 2]
        for _ in range(ACTS):
            self.dice.choices(acts, likely)[0]()
            self.check()
        self.undo_all()
        if self.runner is not None and self.person is not None:
            if self.person.epoch:
                assert self.runner.run(expect_same(self.person)) == self.text(), self.told()
                self.runner.run(self.person.leave())
            self.runner.close()

    def undo_all(self) -> None:
        """Undo every turn, in any order that is not refused; with nothing but typing left, the text is the first."""
        for _ in range(3 * len(self.turns)):
            self.undoes_turn()
            self.check()
        for turn in reversed(self.turns):
            if turn not in self.undone and not self.later_turns(turn):
                assert self.undo(turn) or not self.complete, self.told()
                if "refused" in self.done[-1]:
                    continue
                self.undone.add(turn)
                self.bring_back(turn)
                self.check()
        if self.complete and self.undone.issuperset(self.turns):
            left = re.sub(r" K\w+", "", re.sub(r"K\w+ ", "", self.text()))
            assert left == self.first, f"{self.told()}: {left!r}"


@pytest.mark.covers("P5", "P6")
def test_undo_and_rollback_beside_typing_keep_every_word_at_its_place(tmp_path: Path):
    refusals = Counter[str]()
    with served(tmp_path, mode="propose") as folder:
        for seed in rounds(12, 10_000):
            ledger = Ledger(folder, seed, refusals)
            ledger.play()
            assert ledger.typed() <= set(ledger.text().split()), ledger.told()
    sys.stdout.write(f"{dict(refusals)}\n")  # shown by `pytest -s`
