"""The folder that the fault tests break: what it holds before and after every act, as plain values.

Nothing here uses Redraft. An act is a sequence of steps; `tree(act, step)` is everything the folder holds after that
many of them, so whoever knows the last step that was acknowledged and the last one that was begun knows the only two
states in which the folder may be found.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

Tree = dict[str, bytes]

ACTS = ("save", "apply", "rollback", "undo", "trash", "move", "accept")
FIVE = ("five/a.md", "five/b.md", "five/c.md")
TEMP_PREFIX = ".redraft-tmp-"


def body(name: str, step: int) -> bytes:
    """What a document says at a step: long enough to be torn, and different in every line."""
    lines = 1500 if name == "five/a.md" else 60
    return "".join(f"{name}, step {step}, line {n}: ünïcödé, and some more words.\n" for n in range(lines)).encode()


def tree(act: str, step: int) -> Tree:
    """The whole folder after so many steps of an act. Step 0 is the same for all of them."""
    files = {name: body(name, 0) for name in ("note.md", "gone.md", "untouched.md", *FIVE)}
    odd = step % 2 == 1
    if act == "save":
        files["note.md"] = body("note.md", step)
    elif act == "apply" or (act in {"rollback", "undo"} and odd):
        files.update({name: body(name, step) for name in FIVE})
        if odd:
            del files["gone.md"]
            files["made/new.md"] = body("made/new.md", step)
    elif act == "trash" and odd:
        del files["note.md"]
    elif act == "move" and odd:
        files["made/note.md"] = files.pop("note.md")
    elif act == "accept":
        files["note.md"] = body("note.md", step - step % 2)
    return files


def read_tree(folder: Path) -> Tree:
    """Everything that lies in the folder, but for Redraft's own place in it."""
    found: Tree = {}
    for where, folders, names in os.walk(folder):
        if ".redraft" in folders:
            folders.remove(".redraft")
        for name in names:
            path = Path(where, name)
            found[path.relative_to(folder).as_posix()] = path.read_bytes()
    return found


def write_tree(folder: Path, files: Tree) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def leftovers(folder: Path) -> list[str]:
    """Temporary names anywhere beneath the folder, `.redraft` included."""
    return [str(path.relative_to(folder)) for path in folder.rglob(TEMP_PREFIX + "*")]


@dataclass(frozen=True)
class Scene:
    """A folder and its state. A copy can be kept and put back, always at the same place: the state knows its folder."""

    place: Path

    @property
    def folder(self) -> Path:
        return self.place / "folder"

    @property
    def state_home(self) -> Path:
        return self.place / "state"

    @property
    def state(self) -> Path:
        """The workspace's own state, by the id that lies in the folder."""
        return self.state_home / "redraft" / (self.folder / ".redraft" / "id").read_text(encoding="utf-8").strip()

    def begin(self, files: Tree) -> None:
        self.clear()
        self.state_home.mkdir(parents=True)
        self.folder.mkdir()
        write_tree(self.folder, files)

    def clear(self) -> None:
        for part in (self.folder, self.state_home):
            shutil.rmtree(part, ignore_errors=True)

    def keep(self, name: str) -> None:
        """Remember the present state of the disk under a name."""
        for part in (self.folder, self.state_home):
            shutil.copytree(part, self.place / name / part.name)

    def put_back(self, name: str) -> None:
        self.clear()
        for part in (self.folder, self.state_home):
            shutil.copytree(self.place / name / part.name, part)
