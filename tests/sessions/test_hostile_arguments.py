"""Every program that agent-doc starts, with a hostile value in each place that a document, a name or a setting fills.

The fake agents note their arguments; git and tmux are real, and so are `claude` and `codex` where npm can install them.
What would show that a value was obeyed is always the same: a file `obeyed` in the document's folder.
"""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from redraft.formats.frontmatter import fields, set_field
from tests.real_clients import client_programs, scripted_model
from tests.sessions.conftest import until
from tests.sessions.test_run import DOC, Claude, claude

if TYPE_CHECKING:
    from pathlib import Path

    from tests.sessions.conftest import AgentDoc, Tmux

__all__ = ["claude"]  # the fixture

OPTIONS = [
    '--settings={"apiKeyHelper":"touch obeyed"}',
    "--mcp-config=obeyed.json",
    "--debug-file=obeyed",
    "--dangerously-skip-permissions",
    "--config=notify=['touch','obeyed']",
    "-p",
    "-",
    "a b",
    "$(touch obeyed)",
    "`touch obeyed`",
    "a;touch obeyed",
    "a\ntouch obeyed",
    "../obeyed",
    "obeyed.jsonl",
    "ä",
    "a" * 300,
]
# A model may have a dot, and a path in its name; none begins with anything but a letter or digit.
MODELS = [value for value in OPTIONS if value != "obeyed.jsonl"]
AGENTS = [*OPTIONS, "sh", "./obeyed", "/bin/sh", "CLAUDE"]
NAMES = [
    "--help.md",
    "-rf.md",
    "$(touch obeyed).md",
    ";touch obeyed;.md",
    "#(touch obeyed).md",
    ":(exclude)a.md",
    "a;",
]


def with_field(key: str, value: str) -> str:
    """A document with this field; a key `a.b` is an entry of a map."""
    name, _, entry = key.partition(".")
    if not entry:
        return set_field(DOC, name, value)
    return DOC.replace("---\n\n", f"{name}: {{{entry}: {json.dumps(value)}}}\n---\n\n")


@pytest.mark.covers("AD-arguments")
@pytest.mark.parametrize("agent", ["claude", "codex"])
@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("resume", OPTIONS),
        ("resume.{agent}", OPTIONS),
        ("model", MODELS),
        ("{agent}_model", MODELS),
        ("agent", AGENTS),
    ],
)
def test_no_field_of_a_document_becomes_an_option(
    agent_doc: AgentDoc, claude: Claude, agent: str, key: str, values: list[str]
):
    claude.says("Obeyed.")
    for value in values:
        text = with_field(key.format(agent=agent), value)
        agent_doc.write("plan.md", text if key == "agent" else set_field(text, "agent", agent))
        refused = agent_doc.run("run", "plan.md")
        assert (refused.status, claude.calls) == (2, []), (value, refused)
        assert "obeyed" not in os.listdir(agent_doc.folder)


@pytest.mark.covers("AD-arguments")
def test_no_option_of_run_becomes_one_of_the_agent(agent_doc: AgentDoc, claude: Claude):
    agent_doc.write("plan.md", DOC)
    for flag, values in (("--model", MODELS), ("--agent", AGENTS)):
        for value in values:
            assert agent_doc.run("run", "plan.md", f"{flag}={value}").status == 2, (flag, value)
    assert claude.calls == []


@pytest.mark.covers("AD-arguments")
def test_an_id_from_an_agent_that_is_none_is_not_stored(agent_doc: AgentDoc, claude: Claude):
    agent_doc.write("plan.md", DOC)
    claude.says("A letter.", session='--settings={"apiKeyHelper":"touch obeyed"}')
    agent_doc.ok("run", "plan.md")
    assert "resume" not in fields(agent_doc.read("plan.md"))


@pytest.mark.covers("AD-arguments")
@pytest.mark.parametrize("name", NAMES)
def test_a_documents_name_is_no_argument_of_the_agent_and_only_a_path_to_git(
    agent_doc: AgentDoc, claude: Claude, name: str
):
    subprocess.run(["git", "init", "-q", "-b", "main"], check=True)
    agent_doc.write(name, DOC)
    agent_doc.write("beside.md", "Not to be committed.\n")
    claude.says("A letter.")
    agent_doc.ok("run", "-b", "--", name)
    [call] = claude.calls
    assert not any(name in word for word in call["words"])
    shown = ["git", "show", "--format=%D", "--name-only", "-z", "HEAD"]
    assert subprocess.run(shown, check=True, capture_output=True, encoding="utf-8").stdout.endswith(f"\n{name}\0")
    assert call["branch"].startswith("ref: refs/heads/agent-doc/")
    for command in (["commit"], ["history"], ["clean"], ["diff"], ["log"]):
        agent_doc.ok(*command, "--", name)
    assert sorted(os.listdir(agent_doc.folder)) == sorted([".agent-doc", ".git", ".redraft", "beside.md", name])


@pytest.mark.slow
@pytest.mark.covers("AD-arguments")
def test_nothing_in_the_registry_or_a_folders_name_commands_tmux(agent_doc: AgentDoc, tmux: Tmux, tmp_path: Path):
    pane = tmux.session("work", "sleep", "300")
    hostile = ["%1;kill-server", "%1\nkill-server", "-F#(touch obeyed)", "work:", "#(touch obeyed)", "$(touch obeyed)"]
    for value in hostile:
        entry = {"pane": value, "file": "plan.md", "cwd": value, "window": value}
        agent_doc.write("plan.md", "---\nagent_doc_session: d-1\n---\n")
        agent_doc.write(".agent-doc/sessions.json", json.dumps({"d-1": entry}))
        for words in (
            ["focus", "plan.md"],
            ["focus", "plan.md", f"--pane={value}"],
            ["claim", "plan.md", f"--pane={value}"],
            ["prompt", "plan.md"],
            ["layout", "plan.md", f"--window={value}"],
            ["sync", "--col", "plan.md", f"--window={value}"],
        ):
            done = agent_doc.run(*words)
            assert done.status in (2, 4), (value, words, done)
    agent_doc.ok("resync")
    folder = tmp_path / "x#(touch obeyed);"
    folder.mkdir()
    (folder / "plan.md").write_text("---\nagent_doc_session: d-2\n---\n", encoding="utf-8")
    agent_doc.patching.chdir(folder)
    noted = tmp_path / "noted"
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$PWD" "$@" > {noted}.new\nmv {noted}.new {noted}\nexec sleep 300\n',
        encoding="utf-8",
    )
    program.chmod(0o755)
    agent_doc.patching.setenv("PATH", str(program.parent), prepend=os.pathsep)
    agent_doc.patching.setenv("REDRAFT_MODEL_CALLS", "programs")
    agent_doc.ok("route", "plan.md")  # no session `claude` is there: an agent is started, in this folder
    until(noted.exists, "the agent is started")
    assert noted.read_text(encoding="utf-8") == f"{folder}\n/agent-doc plan.md\n"
    assert tmux.ask(pane, "pane_id") == pane, "the server lives"
    assert not list(tmp_path.rglob("obeyed"))


@pytest.mark.slow
@pytest.mark.covers("AD-arguments")
@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_the_real_agents_take_what_passes_as_an_id_and_start_nothing(agent_doc: AgentDoc, tmp_path: Path, agent: str):
    """Two rounds with a scripted model, the second in the conversation of the first; then an id that nobody has, and
    the values that used to run commands."""
    agent_doc.patching.setenv("PATH", client_programs(agent), prepend=os.pathsep)
    with scripted_model(tmp_path, [{"text": "An answer of the model."}]) as address:
        environ = {
            "REDRAFT_MODEL_CALLS": "programs",
            "ANTHROPIC_BASE_URL": address,
            "ANTHROPIC_API_KEY": "fake",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "FAKE_KEY": "x",
        }
        for name, value in environ.items():
            agent_doc.patching.setenv(name, value)
        (tmp_path / ".codex").mkdir()
        (tmp_path / ".codex" / "config.toml").write_text(
            'model_provider = "fake"\n[model_providers.fake]\nname = "fake"\nwire_api = "responses"\n'
            f'base_url = "{address}/v1"\nenv_key = "FAKE_KEY"\n',
            encoding="utf-8",
        )
        agent_doc.write("plan.md", DOC.replace("---\n\n", f"agent: {agent}\nmodel: fake-model\n---\n\n"))
        agent_doc.ok("run", "plan.md")
        known = fields(agent_doc.read("plan.md"))["resume"]
        agent_doc.write("plan.md", agent_doc.read("plan.md") + "And ö?\n")
        agent_doc.ok("run", "plan.md")
        asked = [json.loads(line) for line in (tmp_path / "model.jsonl").read_text(encoding="utf-8").splitlines()]
        both = [json.dumps(each) for each in asked if "And ö?" in json.dumps(each, ensure_ascii=False)]
        assert both, asked
        assert agent_doc.read("plan.md").count("An answer of the model.") == 2
        assert fields(agent_doc.read("plan.md"))["resume"] == known, "it went on in the same conversation"
        text = agent_doc.read("plan.md") + "More?\n"
        agent_doc.write("plan.md", set_field(text, "resume", "00000000-0000-4000-8000-000000000000"))
        unknown = agent_doc.run("run", "plan.md")
        assert (unknown.status, "00000000-0000-4000-8000-000000000000" in unknown.err) == (1, True), unknown
        for value in OPTIONS:
            agent_doc.write("plan.md", set_field(text, "resume", value))
            assert agent_doc.run("run", "plan.md").status == 2
    assert not list(agent_doc.folder.rglob("obeyed*"))
