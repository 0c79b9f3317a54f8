"""Programs under `redraft run` while a person types into the same documents, through a running server.

A ledger is kept outside of the product. The lines of a document have owners: the person types digits into theirs, the
program rewrites its own in capitals, and between them stand lines that nobody touches. So what the merge must give is
known line by line: accepted, the person's lines and the program's; rejected, the person's and the old ones.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from tests.promises.doors import Folder, chance, rounds, run, served
from tests.server.live.people import Person
from tests.speaking.lines import PATIENCE, STARTED, environment

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

pytestmark = pytest.mark.slow
# The program waits for a line before it begins, so that both work at the same time for certain.
WAITING = "import os, sys\nprint('ready', flush=True)\nsys.stdin.readline()\n"
WORDS = ("lamp", "harbour", "letter", "keys", "winter", "gull", "rope", "stair")


def start(folder: Path, script: str, *options: str) -> subprocess.Popen[str]:
    """A program under `redraft run` that has begun, and seen the folder as it is now."""
    command = [sys.executable, "-m", "redraft", "run", *options, "--", sys.executable, "-c", WAITING + script]
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment(folder),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    STARTED.append(process)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n", process.communicate()
    return process


def finish(process: subprocess.Popen[str]) -> str:
    out, error = process.communicate("go\n", timeout=PATIENCE)
    STARTED.remove(process)
    assert process.returncode == 0, (out, error)
    return error


@pytest.mark.covers("RD-run-merge")
def test_what_a_person_types_while_the_program_runs_stays_and_is_merged(tmp_path: Path):
    with served(tmp_path, mode="propose") as folder:
        folder.put("a.md", "one\n\ntwo\n\nthree\n")
        _, version = folder.text("a.md")
        assert folder.type("a.md", 0, "", "1", version)  # unsaved, and what the program reads

        async def typed_live() -> None:
            person = Person(folder.server, "a.md")
            await person.join()
            process = await asyncio.to_thread(
                start,
                folder.path,
                "t = open('a.md').read(); assert t.startswith('1one'), t\n"
                "open('a.md', 'w').write(t.replace('three', 'THREE'))",
            )
            person.type(str(person).index("two"), "2")
            await person.sent()
            await asyncio.to_thread(finish, process)
            await person.leave()

        asyncio.run(typed_live())
        assert folder.text("a.md")[0] == "1one\n\n2two\n\nTHREE\n"
        [hunk] = folder.hunks("a.md")
        folder.decide("reject", "a.md", [hunk["hunk_id"]])
        folder.save("a.md")
        assert folder.bytes_of("a.md") == b"1one\n\n2two\n\nthree\n"


@pytest.mark.parametrize("mode", ["apply", "merge"])
def test_a_turn_that_is_written_at_once_is_merged_with_what_was_saved_meanwhile(tmp_path: Path, mode: str):
    with served(tmp_path, mode="propose") as folder:
        folder.put("a.md", "one\n\ntwo\n\nthree\n")
        change = "t = open('a.md').read(); open('a.md', 'w').write(t.replace('three', 'THREE'))"
        process = start(folder.path, change, "--mode", mode)
        _, version = folder.text("a.md")
        assert folder.type("a.md", 0, "", "1", version)
        folder.save("a.md")
        finish(process)
        assert folder.bytes_of("a.md") == b"1one\n\ntwo\n\nTHREE\n"


def test_where_both_changed_the_same_words_nothing_typed_is_lost(tmp_path: Path):
    with served(tmp_path, mode="propose") as folder:
        folder.put("a.md", "the cat sat\n")
        process = start(folder.path, "open('a.md', 'w').write('the DOG sat\\n')")
        _, version = folder.text("a.md")
        assert folder.type("a.md", 4, "cat", "cow7", version)
        finish(process)
        assert "cow7" in folder.text("a.md")[0]
        folder.decide("reject", "a.md", None)
        folder.save("a.md")
        assert folder.bytes_of("a.md") == b"the cow7 sat\n"


# At random


@dataclass(slots=True)
class Page:
    """A document in the ledger: its lines, in groups of the person's, nobody's, the program's and nobody's."""

    name: str
    lines: list[str]
    after: str | None  # where the program puts it; None: it deletes it
    new: list[str] = field(default_factory=list[str])

    def text(self, lines: list[str]) -> str:
        return "".join(f"{line}\n" for line in lines)


class Ledger:
    """One round: what the folder holds, what the program will do, and what the person types meanwhile."""

    def __init__(self, folder: Folder, seed: int) -> None:
        self.dice = chance("programs", seed)
        self.folder = folder
        self.place = f"r{seed}"
        self.pages = [self._page(number) for number in range(self.dice.randint(2, 5))]
        self.created = {f"{self.place}/new{n}.md": f"MADE {n}\n" for n in range(self.dice.randint(0, 2))}
        for page in self.pages:
            folder.put(page.name, page.text(page.lines))

    def _page(self, number: int) -> Page:
        dice, name = self.dice, f"{self.place}/p{number}.md"
        lines = [_line(dice) for _ in range(4 * dice.randint(1, 4))]
        new = [line.upper() if n % 4 == 2 and dice.random() < 0.7 else line for n, line in enumerate(lines)]
        after = dice.choice([name, name, name, f"{self.place}/moved/m{number}.md", None])
        return Page(name, lines, after, new)

    def script(self) -> str:
        """What the program does: it changes only its own lines, in whatever the documents say when it reads them."""
        acts: list[Any] = [
            [page.name, page.after, [[n, line] for n, line in enumerate(page.new) if n % 4 == 2]] for page in self.pages
        ]
        self.dice.shuffle(acts)
        return (
            "import json\n"
            f"for name, after, lines in json.loads({json.dumps(acts)!r}):\n"
            "    if after is None:\n"
            "        os.unlink(name)\n"
            "        continue\n"
            "    text = open(name).read().split('\\n')\n"
            "    for n, line in lines:\n"
            "        text[n] = line\n"
            "    os.makedirs(os.path.dirname(after), exist_ok=True)\n"
            "    if after != name:\n"
            "        os.rename(name, after)\n"
            "    open(after, 'w').write('\\n'.join(text))\n"
            f"for name, text in json.loads({json.dumps(self.created)!r}).items():\n"
            "    open(name, 'w').write(text)\n"
        )

    def type(self) -> None:
        """The person types into lines of theirs, and saves now and then."""
        for _ in range(self.dice.randint(1, 4)):
            page = self.dice.choice(self.pages)
            if page.after is None:
                continue  # who deletes what somebody types into is judged elsewhere
            number = 4 * self.dice.randrange(len(page.lines) // 4)
            text, version = self.folder.text(page.name)
            at = sum(len(line) + 1 for line in text.split("\n")[:number])
            digit = str(self.dice.randrange(10))
            assert self.folder.type(page.name, at, "", digit, version)
            page.lines[number] = digit + page.lines[number]
            page.new[number] = page.lines[number]
            if self.dice.random() < 0.3:
                self.folder.save(page.name)

    def check(self, *, accepted: bool) -> None:
        expected: dict[str, str] = {}
        for page in self.pages:
            if not accepted:
                expected[page.name] = page.text(page.lines)
            elif page.after is not None:
                expected[page.after] = page.text(page.new)
        if accepted:
            expected |= self.created
        for name in expected:
            self.folder.save(name)
        place = self.folder.path / self.place
        found = {
            str(path.relative_to(self.folder.path)): path.read_text(encoding="utf-8")
            for path in place.rglob("*")
            if path.is_file()
        }
        assert found == expected


def _line(dice: Random) -> str:
    return " ".join(dice.choice(WORDS) for _ in range(dice.randint(3, 8)))


@pytest.mark.covers("RD-run-ledger")
def test_random_programs_beside_random_typing_accepted_are_the_merge_and_rejected_the_persons_text(tmp_path: Path):
    with served(tmp_path, mode="propose") as folder:
        for seed in rounds(6, 500):
            ledger = Ledger(folder, seed)
            ledger.type()  # what the program sees, saved or not
            before = folder.turns()[:1]
            process = start(folder.path, ledger.script(), "--name", "random")
            ledger.type()
            told = finish(process)
            turns = [turn for turn in folder.turns(before[0]["turn"] if before else 0) if turn["kind"] == "propose"]
            accepted = seed % 2 == 0
            if turns:
                [turn] = turns
                decided = run(folder.path, "accept" if accepted else "reject", "--turn", str(turn["turn"]))
                assert decided.returncode == 0, f"seed {seed}: {decided.stderr.decode()}{told}"
            else:
                assert "changed nothing" in told
            try:
                ledger.check(accepted=accepted)
            except AssertionError as error:
                raise AssertionError(f"seed {seed}: {error}\n{told}") from error
