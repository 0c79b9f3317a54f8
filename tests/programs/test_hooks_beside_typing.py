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

from tests.promises.doors import Folder, run, served
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
        assert (process.returncode, error) == (0, "")
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
