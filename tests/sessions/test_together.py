"""Several at once: processes that patch and write one document, a server that has it open, an editor that listens."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from typing import TYPE_CHECKING

import pytest

from redraft.cli.agent_doc import main
from redraft.formats.components import component, components
from redraft.server import discovery
from tests.conftest import TORTURE
from tests.server.serving import begun, ended

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from tests.server.serving import Server
    from tests.sessions.conftest import AgentDoc

LOG, STATUS = (
    "<!-- agent:log mode=append -->\n<!-- /agent:log -->\n",
    "<!-- agent:status -->\nOld.\n<!-- /agent:status -->\n",
)
DOC = f"# T\n\n{LOG}\n{STATUS}"
ROUNDS = 200 if TORTURE else 10


def at_once(*acts: Callable[[], int]) -> list[int]:
    """Do each act in a process of its own, all at the same moment; their exit statuses."""
    gate, start = os.pipe()
    children: list[int] = []
    for act in acts:
        child = os.fork()
        if child == 0:
            status = 99
            try:
                os.close(start)
                os.read(gate, 1)
                status = act()
            finally:
                os._exit(status)
        children.append(child)
    os.close(gate)
    os.close(start)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


def quietly(*arguments: str, stdin: str = "") -> Callable[[], int]:
    def act() -> int:
        read, write = os.pipe()
        os.write(write, stdin.encode())
        os.close(write)
        import sys

        sys.stdin = os.fdopen(read, encoding="utf-8")
        return main(list(arguments))

    return act


def inner(text: str, name: str) -> str:
    found = component(text, name)
    assert found is not None
    return found.inner(text)


@pytest.mark.slow
@pytest.mark.covers("AD-patch-two-at-once")
def test_patches_at_the_same_time_all_arrive(agent_doc: AgentDoc):
    agent_doc.write("a.md", DOC)
    for number in range(ROUNDS):
        pair = [quietly("patch", "a.md", "log", f"entry {number}.{side}") for side in (0, 1)]
        assert at_once(*pair) == [0, 0]
    lines = inner(agent_doc.read("a.md"), "log").split()
    assert sorted(lines) == sorted(["entry"] * 2 * ROUNDS + [f"{n}.{side}" for n in range(ROUNDS) for side in (0, 1)])
    assert agent_doc.snapshot("a.md") == agent_doc.read("a.md")


@pytest.mark.slow
def test_writes_from_one_baseline_and_a_person_who_types_lose_nothing(agent_doc: AgentDoc):
    def answer(name: str) -> str:
        log = f"<!-- patch:log -->\n{name} was here.\n<!-- /patch:log -->\n"
        return f"{log}<!-- patch:status -->\n{name} is done.\n<!-- /patch:status -->"

    def types() -> int:
        for number in range(3):  # as an editor saves that watches its file: what is there, and a line more
            time.sleep(0.02)
            path = agent_doc.folder / "a.md"
            text = path.read_bytes().decode()
            beside = path.with_name(f".a{number}")
            beside.write_bytes(text.replace("# T\n", f"# T\nTyped {number}.\n").encode())
            if path.read_bytes().decode() == text:
                beside.replace(path)
        return 0

    agent_doc.write("before.md", DOC)
    for _ in range(max(ROUNDS // 4, 1)):
        agent_doc.write("a.md", DOC)
        names = ("Ann", "Ben", "Cid")
        writes = [quietly("write", "a.md", "--baseline-file", "before.md", stdin=answer(name)) for name in names]
        assert at_once(*writes, types) == [0, 0, 0, 0]
        text = agent_doc.read("a.md")
        assert all(text.count(f"{name} was here.") == text.count(f"{name} is done.") == 1 for name in names)
        assert [each.name for each in components(text)] == ["log", "status"]
    assert agent_doc.answers() == []


# A server that has the folder open


@pytest.fixture
def server(agent_doc: AgentDoc) -> Generator[Server]:
    agent_doc.write("a.md", DOC)
    found = begun(agent_doc.folder)
    yield found
    assert ended(found) == ""


@pytest.mark.slow
def test_with_a_server_patch_and_write_go_through_it_over_unsaved_typing(agent_doc: AgentDoc, server: Server):
    tab = server.post("/api/tabs", {"path": "a.md"})
    edit = {"at": len("# T\n"), "old": "", "new": "Typed, not saved. 日本😀\n"}
    server.post(f"/api/tabs/{tab['tab_id']}/type", {"edits": [edit], "version": tab["version"]})
    agent_doc.ok("patch", "a.md", "log", "By way of the server.")
    agent_doc.write("before.md", DOC)
    agent_doc.ok(
        "write", "a.md", "--baseline-file", "before.md", stdin="<!-- patch:status -->\nNew.\n<!-- /patch:status -->"
    )
    seen = server.get("/api/documents", path="a.md")["content"]
    assert (inner(seen, "log"), inner(seen, "status")) == ("\nBy way of the server.\n", "\nNew.\n")
    assert "Typed, not saved. 日本😀\n" in seen
    assert agent_doc.read("a.md") == seen.replace("Typed, not saved. 日本😀\n", ""), "what is not saved stays so"
    turns = server.get("/api/turns")["turns"]
    assert {turn["author"]["name"] if isinstance(turn["author"], dict) else turn["author"] for turn in turns} >= {
        "agent"
    }


@pytest.mark.slow
@pytest.mark.covers("AD-write-force-disk")
def test_a_server_that_does_not_answer_gives_75_and_force_disk_goes_past_it(agent_doc: AgentDoc, server: Server):
    agent_doc.patching.setattr(discovery, "ASK_SECONDS", 0.3)
    assert server.process is not None
    answer = "<!-- patch:status -->\nNew.\n<!-- /patch:status -->"
    os.kill(server.process.pid, signal.SIGSTOP)
    try:
        silent = agent_doc.run("write", "a.md", stdin=answer)
        assert (silent.status, agent_doc.read("a.md"), agent_doc.answers()) == (75, DOC, [answer])
        agent_doc.ok("write", "a.md", "--force-disk", stdin=answer)
        assert inner(agent_doc.read("a.md"), "status") == "\nNew.\n"
    finally:
        os.kill(server.process.pid, signal.SIGCONT)
    assert server.get("/api/documents", path="a.md")["content"] == agent_doc.read("a.md")


# An editor's plugin


def letters(agent_doc: AgentDoc) -> list[os.DirEntry[str]]:
    return [entry for entry in os.scandir(agent_doc.folder / ".agent-doc" / "patches") if entry.name.endswith(".json")]


@pytest.mark.covers("AD-write-ipc")
def test_ipc_leaves_a_letter_and_the_document_alone(agent_doc: AgentDoc):
    agent_doc.write("a.md", DOC)
    agent_doc.ok("write", "a.md", "--ipc", stdin="<!-- patch:log -->\nEntry ä.\n<!-- /patch:log -->")
    [letter] = letters(agent_doc)
    told = json.loads(agent_doc.read(f".agent-doc/patches/{letter.name}"))
    assert told["file"] == str(agent_doc.folder / "a.md")
    assert told["patches"] == [{"component": "log", "content": "\nEntry ä.\n", "mode": "append"}]
    assert agent_doc.read("a.md") == DOC
    agent_doc.ok("write", "a.md", "--ipc", stdin="Another.\n")
    assert len(letters(agent_doc)) == 2, "one that waits is not written over"


@pytest.mark.covers("AD-editor-take")
@pytest.mark.parametrize(
    ("text", "answer", "typed", "merged"),
    [
        (
            "# P\n\n<!-- agent:log mode=append -->\nA.\n<!-- /agent:log -->\n\nText.\n",
            "<!-- patch:log -->\nB.\n<!-- /patch:log -->",
            ("Text.", "Typed text."),
            "# P\n\n<!-- agent:log mode=append -->\nA.\nB.\n<!-- /agent:log -->\n\nTyped text.\n",
        ),
        (
            "## User\n\nHello?\n",
            "Hi.\n",
            ("Hello?\n", "Hello?\nAnd how are you?\n"),
            "## User\n\nHello?\n\n## Assistant\n\nHi.\n\n## User\n\nAnd how are you?\n",
        ),
    ],
    ids=["component", "conversation"],
)
def test_a_letter_is_merged_into_what_the_editor_shows(
    agent_doc: AgentDoc, text: str, answer: str, typed: tuple[str, str], merged: str
):
    agent_doc.write("a.md", text)
    agent_doc.ok("write", "a.md", "--ipc", stdin=answer)
    [letter] = letters(agent_doc)
    assert agent_doc.ok("take", letter.path, stdin=text.replace(*typed)) == merged
    assert agent_doc.read("a.md") == text, "what the editor shows is the editor's to write"
    agent_doc.write("b.json", '{"file": "a.md"}')
    refused = agent_doc.run("take", str(agent_doc.folder / "b.json"), stdin=text)
    assert (refused.status, refused.out) == (2, "")


@pytest.mark.covers("AD-write-ipc-first", "AD-write-ipc-success")
@pytest.mark.parametrize("text", [DOC, "## User\n\nHello\n"])
def test_a_plugin_that_listens_gets_the_answer_first_for_components_and_whole_documents(agent_doc: AgentDoc, text: str):
    agent_doc.write("a.md", text)
    (agent_doc.folder / ".agent-doc" / "patches").mkdir(parents=True)
    taken: list[dict[str, object]] = []

    def plugin() -> None:
        while not taken:
            for letter in letters(agent_doc):
                taken.append(json.loads(agent_doc.read(f".agent-doc/patches/{letter.name}")))
                os.rename(letter.path, f"{letter.path}.taking")  # from now on nobody takes it back
                agent_doc.write("a.md", "As the editor wrote it.\n")
                os.unlink(f"{letter.path}.taking")
            time.sleep(0.01)

    listening = threading.Thread(target=plugin)
    listening.start()
    agent_doc.ok("write", "a.md", stdin="Hi.\n" if text != DOC else "<!-- patch:log -->\nx\n<!-- /patch:log -->")
    listening.join()
    [letter] = taken
    patches = [{"component": "log", "content": "\nx\n", "mode": "append"}] if text == DOC else []
    assert (letter["file"], letter["patches"]) == (str(agent_doc.folder / "a.md"), patches)
    whole = None if text == DOC else "## User\n\nHello\n\n## Assistant\n\nHi.\n\n## User\n\n"
    assert letter.get("fullContent") == whole
    assert agent_doc.read("a.md") == "As the editor wrote it.\n"
    assert agent_doc.snapshot("a.md") == "As the editor wrote it.\n"


@pytest.mark.slow
@pytest.mark.covers("AD-write-ipc-timeout", "AD-write-force-disk", "AD-write-ipc-absent")
def test_a_plugin_that_is_silent_for_two_seconds_gives_75_and_writes_nothing(agent_doc: AgentDoc):
    agent_doc.write("a.md", DOC)
    # Without a listener nobody is waited for: who waits in vain gives 75.
    agent_doc.ok("write", "a.md", stdin="<!-- patch:status -->\nNo one listens.\n<!-- /patch:status -->")
    (agent_doc.folder / ".agent-doc" / "patches").mkdir(parents=True)
    before = agent_doc.read("a.md")
    answer = "<!-- patch:status -->\nNew.\n<!-- /patch:status -->"
    started = time.monotonic()
    silent = agent_doc.run("write", "a.md", stdin=answer)
    assert (silent.status, agent_doc.read("a.md"), letters(agent_doc)) == (75, before, [])
    assert time.monotonic() - started >= 2
    assert agent_doc.answers() == [answer]
    agent_doc.ok("write", "a.md", "--force-disk", stdin=answer)
    assert inner(agent_doc.read("a.md"), "status") == "\nNew.\n"
