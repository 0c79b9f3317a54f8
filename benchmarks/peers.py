"""The servers that are measured: ours, two that others use, and how each is told to do the same thing.

Peers are installed at fixed versions into a cache folder, never into this project's environment; one whose registry is
out of reach is left out, with the reason. A server is given every advantage that an agent could give it: hashes and
versions that it wants are at hand, and only the call itself is measured.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import venv
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.client import Answer, Client

if TYPE_CHECKING:
    from collections.abc import Callable

TEXT_EDITOR = "1.0.2"
# Its own requirement is open at the top, but it does not start with version 2 of the SDK.
TEXT_EDITOR_NEEDS = (f"mcp-text-editor=={TEXT_EDITOR}", "mcp==1.30.0", "chardet==7.7.0")
FILESYSTEM = "2026.8.31"
AGENT_DOC = "0.35.342"


class OutOfReach(Exception):
    """A peer cannot be had here."""


@dataclass(frozen=True, slots=True)
class Change:
    """Line `line`, counted from 0, is `old` and becomes `new`."""

    line: int
    old: str
    new: str


class Server(ABC):
    """One running server on one folder, and what it calls the things that all of them do."""

    name: str
    windows = True

    def __init__(self, folder: Path, command: list[str]) -> None:
        self.folder = folder
        state = f"{folder}-state"
        self.client = Client(command, folder, {"XDG_STATE_HOME": state, "XDG_CONFIG_HOME": state})
        self.client.start()

    @abstractmethod
    def read(self, name: str) -> Answer:
        """The whole document; what it says of the version is kept for the next edit."""

    @abstractmethod
    def window(self, name: str, start: int, count: int) -> Answer:
        """`count` lines from `start`."""

    @abstractmethod
    def edit(self, name: str, change: Change) -> Answer:
        """The change, by the server's own way of naming a passage."""

    def edit_lines(self, name: str, change: Change) -> Answer:
        """The same change, named by line number where the server has both ways."""
        return self.edit(name, change)

    @abstractmethod
    def edit_both(self, first: tuple[str, Change], second: tuple[str, Change]) -> Answer | None:
        """Two changes in one call; None where the server has no such call."""

    @abstractmethod
    def write(self, name: str, text: str) -> Answer:
        """The whole document anew."""

    def close(self) -> None:
        self.client.close()


class Redraft(Server):
    name = "redraft"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, [str(Path(sys.executable).parent / "redraft"), "mcp", str(folder)])
        self.versions: dict[str, str] = {}

    def read(self, name: str) -> Answer:
        return self._told(name, self.client.call("read_document", {"path": name}))

    def window(self, name: str, start: int, count: int) -> Answer:
        arguments = {"path": name, "start_line": start, "end_line": start + count - 1}
        return self._told(name, self.client.call("read_document", arguments))

    def edit(self, name: str, change: Change) -> Answer:
        return self._told(name, self.client.call("edit_text", self._passage(name, change)))

    def edit_lines(self, name: str, change: Change) -> Answer:
        where = {"start_line": change.line, "end_line": change.line}
        arguments = {"path": name, "version": self.versions[name], "content": change.new, **where}
        return self._told(name, self.client.call("replace_lines", arguments))

    def edit_both(self, first: tuple[str, Change], second: tuple[str, Change]) -> Answer:
        calls = [{"tool": "edit_text", "arguments": self._passage(*edit)} for edit in (first, second)]
        answer = self.client.call("batch", {"calls": calls})
        if not answer.failed:
            self.versions.update(json.loads(answer.text)["versions"])
        return answer

    def write(self, name: str, text: str) -> Answer:
        arguments = {"path": name, "version": self.versions[name], "content": text}
        return self._told(name, self.client.call("write_document", arguments))

    def _passage(self, name: str, change: Change) -> dict[str, Any]:
        known = {"version": self.versions[name]} if name in self.versions else {}
        return {"path": name, "old_text": change.old, "new_text": change.new, **known}

    def _told(self, name: str, answer: Answer) -> Answer:
        if not answer.failed:
            self.versions[name] = json.loads(answer.text)["version"]
        return answer


class TextEditor(Server):
    """`mcp-text-editor`: lines by number, guarded by a hash of the file and one of the lines. It has no root folder."""

    name = "mcp-text-editor"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, [str(text_editor())])
        self.hashes: dict[str, str] = {}

    def read(self, name: str) -> Answer:
        return self._read(name, {"start": 1, "end": None})

    def window(self, name: str, start: int, count: int) -> Answer:
        return self._read(name, {"start": start + 1, "end": start + count})

    def edit(self, name: str, change: Change) -> Answer:
        return self._patch([(name, [self._lines(change)])])

    def edit_both(self, first: tuple[str, Change], second: tuple[str, Change]) -> Answer:
        patches: dict[str, list[dict[str, Any]]] = {}
        for name, change in (first, second):
            patches.setdefault(name, []).append(self._lines(change))
        return self._patch(list(patches.items()))

    def write(self, name: str, text: str) -> Answer:
        patch = {"line_start": 1, "line_end": None, "contents": text, "range_hash": self.hashes[name]}
        return self._patch([(name, [patch])])

    def _read(self, name: str, lines: dict[str, int | None]) -> Answer:
        path = str(self.folder / name)
        answer = self.client.call("get_text_file_contents", {"files": [{"file_path": path, "ranges": [lines]}]})
        if not answer.failed:
            self.hashes[name] = json.loads(answer.text)[path]["file_hash"]
        return answer

    def _lines(self, change: Change) -> dict[str, Any]:
        known = hashlib.sha256(f"{change.old}\n".encode()).hexdigest()
        where = {"line_start": change.line + 1, "line_end": change.line + 1}
        return {**where, "contents": change.new, "range_hash": known}

    def _patch(self, files: list[tuple[str, list[dict[str, Any]]]]) -> Answer:
        wanted = [
            {"path": str(self.folder / name), "file_hash": self.hashes.get(name, "unread"), "patches": patches}
            for name, patches in files
        ]
        answer = self.client.call("edit_text_file_contents", {"files": wanted})
        if answer.failed:
            return answer
        # A refusal is no error of the protocol here; it is told inside the text.
        results: dict[str, dict[str, Any]] = json.loads(answer.text)
        for name, _ in files:
            found = results[str(self.folder / name)]
            if found["result"] == "ok":
                self.hashes[name] = found["file_hash"]
        failed = any(found["result"] != "ok" for found in results.values())
        return Answer(answer.text, failed, answer.seconds)


class Filesystem(Server):
    """`@modelcontextprotocol/server-filesystem`: passages, no versions, and windows only at a file's two ends."""

    name = "server-filesystem"
    windows = False

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, [*filesystem(), str(folder)])

    def read(self, name: str) -> Answer:
        return self.client.call("read_text_file", {"path": str(self.folder / name)})

    def window(self, name: str, start: int, count: int) -> Answer:
        """The nearest it has: the first lines, which saves it the way to `start`."""
        return self.client.call("read_text_file", {"path": str(self.folder / name), "head": count})

    def edit(self, name: str, change: Change) -> Answer:
        return self._edit(name, [change])

    def edit_both(self, first: tuple[str, Change], second: tuple[str, Change]) -> Answer | None:
        return self._edit(first[0], [first[1], second[1]]) if first[0] == second[0] else None

    def write(self, name: str, text: str) -> Answer:
        return self.client.call("write_file", {"path": str(self.folder / name), "content": text})

    def _edit(self, name: str, changes: list[Change]) -> Answer:
        edits = [{"oldText": change.old, "newText": change.new} for change in changes]
        return self.client.call("edit_file", {"path": str(self.folder / name), "edits": edits})


def cache() -> Path:
    """Where the tests keep their real clients too."""
    return Path(os.environ.get("CLIENTS", Path.home() / ".cache" / "agent-clients"))


def text_editor() -> Path:
    return _from_pip("mcp-text-editor", TEXT_EDITOR, *TEXT_EDITOR_NEEDS)


def agent_doc() -> Path:
    """The original of our `agent-doc`. It may start a background process: see `of_agent_doc`."""
    return _from_pip("agent-doc", AGENT_DOC, f"agent-doc=={AGENT_DOC}")


def _from_pip(name: str, version: str, *needs: str) -> Path:
    """A program in an environment of its own, installed at first use."""
    home = cache() / f"{name}-{version}"
    pip = [str(home / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _installed(home, lambda: venv.create(home, with_pip=True), [*pip, *needs])
    return home / "bin" / name


def filesystem() -> list[str]:
    """Node and the program, installed at first use."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        raise OutOfReach("there is no node and npm here")
    home = cache() / f"server-filesystem-{FILESYSTEM}"
    package = f"@modelcontextprotocol/server-filesystem@{FILESYSTEM}"
    command = [npm, "install", "--prefix", str(home), "--no-fund", "--no-audit", "--loglevel=error", package]
    _installed(home, lambda: home.mkdir(parents=True), command)
    return [node, str(home / "node_modules" / "@modelcontextprotocol" / "server-filesystem" / "dist" / "index.js")]


def _installed(home: Path, prepare: Callable[[], object], command: list[str]) -> None:
    """Run both steps unless they have once been done to their end."""
    ready = home / "ready"
    if ready.exists():
        return
    shutil.rmtree(home, ignore_errors=True)
    prepare()
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        raise OutOfReach(f"its package cannot be installed here ({' '.join(done.stderr.split())[:200]})")
    ready.touch()


def echo(folder: Path) -> Client:
    """The base line: the SDK with a tool that does nothing."""
    client = Client([sys.executable, str(Path(__file__).with_name("echo.py"))], folder, {})
    client.start()
    return client


Kind = type[Redraft | TextEditor | Filesystem]


def reachable() -> tuple[list[Kind], dict[str, str]]:
    """Ours and the peers that can be had, and why the others cannot."""
    kinds: list[Kind] = [Redraft]
    missing: dict[str, str] = {}
    peers: list[tuple[Kind, Callable[[], object]]] = [(TextEditor, text_editor), (Filesystem, filesystem)]
    for kind, install in peers:
        try:
            install()
            kinds.append(kind)
        except (OutOfReach, OSError, subprocess.SubprocessError) as reason:
            missing[kind.name] = str(reason)
    return kinds, missing
