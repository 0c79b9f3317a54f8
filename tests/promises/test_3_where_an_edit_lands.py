"""Promise 3: an edit lands on the text that it was made for, or is refused, and then nothing is written.

Every line has a name, and every edit of a line adds a mark that tells who made it, to the text that its maker has seen.
So what landed elsewhere, or over something unseen, shows: a mark is on another line, or another's mark is gone.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from tests.promises.doors import Folder, Json, Lines, call, chance, rounds, served

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow
LINES = 24
EDITS = 25
ALONE = 0.8  # the share of calls that make one edit; the others make three in a batch
MARK = re.compile(r"\[[^\]]+\]")
KINDS = ("replace_lines", "replace_lines", "edit_text", "insert_lines", "delete_lines", "replaceText")


def name_of(line: str) -> str:
    return line.partition("[")[0]


@dataclass
class Ledger:
    """What was acknowledged, by the name of the line that it was meant for."""

    marks: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    # Of inserted lines: what their maker saw above and below the place.
    seen: dict[str, tuple[set[str], set[str]]] = field(default_factory=dict[str, tuple[set[str], set[str]]])
    deleted: dict[str, set[str]] = field(default_factory=dict[str, set[str]])  # with the marks that were seen on it
    refused: int = 0
    landed: int = 0
    lock: Any = field(default_factory=threading.Lock)

    def judge(self, text: str, told: str) -> None:
        lines = text.split("\n")[:-1]
        names = [name_of(line) for line in lines]
        assert all(count == 1 for count in Counter(names).values()), f"{told}: a line stands twice: {text}"
        expected = ({f"L{number}" for number in range(LINES)} | set(self.seen)) - set(self.deleted)
        assert set(names) == expected, f"{told}: {set(names) ^ expected}"
        for name, line in zip(names, lines, strict=True):
            marks = MARK.findall(line)
            assert len(set(marks)) == len(marks), f"{told}: a mark stands twice: {line}"
            assert set(marks) == self.marks.get(name, set()), f"{told}: {line} should have {self.marks.get(name)}"
            if name in self.seen:
                self.judge_place(name, names, told)
        for name, seen in self.deleted.items():
            assert self.marks.get(name, set()) <= seen, f"{told}: {name} was deleted with what nobody had seen"

    def judge_place(self, name: str, names: list[str], told: str) -> None:
        """An inserted line stands behind all that its maker saw above it, and before all that they saw below. What
        they did not see may have come in on either side."""
        at = names.index(name)
        above, below = self.seen[name]
        misplaced = [each for each in names[:at] if each in below] + [each for each in names[at:] if each in above]
        assert not misplaced, f"{told}: {name} is on the wrong side of {misplaced}"


@dataclass
class Writer:
    """An agent that reads, waits until others have written, and edits what it has seen."""

    name: str
    folder: Folder
    document: str
    ledger: Ledger
    seed: int
    mcp: Lines | None = None

    def edit_all(self) -> None:
        dice = chance(self.name, self.seed)
        text = version = ""
        for number in range(EDITS):
            if not text or dice.random() < 0.5:  # otherwise what was read some edits ago has to do
                text, version = self.folder.text(self.document)
            lines = text.split("\n")[:-1]
            edits: list[tuple[str, int, str]] = []
            for part, at in enumerate(dice.sample(range(len(lines)), 1 if dice.random() < ALONE else 3)):
                edits.append((dice.choice(KINDS), at, f"[{self.name}.{number}.{part}]"))
            calls = [
                (kind, {"path": self.document, "version": version, **self.arguments(kind, lines, at, mark)})
                for kind, at, mark in edits
            ]
            done = self.send(*calls[0]) if len(calls) == 1 else self.send_together(calls)
            with self.ledger.lock:
                for kind, at, mark in edits:
                    self.keep(kind, lines, at, mark, done=done)

    def arguments(self, kind: str, lines: list[str], at: int, mark: str) -> Json:
        if kind == "replace_lines":
            return {"start_line": at, "end_line": at, "content": lines[at] + mark}
        if kind == "edit_text":
            return {"old_text": lines[at] + "\n", "new_text": lines[at] + mark + "\n"}
        if kind == "insert_lines":
            return {"after_line": at, "content": f"N{mark[1:-1]}"}
        if kind == "delete_lines":
            return {"start_line": at, "end_line": at}
        end = sum(len(line) + 1 for line in lines[: at + 1]) - 1
        return {"from": end, "to": end, "newText": mark}

    def send_together(self, calls: list[tuple[str, Json]]) -> bool:
        """Several edits made for one version, in one turn: all of them or none."""
        return self.send("batch", {"calls": [{"tool": kind, "arguments": each} for kind, each in calls]})

    def send(self, kind: str, arguments: Json) -> bool:
        done, answer = self.folder.tool(kind, **arguments) if self.mcp is None else call(self.mcp, kind, **arguments)
        return done and answer.get("success", True) is True and answer.get("state") != "unchanged"

    def keep(self, kind: str, lines: list[str], at: int, mark: str, *, done: bool) -> None:
        ledger, name = self.ledger, name_of(lines[at])
        if not done:
            ledger.refused += 1
            return
        ledger.landed += 1
        if kind == "insert_lines":
            names = [name_of(line) for line in lines]
            ledger.seen[f"N{mark[1:-1]}"] = set(names[: at + 1]), set(names[at + 1 :])
        elif kind == "delete_lines":
            assert name not in ledger.deleted, f"{name} was deleted twice"
            ledger.deleted[name] = set(MARK.findall(lines[at]))
        else:
            ledger.marks.setdefault(name, set()).add(mark)


def type_beside(folder: Folder, document: str, ledger: Ledger, seed: int, over: threading.Event) -> None:
    """The person types at the ends of lines, as long as the agents work."""
    dice = chance("person", seed)
    number = 0
    while not over.wait(0.01):
        number += 1
        text, version = folder.text(document)
        lines = text.split("\n")[:-1]
        at = dice.randrange(len(lines))
        end = sum(len(line) + 1 for line in lines[: at + 1]) - 1
        if folder.type(document, end, "", f"[p.{number}]", version):
            with ledger.lock:
                ledger.marks.setdefault(name_of(lines[at]), set()).add(f"[p.{number}]")


@pytest.mark.covers("P3")
def test_parallel_edits_made_for_old_versions_land_where_they_were_meant_or_are_refused(tmp_path: Path):
    landed = refused = 0
    with served(tmp_path) as folder:
        agent = folder.agent("joined")
        for seed in rounds(3):
            document = f"{seed}.txt"
            folder.put(document, "".join(f"L{number}\n" for number in range(LINES)))
            ledger = Ledger()
            writers = [
                Writer(f"{kind}{number}", folder, document, ledger, seed, mcp)
                for number, (kind, mcp) in enumerate([("h", None), ("h", None), ("m", agent)])
            ]
            over = threading.Event()
            with ThreadPoolExecutor() as threads:
                work = [threads.submit(writer.edit_all) for writer in writers]
                if seed % 3 != 0:
                    work.append(threads.submit(type_beside, folder, document, ledger, seed, over))
                wait(work[: len(writers)])
                over.set()
            for each in work:
                each.result()
            ledger.judge(folder.text(document)[0], f"seed {seed}")
            folder.save(document)
            ledger.judge(folder.bytes_of(document).decode(), f"seed {seed}, saved")
            landed, refused = landed + ledger.landed, refused + ledger.refused
        assert agent.close() == ""
    assert landed > 20
    assert refused > 0
