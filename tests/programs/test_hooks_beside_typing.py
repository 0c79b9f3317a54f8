"""Agents with hooks that work in the folder itself, beside a server and a person who types into the same documents.

A ledger is kept outside of the product: every word that was typed and acknowledged is one that occurs nowhere else, so
whatever the agent and an undo do to the files, each of them must stand in some document afterwards, once.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.promises.doors import Folder, chance, rounds, run, served
from tests.speaking.lines import PATIENCE, STARTED, environment

if TYPE_CHECKING:
    from pathlib import Path

COMMAND = [sys.executable, "-W", "error", "-m", "redraft"]
WORDS = ("lamp", "harbour", "letter", "keys", "winter", "gull", "rope", "stair", "salt", "bell")


def hook(folder: Path, act: str, prompt: str = "", *, killed_after: float | None = None) -> None:
    """Run an agent's hook; perhaps it is killed."""
    process = subprocess.Popen(
        [*COMMAND, "hooks", act, "claude"],
        cwd=folder,
        env=environment(folder),
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    STARTED.append(process)
    try:
        _, error = process.communicate(json.dumps({"prompt": prompt}), timeout=killed_after or PATIENCE)
        assert process.returncode == 0 or "has locked this folder" in error, error  # the next prompt ends it
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
    STARTED.remove(process)


def shell(folder: Path, text: str) -> None:
    subprocess.run(["sh", "-ec", text], cwd=folder, check=True)


def type_word(folder: Folder, name: str, at: int, word: str) -> bool:
    text, version = folder.text(name)
    place = sum(len(line) for line in text.splitlines(keepends=True)[:at])
    return folder.type(name, place, "", f"{word}\n", version)


def texts(folder: Folder) -> dict[str, str]:
    """All that a person can see: files, tabs and what has no file, each document once."""
    names = {str(path.relative_to(folder.path)) for path in folder.path.rglob("*") if path.is_file()}
    names |= {tab["path"] for tab in folder.server.get("/api/tabs")["tabs"]}
    names |= {draft["path"] for draft in folder.server.get("/api/review")["documents"]}
    found: dict[str, str] = {}
    for name in names:
        answer = folder.server.request("GET", "/api/documents", query={"path": name, "limit": 1_048_576})
        if answer.status == 200:
            found[name] = answer.json["content"]
    return found


SWAP_AND_BACK = """
import os
for old, new in (("b.md", ".env"), ("a.md", "b.md"), (".env", "a.md"), ("b.md", "t.md"), ("a.md", "b.md")):
    os.rename(old, new)
with open("new.tmp", "w") as file:
    file.write(open("b.md").read().replace("keys", "AGENT"))
os.rename("new.tmp", "b.md")
os.rename("t.md", "a.md")
"""


@pytest.mark.covers("RD-hooks-undo")
def test_what_was_typed_stays_where_an_agent_needs_a_secrets_name_for_a_moment(tmp_path: Path):
    with served(tmp_path) as folder:
        folder.put("a.md", "one harbour\n\nlamp and rope\n")
        folder.put("b.md", "two stairs\n\nkeys and salt\n")
        assert type_word(folder, "a.md", 0, "typed1q")
        assert type_word(folder, "b.md", 0, "typed2q")
        hook(folder.path, "begin", "Swap them.")
        assert folder.server.process is not None
        folder.server.process.send_signal(signal.SIGSTOP)  # it hears of all the renames at once
        subprocess.run([sys.executable, "-c", SWAP_AND_BACK], cwd=folder.path, check=True)
        folder.server.process.send_signal(signal.SIGCONT)
        assert folder.text("b.md")[0] == "typed2q\ntwo stairs\n\nAGENT and salt\n"
        hook(folder.path, "end")
        assert folder.text("a.md")[0] == "typed1q\none harbour\n\nlamp and rope\n"
        assert run(folder.path, "undo").returncode == 0
        assert folder.text("a.md")[0] == "typed1q\none harbour\n\nlamp and rope\n"
        assert folder.text("b.md")[0] == "typed2q\ntwo stairs\n\nkeys and salt\n"


# At random


class Round:
    """What a person types into the documents of one folder, and what an agent does to them for one prompt."""

    def __init__(self, folder: Folder, seed: int) -> None:
        self.dice = chance("prompts", seed)
        self.folder = folder
        self.place = f"r{seed}"
        self.tokens: list[str] = []
        self.names = [f"{self.place}/{name}.md" for name in "abcd"[: self.dice.randint(2, 4)]]
        for number, name in enumerate(self.names):
            words = [f"{self.dice.choice(WORDS)} {self.dice.choice(WORDS)} d{number}l{line}" for line in range(6)]
            folder.put(name, "".join(f"{line}\n\n" for line in words))

    def type(self, most: int) -> None:
        """Words that occur nowhere else; some are saved."""
        for _ in range(self.dice.randint(1, most)):
            name = self.dice.choice(self.names)
            word = f"typed{self.place}x{len(self.tokens)}q"
            if not (self.folder.path / name).is_file():
                continue
            if type_word(self.folder, name, self.dice.randrange(12), word):
                self.tokens.append(word)
                if self.dice.random() < 0.2:
                    self.folder.save(name)

    def script(self) -> str:
        """What the agent does, in a shell."""
        dice, acts = self.dice, list[str]()
        for number in range(dice.randint(1, 4)):
            one, other = dice.sample([name.rsplit("/", 1)[1] for name in self.names], 2)
            acts.append(
                dice.choice(
                    [
                        f"sed -i s/{dice.choice(WORDS)}/AGENT{number}/ {one}",
                        f"mv {one} t.tmp; mv {other} {one}; mv t.tmp {other}",
                        f"mv {one} .env; mv {other} {one}; mv .env {other}",
                        f"mv {one} t.md; mv {other} {one}; mv t.md {other}",
                        f"rm {one}",
                        f"mkdir -p sub{number}; mv {one} sub{number}/",
                        f"mkdir -p made; echo made by an agent > made/n{number}.md",
                        f"cp {one} copy{number}.md",
                        f"mkdir -p deep; echo w > deep/w{number}.md; mv deep moved{number}",
                        f"cat {one} > fresh.tmp; sed -i s/lamp/LAMP/ fresh.tmp; mv fresh.tmp {one}",
                    ]
                )
            )
        if dice.random() < 0.2:
            acts = [dice.choice(["mv a.md .env.local", "rm a.md; mkdir a.md"])]
        return "\n".join(f"({act}) 2>/dev/null || true" for act in [f"cd {self.place}; {act}" for act in acts])

    def state(self) -> dict[str, str]:
        return {name: text for name, text in texts(self.folder).items() if name.startswith(f"{self.place}/")}

    def check_typing(self, state: dict[str, str]) -> None:
        everything = "".join(state.values())
        wrong = {token: everything.count(token) for token in self.tokens if everything.count(token) != 1}
        assert wrong == {}, state


def without(text: str, tokens: set[str]) -> str:
    for token in tokens:
        text = text.replace(f"{token}\n", "")
    return text


@pytest.mark.slow
@pytest.mark.covers("RD-hooks-undo")
def test_random_prompts_beside_typing_lose_no_typed_word_and_are_undone_whole(tmp_path: Path):
    with served(tmp_path) as folder:
        assert folder.server.process is not None
        for seed in rounds(4, 200):
            work = Round(folder, seed)
            work.type(4)
            before = work.state()
            early = {*work.tokens}
            hook(folder.path, "begin", "Tidy up.")
            script, stopped = work.script(), work.dice.random() < 0.5
            if stopped:
                folder.server.process.send_signal(signal.SIGSTOP)  # it hears of everything at once
            shell(folder.path, script)
            if stopped:
                folder.server.process.send_signal(signal.SIGCONT)
            elif work.dice.random() < 0.4:
                work.type(2)
            hook(folder.path, "end", killed_after=work.dice.choice([None, None, 0.05, 0.3]))
            late = {*work.tokens} - early
            try:
                for act in ("undo", "redo", "undo"):  # a document behind a folder or a secret's name comes in sight
                    done = run(folder.path, act, "--yes")
                    if done.returncode == 1 and late:  # a move that met what was typed at its place in that moment
                        break
                    assert done.returncode == 0, done.stderr + done.stdout
                after = work.state()
                work.check_typing(after)
                if done.returncode == 0:
                    assert {name: without(text, late) for name, text in after.items()} == before
            except AssertionError as error:
                raise AssertionError(f"seed {seed}: {script}\n{error}") from error
