"""Session routing on a real tmux: section 8.2, use case by use case, and names that want to be commands."""

from __future__ import annotations

import json
import os
import pty
import select
import shlex
import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest

from redraft.sessions.session_fields import SCAFFOLD, add_scaffold, add_session_id, session_fields
from redraft.sessions.tmux.claims import find_window
from redraft.sessions.tmux.panes import Pane
from tests.sessions.conftest import PATIENCE, PROGRAM, until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.sessions.conftest import AgentDoc, Tmux

# A `claude` that lives in a pane: it notes how it was started and what it was told, and does what the skill says.
FAKE = """\
#!{python} -IS
import json, os, shlex, subprocess, sys
program, home = {program!r}, {home!r}
def note(**what):
    with open(home + "/notes", "a", encoding="utf-8") as notes:
        notes.write(json.dumps(what) + "\\n")
def agent_doc(*words, given=None):
    done = subprocess.run([*program, *words], input=given, capture_output=True, encoding="utf-8")
    note(did=words[0], status=done.returncode, out=done.stdout, err=done.stderr)
    return done.stdout
def told(line):
    note(line=line)
    words = shlex.split(line) if os.path.exists(home + "/skilled") else []
    if words[:2] == ["/agent-doc", "claim"]:
        agent_doc("claim", words[2])
    elif words[:1] == ["/agent-doc"]:
        with open(words[1], encoding="utf-8") as document, open(home + "/baseline", "w", encoding="utf-8") as baseline:
            baseline.write(document.read())
        if agent_doc("diff", words[1]):
            answer = "<!-- patch:exchange -->\\nBecause.\\n<!-- /patch:exchange -->"
            agent_doc("write", words[1], "--baseline-file", home + "/baseline", given=answer)
where = dict(cwd=os.getcwd(), pane=os.environ.get("TMUX_PANE"), pid=os.getpid())
note(started=sys.argv[1:], nested="CLAUDECODE" in os.environ, **where)
for line in sys.argv[1:]:
    told(line)
for line in sys.stdin:
    told(line.rstrip("\\n"))
"""
DOC = "---\nagent_doc_session: d-1\n---\n\nText.\n"


@dataclass(frozen=True, slots=True)
class Claude:
    """The fake program, and what it noted."""

    home: Path

    @property
    def program(self) -> str:
        return str(self.home / "claude")

    def learn_the_skill(self) -> None:
        (self.home / "skilled").touch()

    def notes(self, kind: str) -> list[Any]:
        path = self.home / "notes"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return [note[kind] for note in map(json.loads, lines) if kind in note]

    def note(self, kind: str) -> dict[str, Any]:
        lines = (self.home / "notes").read_text(encoding="utf-8").splitlines()
        return next(note for note in map(json.loads, lines) if kind in note)


@pytest.fixture
def claude(agent_doc: AgentDoc, tmp_path: Path) -> Claude:
    home = tmp_path / "bin"
    home.mkdir()
    program = home / "claude"
    program.write_text(FAKE.format(python=sys.executable, program=PROGRAM, home=str(home)), encoding="utf-8")
    program.chmod(0o755)
    agent_doc.patching.setenv("PATH", str(home), prepend=":")
    agent_doc.patching.setenv("REDRAFT_MODEL_CALLS", "programs")
    agent_doc.patching.setenv("CLAUDECODE", "1")
    return Claude(home)


def registry(agent_doc: AgentDoc) -> dict[str, dict[str, Any]]:
    return json.loads(agent_doc.read(".agent-doc/sessions.json"))


def register(agent_doc: AgentDoc, pane: str, name: str = "d-1", **more: Any) -> None:
    known = registry(agent_doc) if (agent_doc.folder / ".agent-doc/sessions.json").exists() else {}
    known[name] = {"pane": pane, "pid": 1, "cwd": str(agent_doc.folder), "started": "", "file": "plan.md", **more}
    agent_doc.write(".agent-doc/sessions.json", json.dumps(known))


@pytest.mark.slow
@pytest.mark.covers("AD-u1", "AD-start-uuid", "AD-start-tmux", "AD-start-register", "AD-start-exec",
                    "AD-registry-fields")  # fmt: skip
def test_u1_start_registers_its_pane_and_becomes_claude(agent_doc: AgentDoc, tmux: Tmux, claude: Claude):
    agent_doc.write("plan.md", "Text.\n")
    assert agent_doc.run("start", "plan.md").status == 2, "there is no pane outside tmux"
    pane = tmux.session("work", *PROGRAM, "start", "plan.md")
    until(lambda: claude.notes("started"), "claude runs")
    begun = claude.note("started")
    pid = int(tmux.ask(pane, "pane_pid"))
    where = {"cwd": str(agent_doc.folder), "pane": pane, "pid": pid}
    assert begun == {"started": [], "nested": False, **where}, "it is the pane's own process"
    session = session_fields(agent_doc.read("plan.md")).session
    entry = registry(agent_doc)[session or ""]
    assert abs(datetime.fromisoformat(entry.pop("started")).timestamp() - time.time()) < 60
    assert entry == {
        "pane": pane,
        "pid": pid,
        "cwd": str(agent_doc.folder),
        "file": "plan.md",
        "window": tmux.ask(pane, "window_id"),
    }


@pytest.mark.slow
@pytest.mark.covers("AD-u2", "AD-u3", "AD-route-alive", "AD-route-args", "AD-claim-pane-not-session", "AD-fm-session")
def test_u2_and_u3_a_submit_goes_to_the_pane_and_the_answer_comes_into_the_document(
    agent_doc: AgentDoc, tmux: Tmux, claude: Claude
):
    body = "<!-- agent:exchange mode=append -->\nWhy?\n<!-- /agent:exchange -->\n"
    agent_doc.write("plan.md", f"---\nagent_doc_session: d-1\n---\n{body}")
    claude.learn_the_skill()
    pane = tmux.session("work", claude.program)
    other = tmux.window("work", "sleep", "100")
    tmux.run("select-window", "-t", other)
    register(agent_doc, pane)
    agent_doc.ok("route", "plan.md")
    assert tmux.ask("work:", "pane_id") == pane, "it is in front"
    until(lambda: "Because." in agent_doc.read("plan.md"), "the answer")
    assert agent_doc.read("plan.md").endswith("Why?\nBecause.\n<!-- /agent:exchange -->\n")
    assert claude.notes("line") == ["/agent-doc plan.md"]
    until(lambda: len(claude.notes("did")) == 2, "it has done its work")
    # Claude restarts in the same pane, and the claim still holds.
    tmux.run("respawn-pane", "-k", "-t", pane, claude.program)
    until(lambda: len(claude.notes("started")) == 2, "it is back")
    agent_doc.ok("route", "plan.md", "--pane", other)
    until(lambda: len(claude.notes("line")) == 2, "it is told again, and a pane that lives is not replaced")
    # The document's id finds the pane, whatever the document is called by now.
    os.rename("plan.md", "next.md")
    agent_doc.ok("route", "next.md")
    until(lambda: claude.notes("line")[2:] == ["/agent-doc next.md"], "it is told under the new name")


@pytest.mark.slow
@pytest.mark.covers("AD-u4", "AD-u5", "AD-u6", "AD-u7", "AD-claim-last-wins", "AD-registry-shared", "AD-claim-uuid",
                    "AD-claim-register", "AD-claim-no-launch", "AD-claim-scaffold")  # fmt: skip
def test_u4_to_u7_a_claim_binds_documents_to_the_pane_and_the_last_one_wins(
    agent_doc: AgentDoc, tmux: Tmux, claude: Claude
):
    agent_doc.write("a.md", "---\nagent_doc_session: a\n---\n")
    agent_doc.write("b.md", "Some text.\n")
    claude.learn_the_skill()
    pane = tmux.session("work", claude.program)
    register(agent_doc, "%999", "a", file="a.md")
    for name in ("a.md", "b.md"):
        tmux.run("send-keys", "-t", pane, f"/agent-doc claim {name}", "Enter")
    until(lambda: len(claude.notes("did")) == 2, "both are claimed")
    assert claude.notes("status") == [0, 0]
    known = registry(agent_doc)
    assert [entry["pane"] for entry in known.values()] == [pane, pane], "the stale mapping is mended, and one is shared"
    assert {entry["file"] for entry in known.values()} == {"a.md", "b.md"}
    components = (
        "<!-- agent:status mode=replace -->\n<!-- /agent:status -->\n\n"
        "<!-- agent:exchange mode=append -->\n<!-- /agent:exchange -->\n"
    )
    assert agent_doc.read("a.md") == f"---\nagent_doc_session: a\n---\n\n{components}", "a new one gets its components"
    assert agent_doc.read("b.md").endswith("---\n\nSome text.\n"), "one with text does not"
    second = tmux.window("work", "sleep", "100")
    agent_doc.ok("claim", "a.md", "--pane", second)
    assert registry(agent_doc)["a"]["pane"] == second
    assert len(claude.notes("started")) == 1, "a claim starts nothing"


@pytest.mark.slow
@pytest.mark.covers("AD-u8", "AD-route-cascade", "AD-route-dead", "AD-route-prune", "AD-route-uuid")
def test_u8_a_dead_pane_is_replaced_and_with_none_left_an_agent_is_started(
    agent_doc: AgentDoc, tmux: Tmux, claude: Claude
):
    agent_doc.write("it's me.md", "Text.\n")
    mine = tmux.session("mine", "cat")
    register(agent_doc, "%999", "gone", file="gone.md")
    agent_doc.ok("route", "it's me.md")
    until(lambda: claude.notes("line"), "claude runs")
    typed = "/agent-doc " + shlex.quote("it's me.md")
    begun = claude.note("started")
    assert (begun["started"], begun["cwd"], begun["nested"]) == ([typed], str(agent_doc.folder), False)
    [(session, entry)] = registry(agent_doc).items()
    assert entry["file"] == "it's me.md", "and the stale entry of another document is gone"
    assert agent_doc.read("it's me.md") == f"---\nagent_doc_session: {session}\n---\n\nText.\n", "it has an id now"
    assert tmux.ask(entry["pane"], "session_name") == "claude"
    assert tmux.run("capture-pane", "-p", "-t", mine) == "", "nothing is typed into another session"
    register(agent_doc, "%999", session, file="it's me.md")
    agent_doc.ok("route", "it's me.md")
    until(lambda: claude.notes("line") == [typed, typed], "the active pane of the session takes it")
    assert registry(agent_doc)[session]["pane"] == entry["pane"]
    other = tmux.window("claude", claude.program)
    until(lambda: len(claude.notes("started")) == 2, "another agent")
    register(agent_doc, "%999", session, file="it's me.md")
    agent_doc.ok("route", "it's me.md", "--pane", other)
    until(lambda: claude.notes("line") == [typed] * 3, "the pane that is named takes it")
    assert registry(agent_doc)[session]["pane"] == tmux.ask("claude:", "pane_id") == other


@pytest.mark.covers("AD-u12", "AD-claim-log")
def test_u12_claims_are_logged_for_the_session_which_shows_and_empties_them(
    agent_doc: AgentDoc, tmux: Tmux, claude: Claude
):
    from redraft.sessions.installation import read_bundled_skill

    agent_doc.write("plan.md", DOC)
    agent_doc.write("#(touch pwned).md", DOC.replace("d-1", "d-2"))
    pane = tmux.session("work", "sleep", "100")
    agent_doc.patching.setenv("TMUX_PANE", pane)
    agent_doc.ok("claim", "plan.md")
    agent_doc.ok("claim", "#(touch pwned).md")
    log = f"Claimed plan.md for pane {pane}\nClaimed #(touch pwned).md for pane {pane}\n"
    assert agent_doc.read(".agent-doc/claims.log") == log
    assert (
        "`.agent-doc/claims.log` exists and is not empty, show its lines to the person and empty it"
        in read_bundled_skill()
    )
    agent_doc.write(".agent-doc/claims.log", "")
    agent_doc.ok("claim", "plan.md")
    assert agent_doc.read(".agent-doc/claims.log") == f"Claimed plan.md for pane {pane}\n", "each is shown once"


@pytest.mark.covers("AD-claim-message")
def test_whoever_looks_at_the_pane_is_told_of_the_claim(agent_doc: AgentDoc, tmux: Tmux):
    agent_doc.write("#(touch pwned).md", DOC)
    pane = tmux.session("work", "sleep", "100")
    screen, terminal = pty.openpty()
    environ = {**os.environ, "TERM": "vt100"}
    attach = ["tmux", "attach", "-t", "work"]
    looks = subprocess.Popen(attach, stdin=terminal, stdout=terminal, stderr=terminal, env=environ)
    os.close(terminal)
    try:
        until(lambda: tmux.run("list-clients"), "somebody looks")
        start = time.monotonic()
        agent_doc.ok("claim", "#(touch pwned).md", "--pane", pane)
        shown = ""
        while f"Claimed #(touch pwned).md (pane {pane})" not in shown:
            assert select.select([screen], [], [], PATIENCE)[0], shown
            shown += os.read(screen, 65536).decode()
        assert select.select([screen], [], [], PATIENCE)[0], "the message goes again"
        assert time.monotonic() - start > 2.5
    finally:
        tmux.run("kill-server")
        looks.wait(PATIENCE)
        os.close(screen)
    assert not (agent_doc.folder / "pwned").exists(), "to tmux such a name is a command"


@pytest.mark.covers("AD-u13", "AD-resync-removes", "AD-resync-report")
def test_u13_resync_removes_stale_entries_and_reports_both(agent_doc: AgentDoc, tmux: Tmux):
    pane = tmux.session("work", "sleep", "100")
    register(agent_doc, pane, "alive", file="a.md")
    register(agent_doc, "%999", "dead", file="b.md")
    register(agent_doc, "; touch pwned", "odd", file="c.md")
    out = agent_doc.ok("resync")
    assert list(registry(agent_doc)) == ["alive"]
    assert "Removed b.md: the pane %999 is gone" in out
    assert f"Active  a.md in the pane {pane}" in out
    assert "2 documents removed, 1 active." in out


HOSTILE = [
    "a; touch pwned.md",
    "$(touch pwned).md",
    "`touch pwned`.md",
    'it\'s "so" & more|x.md',
    "-rf.md",
    "!!.md",
    "ü #(x);",
]


@pytest.mark.slow
@pytest.mark.covers("AD-route-quoting")
def test_a_name_is_one_word_to_a_shell_that_happens_to_be_in_the_pane(agent_doc: AgentDoc, tmux: Tmux, tmp_path: Path):
    pane = tmux.session("work", "bash", "--norc", "--noprofile", "-i")
    said = tmp_path / "said"
    # A function with a slash in its name is possible in bash, and shows how the shell took the line apart.
    define = f'function /agent-doc {{ printf \'%s\\0\' "$#" "$@" >> {said}; }}'
    tmux.run("send-keys", "-t", pane, "-l", define)
    tmux.run("send-keys", "-t", pane, "Enter")
    for number, name in enumerate(HOSTILE):
        agent_doc.write(name, f"---\nagent_doc_session: h-{number}\n---\n")
        register(agent_doc, pane, f"h-{number}", file=name)
        agent_doc.ok("route", "--", name)
    wanted = [word for name in HOSTILE for word in ("1", f"./{name}" if name.startswith("-") else name)]
    until(lambda: said.exists() and said.read_bytes().count(b"\0") >= len(wanted), "the shell has read them all")
    assert said.read_bytes().decode().split("\0")[:-1] == wanted
    assert sorted(path.name for path in agent_doc.folder.iterdir() if not path.name.startswith(".")) == sorted(HOSTILE)


@pytest.mark.covers("AD-route-quoting")
@pytest.mark.parametrize("name", ["a\ntouch pwned.md", "a\x03.md", "a\x1b[A.md", "a\x7f.md"])
def test_a_name_that_would_press_keys_is_refused(agent_doc: AgentDoc, name: str):
    agent_doc.write(name, DOC)
    done = agent_doc.run("route", name)
    assert done.status == 2
    assert "cannot be typed" in done.err


@pytest.mark.slow
@pytest.mark.covers("AD-claim-args", "AD-claim-pane-order", "AD-claim-window-alive", "AD-claim-window-dead",
                    "AD-claim-window-none", "AD-claim-register", "AD-registry-window")  # fmt: skip
def test_a_claim_finds_its_pane_by_position_in_the_right_window(agent_doc: AgentDoc, tmux: Tmux):
    agent_doc.write("plan.md", DOC)
    left = tmux.session("work", "sleep", "100")
    right = tmux.split(left, "sleep", "100")
    below = tmux.split(right, "sleep", "100", way="-v")
    alone = tmux.window("work", "sleep", "100")
    window, other = tmux.ask(left, "window_id"), tmux.ask(alone, "window_id")
    agent_doc.patching.setenv("TMUX_PANE", alone)

    def claimed(*options: str) -> str:
        agent_doc.ok("claim", "plan.md", *options)
        return registry(agent_doc)["d-1"]["pane"]

    assert claimed() == alone
    at = {place: claimed("--window", window, "--position", place) for place in ("left", "right", "top", "bottom")}
    assert at == {"left": left, "right": right, "top": left, "bottom": left}
    assert claimed("--position", "left") == alone, "without a window, that of this pane"
    assert claimed("--position", "left", "--window", window, "--pane", below) == below
    tmux.kill(left)
    assert claimed("--window", window, "--position", "bottom") == below
    assert registry(agent_doc)["d-1"]["window"] == window
    # The window that the editor knows is gone: a live one of the same project is taken.
    assert claimed("--window", "@99", "--position", "top") == right
    agent_doc.write(".agent-doc/sessions.json", "{}")
    register(agent_doc, right, "d-2", cwd="/elsewhere", window=window)
    assert claimed("--window", "@99", "--position", "top") == alone, (
        "none of this project is known: as without a window"
    )
    assert registry(agent_doc)["d-1"]["window"] == other
    assert agent_doc.run("claim", "plan.md", "--pane", "%99").status == 4
    assert agent_doc.run("claim", "plan.md", "--pane", "work:0").status == 4


@pytest.mark.covers("AD-focus-selects", "AD-focus-error")
def test_focus_brings_the_pane_to_the_front_or_says_why_not(agent_doc: AgentDoc, tmux: Tmux):
    agent_doc.write("plan.md", DOC)
    first = tmux.session("work", "sleep", "100")
    second = tmux.window("work", "sleep", "100")
    beside = tmux.split(second, "sleep", "100")
    assert agent_doc.run("focus", "plan.md").status == 4, "it is claimed by none"
    register(agent_doc, beside)
    agent_doc.ok("focus", "plan.md")
    assert tmux.ask("work:", "pane_id") == beside
    agent_doc.ok("focus", "plan.md", "--pane", first)
    assert tmux.ask("work:", "pane_id") == first
    tmux.kill(beside)
    assert agent_doc.run("focus", "plan.md").status == 4, "its pane is gone"


def test_windows_are_found_by_id_by_session_and_number_and_by_number_where_that_is_clear():
    def pane(window: str, number: str, session: str) -> Pane:
        return Pane("%1", window, number, 0, 0, 1, 1, 1, 1, active=True, session=session)

    live = [pane("@1", "0", "work"), pane("@2", "1", "work"), pane("@3", "1", "claude"), pane("@4", "2", "my notes")]
    found = {name: find_window(name, live) for name in ("@2", "work:1", "my notes:2", "1", "0", "2", "@9", "x; y")}
    assert found == {
        "@2": "@2", "work:1": "@2", "my notes:2": "@4", "1": "@3", "0": "@1", "2": "@4", "@9": None, "x; y": None,
    }  # fmt: skip
    assert find_window("1", [*live[:2], pane("@5", "1", "other")]) is None, "two have that number"


def test_only_a_new_template_document_is_given_components():
    assert add_scaffold("") == SCAFFOLD
    assert add_scaffold("---\nagent: x\n---\n").endswith(f"---\n\n{SCAFFOLD}")
    assert add_scaffold("---\r\nagent: x\r\n---\r\n").endswith("<!-- /agent:exchange -->\r\n")
    for text in ("# Title\n", "---\nagent_doc_format: inline\n---\n", SCAFFOLD):
        assert add_scaffold(text) == text
    says_so = "---\nagent_doc_format: template\n---\n# Title"
    assert add_scaffold(says_so) == f"{says_so}\n\n{SCAFFOLD}"
    assert add_session_id("---\nsession: old\n---\n") == "---\nsession: old\n---\n", "an id stays, under whichever name"


def test_without_tmux_the_commands_say_so(agent_doc: AgentDoc, tmp_path: Path):
    agent_doc.write("plan.md", DOC)
    agent_doc.patching.setenv("PATH", str(tmp_path / "nothing"))
    done = agent_doc.run("focus", "plan.md", "--pane", "%1")
    assert done.status == 4
    assert "tmux is not installed" in done.err
    assert os.listdir(agent_doc.folder) == ["plan.md"]
