"""Promise 5 where other programs write, rename, swap and delete documents beside a server, or while none runs: every
word that was typed and acknowledged stands once, in the document that it was typed into.

By a line of its own each document is known again, wherever it is and whoever wrote it anew; one that was deleted is
known by it in what is kept of the typing. Beside a server they say nearly the same: then the kernel tells which is
which. While none runs nobody does, so there each has words of its own.
"""

from __future__ import annotations

import shutil
import time
from typing import TYPE_CHECKING

import pytest

from tests.promises.doors import Folder, chance, rounds
from tests.speaking.lines import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

WORDS = "The keeper wrote the log.\nShe read the letter twice.\nEleven boats came home.\nRain fell at noon.\n"


class Round:
    """The documents of one folder, where each of them lies by now, and what was typed into it."""

    def __init__(self, folder: Folder, seed: int) -> None:
        self.dice = chance("beside other programs", seed)
        self.folder = folder
        self.name = f"r{seed}"
        self.place: dict[int, Path] = {}  # of those that were not deleted
        self.typed: dict[str, int] = {}
        self.done = [f"seed {seed}"]
        self.number = 0
        self.away = self.dice.random() < 0.3  # the programs write while no server runs
        for document in range(self.dice.randint(2, 4)):
            own = f"{seed}d{document}" if self.away else f"{seed}"
            words = WORDS.replace(" ", f"{own} ").replace("\n", f" {own}\n")
            self.place[document] = folder.put(f"{self.name}-n{document}.md", f"{words}tag-{document}.\n")

    def path(self, file: Path) -> str:
        return str(file.relative_to(self.folder.path))

    def new_name(self, file: Path, kind: str) -> Path:
        self.number += 1
        return file.with_name(f"{self.name}-{kind}{self.number}.md")

    # The person

    def type(self, document: int) -> None:
        name = self.path(self.place[document])
        if self.folder.server.request("GET", "/api/documents", query={"path": name}).status != 200:
            return
        text, version = self.folder.text(name)
        starts = [at for at in range(len(text)) if at == 0 or text[at - 1] == "\n"]
        word = f"typed{len(self.done)}into{document}"
        self.done.append(f"{word} in {name}")
        if self.folder.type(name, self.dice.choice(starts), "", f"{word} ", version):
            self.typed[word] = document

    # The other program

    def act(self) -> None:
        document = self.dice.choice([*self.place])
        acts = [self.save, self.write, self.rename, self.save_and_rename, self.rename_and_save, self.back_up]
        act = self.dice.choice([*acts, self.delete, self.swap, self.move_to_folder, self.copy, self.keep_secret])
        self.done.append(f"{act.__name__} {self.path(self.place[document])}")
        act(document)
        self.done[-1] += f" -> {self.path(self.place[document])}" if document in self.place else ""

    def more(self, file: Path) -> str:
        return f"{file.read_text(encoding='utf-8')}more {self.dice.randint(0, 999)}\n"

    def write(self, document: int) -> None:
        self.place[document].write_text(self.more(self.place[document]), encoding="utf-8")

    def save(self, document: int) -> None:
        new = self.place[document].with_name("tmp~")
        new.write_text(self.more(self.place[document]), encoding="utf-8")
        new.replace(self.place[document])

    def rename(self, document: int) -> None:
        self.place[document] = self.place[document].rename(self.new_name(self.place[document], "renamed"))

    def save_and_rename(self, document: int) -> None:
        self.save(document)
        self.rename(document)

    def rename_and_save(self, document: int) -> None:
        self.rename(document)
        self.save(document)

    def back_up(self, document: int) -> None:
        file = self.place[document]
        words, old = self.more(file), file.rename(file.with_name(f"{file.name}.bak~"))
        file.write_text(words, encoding="utf-8")
        old.unlink()

    def delete(self, document: int) -> None:
        self.place.pop(document).unlink()

    def swap(self, document: int) -> None:
        others = [other for other in self.place if other != document]
        if not others:
            return
        other = self.dice.choice(others)
        one, two = self.place[document], self.place[other]
        aside = one.rename(one.with_name("tmp~"))
        self.place[document], self.place[other] = two, two.rename(one)
        aside.rename(two)

    def move_to_folder(self, document: int) -> None:
        file = self.place[document]
        inside = self.folder.path / f"{self.name}-f{self.dice.randint(0, 9)}"
        inside.mkdir(exist_ok=True)
        self.place[document] = file.rename(inside / self.new_name(file, "moved").name)

    def copy(self, document: int) -> None:
        shutil.copy(self.place[document], self.new_name(self.place[document], "copy"))

    def keep_secret(self, _: int) -> None:
        (self.folder.path / ".env").write_text("KEY=1\n", encoding="utf-8")

    # What the person sees

    def texts(self) -> list[str]:
        server = self.folder.server
        paths = {entry["path"] for entry in server.get("/api/tree", limit=10_000)["entries"]}
        paths |= {*server.get("/api/workspace")["unsaved"]}
        query = [{"path": path, "limit": 1_048_576} for path in sorted(paths) if path.startswith(f"{self.name}-")]
        answers = [server.request("GET", "/api/documents", query=each) for each in query]
        return [answer.json["content"] for answer in answers if answer.status == 200]

    def faults(self) -> list[str]:
        """The words that do not stand once, in their own document."""
        texts = self.texts()
        found = {word: [text for text in texts if f"{word} " in text] for word in self.typed}
        return [
            f"{word}: {at}"
            for word, at in found.items()
            if len(at) != 1 or at[0].count(f"{word} ") != 1 or f"tag-{self.typed[word]}." not in at[0]
        ]

    def check(self) -> None:
        until(lambda: not self.faults(), lambda: "\n".join([*self.faults(), *self.done]))


def until(done: Callable[[], bool], what: Callable[[], str]) -> None:
    end = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < end, what()


@pytest.mark.slow
@pytest.mark.covers("P5", "RD-outside-moves")
def test_what_is_typed_stays_in_its_document_whatever_other_programs_do_to_the_files(tmp_path: Path) -> None:
    folder = Folder.serve(tmp_path, mode="apply")
    for seed in rounds(4, 300):
        work = Round(folder, seed)
        for _ in range(work.dice.randint(1, 4)):
            for document in [*work.place]:
                if work.dice.random() < 0.7:
                    work.type(document)
            if work.away:
                (folder.kill if work.dice.random() < 0.3 else folder.stop)()
            for _ in range(work.dice.randint(1, 4)):
                if work.place:
                    work.act()
            if work.away:
                folder.start()
                work.done.append("started")
            work.check()
    folder.stop()
