"""`run`: a prompt goes out to a program on the PATH, and its answer comes into the document."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from redraft.formats.frontmatter import fields
from redraft.sessions.backends import CLAUDE_ARGS, INSTRUCTIONS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.sessions.conftest import AgentDoc

# Notes what it was called with, does what `script.json` says, and answers as `claude` does.
FAKE = """\
#!{python} -IS
import json, os, sys
home = {home!r}
with open(home + "/calls.jsonl", "a", encoding="utf-8") as calls:
    called = dict(words=sys.argv[1:], prompt=sys.stdin.read(), nested="CLAUDECODE" in os.environ, cwd=os.getcwd())
    called["program"] = os.path.basename(sys.argv[0])
    called["branch"] = open(".git/HEAD").read().strip() if os.path.exists(".git/HEAD") else None
    calls.write(json.dumps(called) + "\\n")
script = json.load(open(home + "/script.json", encoding="utf-8"))
if "--continue" in sys.argv and script.get("nothing_to_continue"):
    sys.exit("No conversation found to continue")
if "while_thinking" in script:
    path, old, new = script["while_thinking"]
    text = open(path, encoding="utf-8").read()
    open(path, "w", encoding="utf-8").write(text.replace(old, new))
sys.stdout.write(script["says"])
sys.exit(script.get("status", 0))
"""


@dataclass(frozen=True, slots=True)
class Claude:
    """The fake program: what it is to do, and what it was asked."""

    home: Path

    def says(self, result: str, session: str = "s-1", **more: Any) -> None:
        said = json.dumps({"result": result, "session_id": session, "is_error": more.pop("is_error", False)})
        self.script(said, **more)

    def script(self, says: str, **more: Any) -> None:
        (self.home / "script.json").write_text(json.dumps({"says": says, **more}), encoding="utf-8")

    @property
    def calls(self) -> list[dict[str, Any]]:
        path = self.home / "calls.jsonl"
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


@pytest.fixture
def claude(agent_doc: AgentDoc, tmp_path: Path) -> Claude:
    home = tmp_path / "bin"
    home.mkdir()
    for name in ("claude", "codex", "scribe"):
        program = home / name
        program.write_text(FAKE.format(python=sys.executable, home=str(home)), encoding="utf-8")
        program.chmod(0o755)
    agent_doc.patching.setenv("PATH", str(home), prepend=":")
    agent_doc.patching.setenv("CLAUDECODE", "1")
    agent_doc.patching.setenv("REDRAFT_MODEL_CALLS", "programs")
    return Claude(home)


DOC = "---\nagent_doc_session: d-1\n---\n\n## User\n\nWhat is ä?\n"


FIRST_ROUND = (
    "---\nagent_doc_session: d-1\nresume: s-1\n---\n\n## User\n\nWhat is ä?\n\n## Assistant\n\nA letter.\n\n## User\n\n"
)


@pytest.fixture
def first_round(agent_doc: AgentDoc, claude: Claude) -> dict[str, Any]:
    """A conversation's first question is answered; how the program was called for it."""
    agent_doc.write("plan.md", DOC)
    claude.says("A letter.", session="s-1")
    agent_doc.ok("run", "plan.md")
    return claude.calls[0]


@pytest.mark.covers(
    "AD-claude-command", "AD-claude-fork", "AD-claude-system-prompt", "AD-claude-env", "AD-claude-json",
    "AD-run-first-prompt", "AD-backend-send",
)  # fmt: skip
def test_the_first_round_sends_the_whole_document(agent_doc: AgentDoc, first_round: dict[str, Any]):
    wanted = [*CLAUDE_ARGS, "--continue", "--fork-session", "--append-system-prompt", INSTRUCTIONS]
    assert first_round["words"] == wanted
    assert list(CLAUDE_ARGS) == ["-p", "--output-format", "json", "--permission-mode", "acceptEdits"]
    assert f"<document>\n{DOC}</document>" in first_round["prompt"]
    assert "<diff>" not in first_round["prompt"]
    assert (first_round["nested"], first_round["cwd"]) == (False, str(agent_doc.folder))


@pytest.mark.covers("AD-run-session-id", "AD-run-append", "AD-run-snapshot", "AD-snap-save")
@pytest.mark.usefixtures("first_round")
def test_an_answer_is_appended_with_its_session_and_kept_as_the_snapshot(agent_doc: AgentDoc):
    assert agent_doc.read("plan.md") == agent_doc.snapshot("plan.md") == FIRST_ROUND


@pytest.mark.covers("AD-run-unchanged")
@pytest.mark.usefixtures("first_round")
def test_nothing_is_sent_while_nothing_changed(agent_doc: AgentDoc, claude: Claude):
    assert "Nothing changed" in agent_doc.ok("run", "plan.md")
    assert len(claude.calls) == 1


@pytest.mark.covers("AD-loop", "AD-claude-resume", "AD-run-next-prompt", "AD-snap-load")
@pytest.mark.usefixtures("first_round")
def test_the_next_round_resumes_the_session_and_sends_what_changed(agent_doc: AgentDoc, claude: Claude):
    agent_doc.write("plan.md", FIRST_ROUND + "And ö?\n")
    claude.says("Another.", session="s-2")
    agent_doc.ok("run", "plan.md", "--model", "opus")
    second = claude.calls[1]
    assert second["words"][5:7] == ["--model=opus", "--resume=s-1"]
    news = "--- snapshot\n+++ document\n@@ -13,3 +13,4 @@\n \n ## User\n \n+And ö?\n"
    assert f"<diff>\n{news}</diff>\n\n<document>\n{FIRST_ROUND}And ö?\n</document>" in second["prompt"]
    assert fields(agent_doc.read("plan.md"))["resume"] == "s-2"
    assert agent_doc.read("plan.md").endswith("And ö?\n\n## Assistant\n\nAnother.\n\n## User\n\n")


def test_what_is_typed_while_the_agent_thinks_is_kept_and_is_news_next_time(agent_doc: AgentDoc, claude: Claude):
    agent_doc.write("plan.md", DOC)
    claude.says("A letter.", while_thinking=[str(agent_doc.folder / "plan.md"), "What is ä?", "What is ä, please?"])
    agent_doc.ok("run", "plan.md")
    assert "What is ä, please?\n\n## Assistant\n\nA letter.\n" in agent_doc.read("plan.md")
    assert agent_doc.ok("diff", "plan.md").count("\n+") == 2, "the header and the line that the agent has not seen"
    assert "+What is ä, please?" in agent_doc.ok("diff", "plan.md")


def test_patch_blocks_of_an_answer_go_into_their_components(agent_doc: AgentDoc, claude: Claude):
    agent_doc.write("plan.md", "<!-- agent:status -->\nold\n<!-- /agent:status -->\n")
    claude.says("<!-- patch:status -->\nnew\n<!-- /patch:status -->")
    agent_doc.ok("run", "plan.md", "--no-git")
    assert agent_doc.read("plan.md").endswith("<!-- agent:status -->\nnew\n<!-- /agent:status -->\n")


@pytest.mark.covers("AD-claude-error")
@pytest.mark.parametrize(
    "script",
    [
        {"says": json.dumps({"result": "Over the limit", "session_id": "x", "is_error": True})},
        {"says": "not json at all"},
        {"says": json.dumps({"session_id": "x"})},
        {"says": json.dumps({"result": "half", "session_id": "x"}), "status": 1},
        {"says": json.dumps({"result": "<!-- patch:a -->\ncut off", "session_id": "x"})},
    ],
)
def test_an_answer_that_is_none_leaves_the_document_and_its_snapshot(
    agent_doc: AgentDoc, claude: Claude, script: dict[str, Any]
):
    agent_doc.write("plan.md", DOC)
    claude.script(**script)
    assert agent_doc.run("run", "plan.md").status != 0
    assert (agent_doc.read("plan.md"), agent_doc.snapshot("plan.md")) == (DOC, None)


def test_the_first_conversation_of_a_folder_has_nothing_to_continue(agent_doc: AgentDoc, claude: Claude):
    agent_doc.write("plan.md", DOC)
    claude.says("Begun.", nothing_to_continue=True)
    agent_doc.ok("run", "plan.md")
    assert [("--continue" in call["words"]) for call in claude.calls] == [True, False]
    assert "Begun." in agent_doc.read("plan.md")


@pytest.mark.covers("AD-run-dry", "AD-run-flags")
def test_a_dry_run_shows_the_prompt_and_leaves_no_trace(agent_doc: AgentDoc, claude: Claude):
    agent_doc.write("plan.md", DOC)
    assert f"<document>\n{DOC}</document>" in agent_doc.ok("run", "plan.md", "--dry-run")
    assert claude.calls == []
    assert [path.name for path in agent_doc.folder.iterdir()] == ["plan.md"]


@pytest.mark.covers("AD-run-branch", "AD-run-commit", "AD-run-no-git", "AD-git-branch", "AD-state")
def test_a_run_commits_on_its_branch_and_lets_git_alone_if_told(agent_doc: AgentDoc, claude: Claude):
    def git(*words: str) -> str:
        return subprocess.run(["git", *words], check=True, capture_output=True, encoding="utf-8").stdout.strip()

    git("init", "-q", "-b", "main")
    agent_doc.write("my plan.md", DOC)
    git("add", ".")
    git("commit", "-q", "-m", "Begin")
    claude.says("One.")
    agent_doc.ok("run", "my plan.md", "-b")
    assert claude.calls[0]["branch"] == "ref: refs/heads/agent-doc/my-plan", "the branch is there before it is asked"
    assert git("branch", "--show-current") == "agent-doc/my-plan"
    assert git("log", "--format=%s").splitlines()[0].startswith("agent-doc: 2")
    assert git("status", "--porcelain", "--", "my plan.md") == ""
    # The session's state: its frontmatter, its snapshot and its commits.
    assert fields(agent_doc.read("my plan.md")) == {"agent_doc_session": "d-1", "resume": "s-1"}
    assert agent_doc.snapshot("my plan.md") == agent_doc.read("my plan.md")
    assert git("show", "HEAD:my plan.md") == agent_doc.read("my plan.md").strip()
    agent_doc.write("my plan.md", agent_doc.read("my plan.md") + "More?\n")
    claude.says("Two.")
    commits = git("rev-list", "--all")
    agent_doc.ok("run", "my plan.md", "--no-git")
    assert (git("status", "--porcelain", "--", "my plan.md"), git("rev-list", "--all")) == ('M "my plan.md"', commits)
    agent_doc.write(".gitignore", "hidden.md\n")
    agent_doc.write("hidden.md", DOC)
    told = agent_doc.run("run", "hidden.md")
    assert (told.status, "ignored" in told.err, "Two." in agent_doc.read("hidden.md")) == (0, True, True)


@pytest.mark.covers(
    "AD-backend-order", "AD-backend-custom", "AD-config-place", "AD-config-fields", "AD-config-reserved"
)
def test_the_flag_wins_over_the_document_that_over_the_config_and_that_over_claude(
    agent_doc: AgentDoc, claude: Claude, tmp_path: Path
):
    config = tmp_path / "config" / "agent-doc" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(
        'default_agent = "third"\nfuture_key = 1\n'
        '[agents.first]\ncommand = "scribe"\nargs = ["1"]\n[agents.second]\ncommand = "scribe"\nargs = ["2"]\n'
        '[agents.third]\ncommand = "scribe"\nargs = ["3"]\nresult_path = "r"\nsession_path = "s"\n',
        encoding="utf-8",
    )
    claude.script("Plain words.")
    for number, (text, flags) in enumerate(
        [("agent: second", ("--agent", "first")), ("agent: second", ()), ("k: v", ())]
    ):
        agent_doc.write(f"{number}.md", f"---\n{text}\n---\n## User\n\nHello\n")
        agent_doc.ok("run", f"{number}.md", *flags)
        assert "Plain words." in agent_doc.read(f"{number}.md")
    assert [call["words"] for call in claude.calls] == [["1"], ["2"], ["3"]]
    assert {call["program"] for call in claude.calls} == {"scribe"}
    assert claude.calls[0]["prompt"].startswith(INSTRUCTIONS)
    agent_doc.write("0.md", "Something new.\n")
    assert agent_doc.run("run", "0.md", "--agent", "nobody").status == 2
    config.write_text("[agents.x]\nargs = 'no list'\n", encoding="utf-8")
    assert agent_doc.run("run", "0.md").status == 2
    config.unlink()
    claude.says("Said by claude.")
    agent_doc.ok("run", "0.md")
    assert claude.calls[3]["program"] == "claude", "where nobody says who answers"


@pytest.mark.covers("AD-backend-custom", "AD-config-place")
def test_the_config_in_the_home_folder_may_change_how_claude_is_started(
    agent_doc: AgentDoc, claude: Claude, tmp_path: Path
):
    agent_doc.patching.delenv("XDG_CONFIG_HOME")
    config = tmp_path / ".config" / "agent-doc" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[agents.claude]\ncommand = "scribe"\nargs = ["-p", "--quick"]\n', encoding="utf-8")
    agent_doc.write("plan.md", DOC)
    claude.says("Said.")
    agent_doc.ok("run", "plan.md")
    [call] = claude.calls
    assert (call["program"], call["words"][:4]) == ("scribe", ["-p", "--quick", "--continue", "--fork-session"])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("plan.md", DOC + "<!-- agent:torn -->\n"),
        ("plan.md", "---\nagent_doc_write: magic\n---\n"),
        (".agent-doc/components.toml", "[broken"),
        (".redraft/settings.toml", "mode = 'read'\n"),
    ],
)
def test_nothing_is_sent_for_a_document_that_could_not_take_the_answer(
    agent_doc: AgentDoc, claude: Claude, name: str, text: str
):
    agent_doc.write("plan.md", DOC)
    agent_doc.write(name, text)
    claude.says("Paid for.")
    assert agent_doc.run("run", "plan.md").status in (1, 2, 3)
    assert claude.calls == []
    assert agent_doc.run("diff", "plan.md").status == 0


@pytest.mark.parametrize("field", ["resume", "model"])
def test_a_document_cannot_give_the_agent_options(agent_doc: AgentDoc, claude: Claude, field: str):
    agent_doc.write("plan.md", DOC.replace("---\n\n", f"{field}: --dangerously-skip-permissions\n---\n\n"))
    claude.says("Free.")
    told = agent_doc.run("run", "plan.md")
    assert (told.status, claude.calls) == (2, [])
    assert f"{field} is '--dangerously-skip-permissions'" in told.err


def test_model_calls_that_are_switched_off_start_no_program(agent_doc: AgentDoc, claude: Claude):
    agent_doc.patching.setenv("REDRAFT_MODEL_CALLS", "refuse")
    agent_doc.write("plan.md", DOC)
    assert agent_doc.run("run", "plan.md").status == 2
    assert claude.calls == []


@pytest.mark.slow
@pytest.mark.covers("AD-run-commit", "AD-cmd-commit")
def test_documents_of_one_repository_are_answered_at_once_and_every_answer_is_committed(
    agent_doc: AgentDoc, claude: Claude
):
    """Six programs at a time, while the person commits too."""

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], check=True, capture_output=True, encoding="utf-8").stdout.strip()

    rounds = 40 if os.environ.get("REDRAFT_TORTURE") else 2
    names = [f"plan-{letter}.md" for letter in "abcdef"]
    git("init", "-q", "-b", "main")
    for name in names:
        agent_doc.write(name, DOC.replace("d-1", name))
    git("add", ".")
    git("commit", "-q", "-m", "Begin")
    for number in range(rounds):
        claude.says(f"Answer {number}.")
        for name in names:
            agent_doc.write(name, agent_doc.read(name) + f"Question {number}?\n")
        agent_doc.write("staged.md", f"{number}\n")
        git("add", "staged.md")
        program = os.path.join(os.path.dirname(sys.executable), "agent-doc")
        running = [subprocess.Popen([program, "run", name], stderr=subprocess.PIPE, encoding="utf-8") for name in names]
        ended = [(one.communicate()[1], one.returncode) for one in running]
        assert [status for _, status in ended] == [0] * 6, ended
        assert git("diff", "--cached", "--name-only") == "staged.md"
        git("commit", "-q", "-m", "By the person")
    for name in names:
        commits = git("log", "--format=%H", "--", name).splitlines()
        assert len(commits) == rounds + 1
        assert git("show", f"HEAD:{name}") == agent_doc.read(name).strip()
        for number, commit in enumerate(reversed(commits[:-1])):
            added = git("show", "--format=", commit)
            assert f"+Answer {number}." in added
    assert git("status", "--porcelain", "-uno") == ""


def test_an_answer_that_cannot_be_committed_is_in_the_document_and_a_failure(agent_doc: AgentDoc, claude: Claude):
    subprocess.run(["git", "init", "-q"], check=True)
    agent_doc.write("plan.md", DOC)
    agent_doc.write(".git/hooks/pre-commit", "#!/bin/sh\necho 'not today' >&2\nexit 1\n")
    (agent_doc.folder / ".git" / "hooks" / "pre-commit").chmod(0o755)
    claude.says("A letter.")
    refused = agent_doc.run("run", "plan.md")
    assert refused.status == 1
    assert "The answer is in plan.md, but was not committed." in refused.err
    assert "not today" in refused.err
    assert "A letter." in agent_doc.read("plan.md")
