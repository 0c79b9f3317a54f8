"""Our column of the table in `docs/peers.md`: what the server does where others do harm, shown by a real process of it.

The benchmark runs the same acts against the peers (`python -m benchmarks behaviour`); nothing here needs them.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import TORTURE
from tests.speaking.forking import start_program
from tests.speaking.lines import PATIENCE, environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

# An edit takes a few milliseconds: with calms of up to three times as long, swaps fall into every part of one.
LONGEST_CALM = 0.015
RACE_SECONDS = 60 if TORTURE else 2
SECRET = "a-token-that-nobody-may-see"
LINES = b"one\ntwo\nthree\n"


class Agent:
    """An agent at the other end of the two pipes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        command = [sys.executable, "-W", "error", "-m", "redraft", "mcp", str(folder), "--profile", "all"]
        pipe = subprocess.PIPE
        self.process = start_program(command, stdin=pipe, stdout=pipe, env=environment(folder))
        self.number = 0

    def start(self) -> None:
        who = {"name": "agent", "version": "1"}
        self.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=who)

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.number += 1
        question = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": parameters}
        self.process.stdin.write(json.dumps(question).encode() + b"\n")
        self.process.stdin.flush()
        while True:
            line = self.process.stdout.readline()
            assert line, "the server ended"
            message: dict[str, Any] = json.loads(line)
            if message.get("id") == self.number:
                return message

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """What the tool answers; a refusal has an `error`."""
        result = self.ask("tools/call", name=tool, arguments=arguments)["result"]
        answer: dict[str, Any] = json.loads(result["content"][0]["text"])
        assert result["isError"] is ("error" in answer)
        return answer

    def version(self, path: str) -> str:
        return self.call("read_document", path=path)["version"]

    def put(self, name: str, data: bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        return path

    def everything(self) -> dict[str, bytes]:
        files = (path for path in self.folder.rglob("*") if path.is_file() and ".redraft" not in path.parts)
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in files}

    def close(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(PATIENCE)
        self.process.stdout.close()


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Agent]:
    folder = tmp_path / "notes"
    folder.mkdir()
    agent = Agent(folder)
    try:
        agent.start()
        yield agent
    finally:
        agent.close()


# A file with line ends of its own


ENDS = [
    b"one\r\ntwo\r\nthree\r\n",
    b"\xef\xbb\xbfone\r\ntwo\r\nthree",
    b"one\r\ntwo\nthree\r\n",
    b"one  \r\ntwo\r\n\r\n\r\nthree \t\r\n",
]


@pytest.mark.covers("P1")
@pytest.mark.parametrize("before", ENDS)
def test_an_edit_keeps_every_other_byte_of_a_file_with_crlf(agent: Agent, before: bytes) -> None:
    path = agent.put("crlf.md", before)
    agent.call("edit_text", path="crlf.md", old_text="two", new_text="TWO")
    assert path.read_bytes() == before.replace(b"two", b"TWO")


@pytest.mark.covers("P1")
@pytest.mark.parametrize("before", ENDS[:2])
def test_a_replaced_line_has_the_line_end_of_the_file(agent: Agent, before: bytes) -> None:
    path = agent.put("crlf.md", before)
    version = agent.version("crlf.md")
    agent.call("replace_lines", path="crlf.md", version=version, start_line=1, end_line=1, content="TWO\nand more")
    assert path.read_bytes() == before.replace(b"two", b"TWO\r\nand more")


# A target that could be either of two


@pytest.mark.covers("P3")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("edit_text", {"old_text": "same", "new_text": "changed"}),
        ("replace_lines", {"start_line": 1, "end_line": 1, "content": "changed", "match_text": "same"}),
        ("insert_lines", {"after_line": 1, "content": "changed", "match_text": "same"}),
    ],
)
def test_a_passage_that_stands_twice_is_refused(agent: Agent, tool: str, arguments: dict[str, Any]) -> None:
    path = agent.put("twice.md", b"same\nmiddle\nsame\n")
    stale = agent.version("twice.md")
    before = b"a new first line\nsame\nmiddle\nsame\n"
    path.write_bytes(before)
    # The lines have moved, so that only the passage could tell where the edit belongs.
    version = {} if tool == "edit_text" else {"version": stale}
    refused = agent.call(tool, path="twice.md", **version, **arguments)
    assert refused["error"] == "anchor_ambiguous"
    assert path.read_bytes() == before


# A file that changed between the read and the write


STALE_CALLS: list[tuple[str, dict[str, Any]]] = [
    ("edit_text", {"old_text": "two", "new_text": "TWO"}),
    ("replace_lines", {"start_line": 1, "end_line": 1, "content": "TWO"}),
    ("insert_lines", {"after_line": 1, "content": "TWO"}),
    ("delete_lines", {"start_line": 1, "end_line": 1}),
    ("write_document", {"content": "one\nTWO\nthree\n"}),
    ("find_and_replace", {"find": "two", "replace": "TWO", "preview": False}),
]


@pytest.mark.covers("P3", "P5")
@pytest.mark.parametrize(("tool", "arguments"), STALE_CALLS)
def test_an_edit_of_a_stale_file_is_refused_and_says_what_changed(
    agent: Agent, tool: str, arguments: dict[str, Any]
) -> None:
    path = agent.put("stale.md", LINES)
    version = agent.version("stale.md")
    theirs = b"one\ntwo\nthree, by a person\n"
    path.write_bytes(theirs)
    refused = agent.call(tool, path="stale.md", version=version, **arguments)
    assert refused["error"] == "version_mismatch"
    assert "by a person" in json.dumps(refused["details"])
    assert path.read_bytes() == theirs


@pytest.mark.covers("P3")
def test_a_change_that_keeps_size_and_time_is_still_noticed(agent: Agent) -> None:
    path = agent.put("stale.md", LINES)
    known = path.stat()
    version = agent.version("stale.md")
    path.write_bytes(b"one\ntwo\nTHREE\n")
    os.utime(path, ns=(known.st_atime_ns, known.st_mtime_ns))
    refused = agent.call("write_document", path="stale.md", version=version, content="one\nTWO\nthree\n")
    assert refused["error"] == "version_mismatch"
    assert path.read_bytes() == b"one\ntwo\nTHREE\n"


# A batch of which one half cannot be done


GOOD_CALLS: list[tuple[str, dict[str, Any]]] = [
    ("edit_text", {"path": "first.md", "old_text": "two", "new_text": "TWO"}),
    ("create_document", {"path": "new.md", "content": "new\n"}),
    ("move_document", {"path": "third.md", "destination": "moved.md"}),
]


@pytest.mark.covers("P2")
@pytest.mark.parametrize("good", GOOD_CALLS)
@pytest.mark.parametrize("path", ["first.md", "second.md"])
def test_of_a_half_bad_batch_nothing_is_written(agent: Agent, good: tuple[str, dict[str, Any]], path: str) -> None:
    for name in ("first.md", "second.md", "third.md"):
        agent.put(name, LINES)
    before = agent.everything()
    bad = ("edit_text", {"path": path, "old_text": "not there", "new_text": "never"})
    calls = [{"tool": tool, "arguments": arguments} for tool, arguments in (good, bad)]
    assert agent.call("batch", calls=calls)["error"] == "anchor_not_found"
    assert agent.everything() == before
    assert agent.call("batch", calls=calls[:1])["state"] == "applied"


# A byte that is not UTF-8


@pytest.mark.covers("P1")
def test_a_file_with_a_latin_1_byte_is_refused_and_stays_as_it_is(agent: Agent) -> None:
    before = b"caf\xe9\ntwo\n"
    path = agent.put("latin.md", before)
    assert agent.call("read_document", path="latin.md")["error"] == "unsupported_file_type"
    edited = agent.call("edit_text", path="latin.md", old_text="two", new_text="TWO")
    assert edited["error"] == "unsupported_file_type"
    assert path.read_bytes() == before


# A secret


@pytest.mark.covers("P7")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("read_document", {"path": ".env"}),
        ("read_file", {"file_path": ".env"}),
        ("get_outline", {"path": ".env"}),
        ("search_document", {"path": ".env", "query": "TOKEN", "match_type": "exact"}),
        ("search_documents", {"query": "TOKEN"}),
        ("search_project", {"query": "TOKEN"}),
        ("edit_text", {"path": ".env", "old_text": "TOKEN", "new_text": "KEY"}),
        ("move_document", {"path": ".env", "destination": "open.md"}),
    ],
)
def test_no_tool_gives_the_secrets_of_an_env_file(agent: Agent, tool: str, arguments: dict[str, Any]) -> None:
    agent.put(".env", f"TOKEN={SECRET}\n".encode())
    agent.put("note.md", b"The TOKEN is in another file.\n")
    before = agent.everything()
    answer = agent.call(tool, **arguments)
    assert answer.get("error") not in {"unknown_tool", "invalid_argument"}, answer
    assert SECRET not in json.dumps(answer)
    assert agent.everything() == before


# A link that comes and goes


def swap_file(path: Path, outside: Path) -> None:
    """Each step is atomic: there is no moment without the name."""
    aside = path.with_name("aside")
    aside.symlink_to(outside / "note.md")
    os.replace(aside, path)
    aside.write_text("harmless two\n", encoding="utf-8")
    os.replace(aside, path)


def swap_folder(path: Path, outside: Path) -> None:
    folder, aside = path.parent, path.parent.with_name("aside")
    folder.rename(aside)
    folder.symlink_to(outside)
    folder.unlink()
    aside.rename(folder)


def race(
    path: Path, outside: Path, swap: Callable[[Path, Path], None], act: Callable[[], dict[str, Any]], calm: float = 0
) -> str:
    """All answers to `act` while the name is swapped to and fro; some of them must have been good ones."""
    stop = threading.Event()
    chance = random.Random(7)

    def swapping() -> None:
        while not stop.wait(chance.random() * calm):
            swap(path, outside)

    thread = threading.Thread(target=swapping)
    thread.start()
    answers: list[dict[str, Any]] = []
    try:
        end = time.monotonic() + RACE_SECONDS
        while time.monotonic() < end:
            answers.append(act())
    finally:
        stop.set()
        thread.join()
    assert any("error" not in answer for answer in answers)
    assert any("error" in answer for answer in answers)
    return json.dumps(answers)


@pytest.mark.slow
@pytest.mark.covers("P7", "RD-files-race")
@pytest.mark.parametrize(("name", "swap"), [("swapped.md", swap_file), ("folder/note.md", swap_folder)])
def test_a_link_swapped_in_during_reads_and_edits_never_leads_out(
    agent: Agent, tmp_path: Path, name: str, swap: Callable[[Path, Path], None]
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "note.md").write_text(f"{SECRET} two\n", encoding="utf-8")
    path = agent.put(name, b"harmless two\n")
    seen = race(path, outside, swap, lambda: agent.call("read_document", path=name))
    assert SECRET not in seen
    turns = iter(range(1_000_000))

    def edit() -> dict[str, Any]:
        word = "two" if next(turns) % 2 == 0 else "TWO"
        return agent.call("edit_text", path=name, old_text=word, new_text=word.swapcase())

    seen = race(path, outside, swap, edit, LONGEST_CALM)
    assert SECRET not in seen
    assert {entry.name: entry.read_text(encoding="utf-8") for entry in outside.iterdir()} == {
        "note.md": f"{SECRET} two\n"
    }
