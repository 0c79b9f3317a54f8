"""`watch` on real files, with a fake agent: every edit seen once, however the editor saves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.conftest import TORTURE
from tests.sessions.conftest import PATIENCE, PROGRAM, until

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from tests.sessions.conftest import AgentDoc

pytestmark = pytest.mark.slow
ROUNDS = 50 if TORTURE else 4
# Answers with the last question of the prompt's document, and notes which questions the difference holds as new.
FAKE = """\
#!{python} -IS
import json, re, sys
prompt = sys.stdin.read()
new = prompt[prompt.find("<diff>"):prompt.find("</diff>")] if "<diff>" in prompt else prompt
asked = re.findall(r"^[+]?(Question [a-z0-9-]+)[?]", new, re.M)
with open({home!r} + "/asked", "a", encoding="utf-8") as notes:
    notes.write(json.dumps(asked) + "\\n")
said = "".join("Answer to " + name + ".\\n" for name in asked)
said = "<!-- patch:exchange -->\\n" + said + "<!-- /patch:exchange -->"
print(json.dumps(dict(result=said, session_id="s", is_error=False)))
"""
DOC = """\
---
agent_doc_session: {id}
agent_doc_write: {write}
---

<!-- agent:exchange mode=append -->
Hello.
<!-- /agent:exchange -->

Below.
"""


@pytest.fixture
def asked(agent_doc: AgentDoc, tmp_path: Path) -> Callable[[], list[str]]:
    """A `claude` on the PATH, and the questions that it was asked."""
    home = tmp_path / "bin"
    home.mkdir()
    program = home / "claude"
    program.write_text(FAKE.format(python=sys.executable, home=str(home)), encoding="utf-8")
    program.chmod(0o755)
    agent_doc.patching.setenv("PATH", str(home), prepend=":")
    agent_doc.patching.setenv("REDRAFT_MODEL_CALLS", "programs")

    def read() -> list[str]:
        notes = home / "asked"
        lines = notes.read_text(encoding="utf-8").splitlines() if notes.exists() else []
        return [name for line in lines for name in json.loads(line)]

    return read


def register(agent_doc: AgentDoc, **documents: str) -> None:
    entries = {name: {"pane": "%1", "file": f"{name}.md", "cwd": str(agent_doc.folder)} for name in documents}
    for name, write in documents.items():
        agent_doc.write(f"{name}.md", DOC.format(id=name, write=write))
    agent_doc.write(".agent-doc/sessions.json", json.dumps(entries))


@contextmanager
def watching(agent_doc: AgentDoc, *options: str) -> Generator[subprocess.Popen[bytes]]:
    program = subprocess.Popen(
        [*PROGRAM, "watch", "--foreground", *options],
        cwd=agent_doc.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        until((agent_doc.folder / ".agent-doc/watch.pid").exists, "the watch begins")
        yield program
    finally:
        program.terminate()
        program.communicate(timeout=PATIENCE)


def heard(program: subprocess.Popen[bytes]) -> bytes:
    """What it has said since, without waiting for more."""
    assert program.stdout is not None
    os.set_blocking(program.stdout.fileno(), False)
    return program.stdout.read() or b""


def save(path: Path, text: str, *, rename: bool) -> None:
    if not rename:
        path.write_text(text, encoding="utf-8")
        return
    other = path.with_name(f".{path.name}.swp")
    other.write_text(text, encoding="utf-8")
    os.replace(other, path)


def ask(agent_doc: AgentDoc, name: str, question: str, *, rename: bool) -> None:
    path = agent_doc.folder / f"{name}.md"
    text = path.read_text(encoding="utf-8").replace("Below.", f"Question {question}?\n\nBelow.")
    save(path, text, rename=rename)


@pytest.mark.covers("AD-watch-args", "AD-watch-files", "AD-watch-rename", "AD-watch-submits")
def test_alternating_edits_are_each_seen_once_however_they_are_saved(
    agent_doc: AgentDoc, asked: Callable[[], list[str]]
):
    register(agent_doc, fast="crdt", slow="merge")
    wanted = [f"Question {name}-{number}" for number in range(ROUNDS) for name in ("fast", "slow")]
    with watching(agent_doc, "--debounce", "60"):
        for number in range(ROUNDS):
            for name in ("fast", "slow"):
                ask(agent_doc, name, f"{name}-{number}", rename=number % 2 == 0)
            for name in ("fast", "slow"):
                answer = f"Answer to Question {name}-{number}."
                until(lambda n=name, a=answer: a in agent_doc.read(f"{n}.md"), answer)
            time.sleep(0.3)  # the next edit is a person's: it comes after the window
        time.sleep(0.5)
    assert sorted(asked()) == sorted(wanted), "every edit once, and no answer was taken for a question"
    for name in ("fast", "slow"):
        text = agent_doc.read(f"{name}.md")
        assert [text.count(f"Answer to Question {name}-{number}.") for number in range(ROUNDS)] == [1] * ROUNDS


@pytest.mark.covers("AD-watch-cap", "AD-watch-own-changes", "AD-watch-args")
@pytest.mark.parametrize(("cap", "options"), [(3, ()), (1, ("--max-cycles", "1"))])
def test_an_agent_that_changes_the_file_itself_makes_no_endless_loop(
    agent_doc: AgentDoc, asked: Callable[[], list[str]], tmp_path: Path, cap: int, options: tuple[str, ...]
):
    register(agent_doc, loop="crdt")
    program = tmp_path / "bin/claude"
    grows = (
        f"import re\npath = {str(agent_doc.folder / 'loop.md')!r}\ntext = open(path, encoding='utf-8').read()\n"
        "count = len(re.findall('^Question', text, re.M))\n"
        "open(path, 'w', encoding='utf-8').write(text.replace('Below.', f'Question own-{count}?\\n\\nBelow.'))\n"
    )
    program.write_text(program.read_text(encoding="utf-8") + grows, encoding="utf-8")
    with watching(agent_doc, "--debounce", "300", *options) as watch:
        ask(agent_doc, "loop", "first", rename=True)
        held = f"loop.md changed after {cap} cycles in a row; it now waits for you to change it."
        said = bytearray()
        until(lambda: held in (said.extend(heard(watch)) or said.decode()), held)
        assert asked() == ["Question first", *(f"Question own-{number}" for number in range(1, cap + 1))]
        time.sleep(0.35)  # the next edit is a person's: it comes after the window
        ask(agent_doc, "loop", "second", rename=False)
        until(lambda: "Answer to Question second." in agent_doc.read("loop.md"), "a person's change begins anew")
        assert asked()[cap + 1 : cap + 3] == [f"Question own-{cap + 1}", "Question second"], "what waited goes along"


@pytest.mark.covers("AD-watch-submits")
def test_a_change_settles_for_half_a_second_unless_told_otherwise(agent_doc: AgentDoc, asked: Callable[[], list[str]]):
    register(agent_doc, slow="merge")
    with watching(agent_doc) as watch:
        said = bytearray()
        began = time.monotonic()
        ask(agent_doc, "slow", "only", rename=True)
        until(lambda: b"Submitting slow.md" in (said.extend(heard(watch)) or said), "it is sent")
        assert time.monotonic() - began >= 0.5
        until(lambda: "Answer to Question only." in agent_doc.read("slow.md"), "and answered")


@pytest.mark.covers("AD-watch-convergence")
def test_content_that_was_just_submitted_is_not_submitted_again(
    agent_doc: AgentDoc, asked: Callable[[], list[str]], tmp_path: Path
):
    """The agent puts everything back: what is news then is what it was sent."""
    register(agent_doc, same="crdt", other="crdt")
    program = tmp_path / "bin/claude"
    fails = "if 'Question same' in new:\n    sys.exit('Out of order.')\n"
    before, note, after = program.read_text(encoding="utf-8").partition("said = ")
    program.write_text(f"{before}{fails}{note}{after}", encoding="utf-8")
    with watching(agent_doc, "--debounce", "50", "--max-cycles", "9"):
        ask(agent_doc, "same", "same", rename=True)
        until(lambda: asked() == ["Question same"], "it is sent")
        for name in ("a", "b", "c"):  # each is a round of the same watch, and later than another try would be
            ask(agent_doc, "other", name, rename=True)
            until(lambda n=name: f"Answer to Question {n}." in agent_doc.read("other.md"), "a round of the watch")
            time.sleep(0.2)
        assert asked().count("Question same") == 1
        ask(agent_doc, "same", "same-again", rename=True)
        until(lambda: "Question same-again" in asked(), "what is new goes out")


@pytest.mark.covers("AD-watch-stop", "AD-watch-status")
def test_the_daemon_outlives_its_parent_and_its_pipes_and_sees_documents_that_are_registered_later(
    agent_doc: AgentDoc, asked: Callable[[], list[str]]
):
    register(agent_doc)
    assert agent_doc.run("watch", "--status").status == 1

    def start() -> tuple[int, str]:
        parent = agent_doc.process("watch", "--debounce", "50")
        told, _ = parent.communicate(timeout=PATIENCE)
        assert parent.returncode == 0
        return int(agent_doc.read(".agent-doc/watch.pid")), told.decode()

    killed, _ = start()
    os.kill(killed, signal.SIGKILL)
    until(lambda: agent_doc.run("watch", "--status").status == 1, "it is gone, and has left its number behind")
    pid, told = start()
    assert f"Watching (process {pid});" in told, "and nobody takes that for the next one's"
    assert pid != killed
    log = Path(told.rpartition("its log is ")[2].strip())
    try:
        assert f"process {pid}" in agent_doc.ok("watch", "--status")
        assert f"already running (process {pid})" in agent_doc.ok("watch"), "one is enough"
        assert os.getsid(pid) == pid, "it hangs on no terminal"
        register(agent_doc, late="crdt")
        until(lambda: "Watching late.md" in log.read_text(encoding="utf-8"), "the registry is read again")
        ask(agent_doc, "late", "one", rename=True)
        until(lambda: "Answer to Question one." in agent_doc.read("late.md"), "it is seen")
        agent_doc.write(".agent-doc/watch.pid", "1\n")
        assert f"process {pid}" in agent_doc.ok("watch", "--stop"), "what lies in the folder is not believed"
    finally:
        agent_doc.run("watch", "--stop")
    assert agent_doc.run("watch", "--status").status == 1
    assert not (agent_doc.folder / ".agent-doc/watch.pid").exists()
    assert agent_doc.run("watch", "--stop").status == 0


@pytest.mark.covers("AD-watch-reactive")
def test_a_reactive_document_waits_for_no_debounce_also_where_the_watchs_reader_has_gone(
    agent_doc: AgentDoc, asked: Callable[[], list[str]]
):
    register(agent_doc, one="crdt", slow="merge")
    with watching(agent_doc, "--debounce", str(int(PATIENCE * 4000))) as program:
        assert program.stdout is not None
        program.stdout.close()
        ask(agent_doc, "slow", "later", rename=False)
        for question in ("a", "b"):
            ask(agent_doc, "one", question, rename=False)
            until(lambda q=question: f"Answer to Question {q}." in agent_doc.read("one.md"), "answered at once")
        assert asked() == ["Question a", "Question b"], "the other one settles for two minutes"
        program.send_signal(signal.SIGINT)
        assert program.wait(PATIENCE) == 0
        program.stdout = None


def test_documents_outside_the_project_and_others_than_entered_are_not_watched(agent_doc: AgentDoc, tmp_path: Path):
    from redraft.sessions.project import AgentDocFiles
    from redraft.sessions.watch.watcher import has_id, list_registered_documents

    register(agent_doc, inside="crdt")
    (tmp_path / "secret.md").write_text(DOC.format(id="out", write="crdt"), encoding="utf-8")
    (agent_doc.folder / "link.md").symlink_to(tmp_path / "secret.md")
    entries = json.loads(agent_doc.read(".agent-doc/sessions.json"))
    for name, file in {"out": "../secret.md", "link": "link.md", "all": str(tmp_path / "secret.md")}.items():
        entries[name] = {"pane": "%1", "file": file}
    agent_doc.write(".agent-doc/sessions.json", json.dumps(entries))
    inside = str((agent_doc.folder / "inside.md").resolve())
    with AgentDocFiles.open(str(agent_doc.folder)) as shelf:
        assert list_registered_documents(shelf, str(agent_doc.folder)) == {inside: "inside"}
    assert has_id(inside, "inside")
    assert not has_id(inside, "another")
