"""Promise 4: accepting all gives the proposal, rejecting all the base with what the person typed, in any order.

Characters tell whose they are: the document is in small letters, agents write capitals, the person types digits. So a
result can be judged by looking at it.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.promises.doors import Folder, chance, rounds, served

if TYPE_CHECKING:
    import random
    from pathlib import Path

pytestmark = pytest.mark.slow
TOKEN = re.compile(r"[a-zA-Z0-9]+|[ \n]+")


def make_text(dice: random.Random) -> str:
    words = ["ab", "abc", "de", "f", "abab", "deab"]
    return "".join(dice.choice(words) + dice.choice([" ", " ", " ", "\n", "\n\n"]) for _ in range(dice.randint(3, 25)))


def occurrences(text: str, passage: str) -> int:
    """How often a passage stands there, overlapping ones too."""
    return sum(text.startswith(passage, at) for at in range(len(text)))


def pick_passage(dice: random.Random, text: str) -> str | None:
    """A passage without the person's digits that occurs once."""
    tokens = list(TOKEN.finditer(text))
    for _ in range(20):
        first = dice.randrange(len(tokens))
        last = min(len(tokens) - 1, first + dice.randint(0, 8))
        passage = text[tokens[first].start() : tokens[last].end()]
        if passage.strip() and occurrences(text, passage) == 1 and not re.search(r"\d", passage):
            return passage
    return None


def rewrite(dice: random.Random, passage: str, letter: str) -> str:
    """The passage with some of its words replaced, taken out, or followed by new ones; all new ones in `letter`."""
    found: list[str] = []
    for word in re.findall(r"[a-zA-Z]+|[ \n]+", passage):
        act = dice.random()
        if word.isspace() or act < 0.4:
            found.append(word)
        elif act < 0.7:
            found.append(letter * dice.randint(1, 3))
        elif act < 0.85:
            found.append(f"{word} {letter}")
    new = "".join(found)
    return new if new != passage else passage + letter


class Story:
    """The same proposals and the same typing in several folders, and the text that a person must see then."""

    def __init__(self, seed: int, folders: tuple[Folder, ...]) -> None:
        self.dice = chance("order", seed)
        self.folders = folders
        self.name = f"{seed}.txt"
        self.base = self.seen = make_text(self.dice)
        self.typed = Counter[str]()
        for folder in folders:
            folder.put(self.name, self.base)
        for number in range(self.dice.randint(1, 5)):
            if self.dice.random() < 0.6:
                self.propose("ABCDE"[number])
            else:
                self.type()

    def propose(self, letter: str) -> None:
        passage = pick_passage(self.dice, self.seen)
        if passage is None:
            return
        new = rewrite(self.dice, passage, letter)
        for folder in self.folders:
            quoted = {"path": self.name, "version": folder.text(self.name)[1], "old_text": passage}
            done, answer = folder.tool("edit_text", "propose", **quoted, new_text=new)
            assert done, (self.name, answer)
        self.seen = self.seen.replace(passage, new)
        self.check_what_is_seen()

    def type(self) -> None:
        at = self.dice.randint(0, len(self.seen))
        new = "".join(self.dice.choice("0123456789") for _ in range(self.dice.randint(1, 3)))
        for folder in self.folders:
            assert folder.type(self.name, at, "", new, folder.text(self.name)[1])
        self.seen = self.seen[:at] + new + self.seen[at:]
        self.typed += Counter(new)
        self.check_what_is_seen()

    def check_what_is_seen(self) -> None:
        for folder in self.folders:
            assert folder.text(self.name)[0] == self.seen, self.name

    def saved(self, folder: Folder) -> str:
        folder.save(self.name)
        assert folder.hunks(self.name) == [], self.name
        return folder.bytes_of(self.name).decode()


def check_no_digit_is_lost(text: str, typed: Counter[str], told: str) -> None:
    assert Counter(char for char in text if char.isdigit()) == typed, told


@pytest.mark.covers("P4")
def test_accepting_all_gives_the_proposal_rejecting_all_the_base_and_any_order_the_same(tmp_path: Path):
    decided = 0
    with served(tmp_path / "one") as one, served(tmp_path / "two") as two:
        for seed in rounds(18, 10_000):
            story = Story(seed, (one, two))
            told = f"seed {seed}: {story.base!r} seen as {story.seen!r}"
            hunks = one.hunks(story.name)
            assert [h["proposed"] for h in hunks] == [h["proposed"] for h in two.hunks(story.name)], told
            if any(hunk["conflict"] for hunk in hunks):
                continue
            decided += len(hunks)
            what = seed % 3
            if what == 0:
                for folder in story.folders:
                    assert not hunks or folder.decide("accept", story.name, None)[0], told
                    assert story.saved(folder) == story.seen, told
            elif what == 1:
                for folder in story.folders:
                    assert not hunks or folder.decide("reject", story.name, None)[0], told
                    left = story.saved(folder)
                    assert re.sub(r"\d", "", left) == story.base, f"{told}, left {left!r}"
                    check_no_digit_is_lost(left, story.typed, told)
            else:
                verdicts = [story.dice.choice(["accept", "reject"]) for _ in hunks]
                ends: list[str] = []
                for folder in story.folders:
                    names = [hunk["hunk_id"] for hunk in folder.hunks(story.name)]
                    order = list(range(len(names)))
                    story.dice.shuffle(order)
                    for number in order:
                        done, answer = folder.decide(verdicts[number], story.name, [names[number]])
                        assert done, f"{told}, {verdicts} in {order}: {answer}"
                    ends.append(story.saved(folder))
                assert ends[0] == ends[1], f"{told}, {verdicts}: {ends}"
                check_no_digit_is_lost(ends[0], story.typed, told)
    assert decided > 10
