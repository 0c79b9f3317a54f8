"""The skill for Claude Code: bundled here, installed into a project, compared with what is installed there."""

from __future__ import annotations

from importlib.resources import files
from typing import Literal

from redraft import __version__
from redraft.errors import Refused
from redraft.files.paths import parse_path
from redraft.files.root import Root
from redraft.files.writing import write_file

PLACE = ".claude/skills/agent-doc/SKILL.md"
Standing = Literal["missing", "outdated", "up to date"]


def bundled() -> str:
    """The skill as this version of the program brings it."""
    text = files("redraft.sessions").joinpath("SKILL.md").read_text(encoding="utf-8")
    return text.replace("{version}", __version__, 1)


def standing(folder: str) -> Standing:
    """Whether the skill of a project is the bundled one."""
    with Root.open(folder) as root:
        found = _installed(root)
    if found is None:
        return "missing"
    return "up to date" if found == bundled().encode() else "outdated"


def install(folder: str) -> bool:
    """Write the bundled skill into a project; False where it is there already, byte for byte."""
    with Root.open(folder) as root:
        found, wanted = _installed(root), bundled().encode()
        if found == wanted:
            return False
        write_file(root, parse_path(PLACE), wanted, expected=found)
    return True


def _installed(root: Root) -> bytes | None:
    try:
        return root.read(parse_path(PLACE)).data
    except Refused as error:
        if error.code == "not_found":
            return None
        raise
