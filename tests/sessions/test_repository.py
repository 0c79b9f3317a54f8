"""A document in a real git repository: its commits alone, squashed or not, and nobody else's work touched."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from redraft.formats.components import component

if TYPE_CHECKING:
    from pathlib import Path

    from tests.sessions.conftest import AgentDoc

DOC = "<!-- agent:exchange mode=append -->\nFirst.\n<!-- /agent:exchange -->\n"


def git(*words: str) -> str:
    return subprocess.run(["git", *words], check=True, capture_output=True, encoding="utf-8").stdout.strip()


def subjects() -> list[str]:
    return git("log", "--format=%s").splitlines()


@pytest.fixture
def repository(agent_doc: AgentDoc) -> AgentDoc:
    """A repository with one commit of a person's, and a document that is not committed yet."""
    git("init", "-q", "-b", "main")
    agent_doc.write("other.md", "Other.\n")
    git("add", "other.md")
    git("commit", "-q", "-m", "Begin")
    agent_doc.write("plan.md", DOC)
    return agent_doc


def answer(agent_doc: AgentDoc, *words: str) -> None:
    """So many answers, each committed."""
    for word in words:
        agent_doc.ok("patch", "plan.md", "exchange", word)
        agent_doc.ok("commit", "plan.md")


@pytest.mark.covers("AD-cmd-commit", "AD-commit-only-file", "AD-git-message")
def test_commit_takes_only_the_document_and_leaves_what_else_is_staged(repository: AgentDoc):
    repository.write("other.md", "Staged by the person.\n")
    repository.write("new.md", "New.\n")
    git("add", "other.md", "new.md")
    repository.ok("commit", "plan.md")
    assert git("show", "--format=", "--name-only", "HEAD") == "plan.md"
    assert git("show", "HEAD:plan.md") + "\n" == DOC
    assert git("diff", "--cached", "--name-only").splitlines() == ["new.md", "other.md"]
    stamp = re.fullmatch(r"agent-doc: (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)", subjects()[0])
    assert stamp is not None
    assert abs(datetime.fromisoformat(stamp[1]).timestamp() - int(git("log", "-1", "--format=%ct"))) < 10
    assert "Nothing to commit" in repository.ok("commit", "plan.md")


@pytest.mark.slow
@pytest.mark.covers("AD-u3", "AD-skill-install")
def test_u3_the_skills_own_commands_answer_in_the_document_and_keep_what_is_typed_meanwhile(
    repository: AgentDoc, tmp_path: Path
):
    """Each in a shell of its own, as Claude Code runs them."""
    repository.patching.setenv("PATH", os.path.dirname(sys.executable), prepend=":")
    repository.patching.setenv("TMPDIR", str(tmp_path))
    repository.ok("skill", "install")
    skill = repository.read(".claude/skills/agent-doc/SKILL.md")
    [copying] = re.findall("`(copy=[^`]+)`", skill)
    [answering] = re.findall(r"^```\n(agent-doc write .+?)\n```", skill, re.MULTILINE | re.DOTALL)

    def shell(line: str) -> str:
        done = subprocess.run(["bash", "-c", line.replace("FILE", "plan.md")], capture_output=True, encoding="utf-8")
        assert done.returncode == 0, done.stderr
        return done.stdout

    baseline = shell(copying).strip()
    assert shell("agent-doc diff FILE").endswith(
        "+<!-- agent:exchange mode=append -->\n+First.\n+<!-- /agent:exchange -->\n"
    )
    repository.write("plan.md", DOC + "Typed meanwhile.\n")
    answer = "<!-- patch:exchange -->\nAnswered.\n<!-- /patch:exchange -->"
    shell(answering.replace("BASELINE", baseline).replace("\n...\n", f"\n{answer}\n"))
    shell("agent-doc commit FILE")
    assert "`agent-doc diff FILE`" in skill
    assert "`agent-doc commit FILE`" in skill
    assert repository.read("plan.md") == DOC.replace("First.", "First.\nAnswered.") + "Typed meanwhile.\n"
    assert git("show", "HEAD:plan.md") + "\n" == repository.read("plan.md")
    assert shell("agent-doc diff FILE").endswith(" <!-- /agent:exchange -->\n+Typed meanwhile.\n"), "news the next time"


def test_ignored_files_and_secrets_are_never_added_by_surprise(repository: AgentDoc):
    repository.write(".gitignore", "plan.md\n")
    repository.write(".env", "KEY=1\n")
    ignored = repository.run("commit", "plan.md")
    secret = repository.run("commit", ".env")
    assert (ignored.status, "ignored" in ignored.err) == (3, True)
    assert (secret.status, "secret" in secret.err) == (3, True)
    assert subjects() == ["Begin"]
    git("add", "-f", "plan.md")
    repository.ok("commit", "plan.md")
    assert subjects()[0].startswith("agent-doc:"), "what the person added themselves is tracked"


def test_the_persons_commit_hooks_are_respected(repository: AgentDoc):
    repository.write(".git/hooks/pre-commit", "#!/bin/sh\necho 'not today' >&2\nexit 1\n")
    (repository.folder / ".git" / "hooks" / "pre-commit").chmod(0o755)
    refused = repository.run("commit", "plan.md")
    assert (refused.status, "not today" in refused.err) == (1, True)
    assert git("status", "--porcelain", "plan.md") == "?? plan.md"


@pytest.mark.parametrize("what", ["merge", "rebase", "cherry-pick", "revert", "bisect"])
def test_nothing_is_committed_while_git_is_in_the_middle_of_something(repository: AgentDoc, what: str):
    git("add", "plan.md")
    git("commit", "-q", "-m", "Plan")
    git("switch", "-q", "-c", "side")
    for branch, text in (("side", "Theirs.\n"), ("main", "Ours.\n"), ("main", "Ours again.\n")):
        git("switch", "-q", branch)
        repository.write("other.md", text)
        git("commit", "-q", "-am", branch)
    words = {"merge": ["side"], "rebase": ["side"], "cherry-pick": ["side"], "revert": ["HEAD~1"], "bisect": ["start"]}
    subprocess.run(["git", what, *words[what]], check=False, capture_output=True)
    typed = DOC.replace("First.", "Typed meanwhile.")
    repository.write("plan.md", typed)
    head = git("rev-parse", "HEAD")
    for command in ("commit", "clean", "run"):
        refused = repository.run(command, "plan.md")
        assert (refused.status, f"in the middle of a {what}" in refused.err) == (1, True), refused
    assert git("rev-parse", "HEAD") == head
    assert repository.read("plan.md") == typed
    git(what, *(["reset"] if what == "bisect" else ["--abort"]))
    assert repository.read("plan.md") == (DOC if what == "rebase" else typed), "git's own abort of a rebase resets all"
    repository.write("plan.md", typed)
    repository.ok("commit", "plan.md")


def test_names_that_look_like_options_or_patterns_are_names(repository: AgentDoc):
    repository.write("-x*.md", DOC)
    repository.write(":(top)y.md", DOC)
    repository.write("-xa.md", "no\n")
    for name in ("-x*.md", ":(top)y.md"):
        repository.ok("commit", "--", name)
        assert git("-c", "core.quotePath=off", "show", "--format=", "--name-only", "HEAD") == name


def test_outside_a_repository_commit_says_so(agent_doc: AgentDoc):
    agent_doc.write("plan.md", DOC)
    assert "not in a git repository" in agent_doc.run("commit", "plan.md").err


@pytest.mark.covers("AD-cmd-clean", "AD-git-squash")
def test_clean_makes_one_commit_and_leaves_tree_index_and_files(repository: AgentDoc):
    answer(repository, "a", "b", "c")
    repository.write("other.md", "Staged.\n")
    git("add", "other.md")
    repository.write("plan.md", DOC + "typed\n")
    tree = git("rev-parse", "HEAD^{tree}")
    repository.ok("clean", "plan.md")
    assert [subject.partition(" ")[0] for subject in subjects()] == ["agent-doc:", "Begin"]
    assert git("rev-parse", "HEAD^{tree}") == tree
    assert git("diff", "--cached", "--name-only") == "other.md"
    assert repository.read("plan.md") == DOC + "typed\n"
    assert "fewer than two" in repository.ok("clean", "plan.md")


def test_clean_squashes_each_unbroken_run_and_swallows_no_commit_of_others(repository: AgentDoc):
    repository.write("log.md", DOC)
    answer(repository, "a", "b")
    repository.ok("commit", "log.md")
    answer(repository, "c")
    repository.write("plan.md", repository.read("plan.md") + "A person's words.\n")
    git("-c", "user.name=Ä", "commit", "-q", "-am", "By hand: ä\n\nWith a body.")
    answer(repository, "d", "e", "f")
    repository.write("other.md", "After all.\n")
    git("commit", "-q", "-am", "Later")
    tree = git("rev-parse", "HEAD^{tree}")
    by_hand = git("log", "-1", "--format=%T %an %ae %at %cn %ct %B", ":/By hand")
    assert "5 commits" in repository.ok("clean", "plan.md")
    kinds = [subject.split(" 2")[0] for subject in subjects()]
    assert kinds == ["Later", "agent-doc:", "By hand: ä", "agent-doc:", "agent-doc:", "agent-doc:", "Begin"]
    assert git("rev-parse", "HEAD^{tree}") == tree
    assert git("log", "-1", "--format=%T %an %ae %at %cn %ct %B", ":/By hand") == by_hand
    assert [git("show", f"HEAD~{back}:plan.md").count("\n") for back in (1, 3, 4, 5)] == [9, 5, 4, 4]
    git("fsck", "--strict", "--no-dangling")
    assert "fewer than two" in repository.ok("clean", "plan.md")


def test_clean_lets_alone_what_any_remote_has_and_commits_that_took_others_along(repository: AgentDoc):
    answer(repository, "a", "b")
    git("init", "-q", "--bare", "../far.git")
    git("remote", "add", "far", "../far.git")
    git("push", "-q", "far", "main:elsewhere")
    git("fetch", "-q", "far")
    assert "already pushed" in repository.run("clean", "plan.md").err
    pushed = git("rev-parse", "HEAD")
    repository.write("other.md", "Swept in.\n")
    repository.write("plan.md", DOC)
    git("commit", "-q", "-a", "-m", "agent-doc: by the original")
    answer(repository, "c", "d")
    repository.ok("clean", "plan.md")
    assert len(git("rev-list", f"{pushed}..").splitlines()) == 2


@pytest.mark.covers("AD-git-squash")
def test_clean_works_from_the_root_commit_on(agent_doc: AgentDoc):
    git("init", "-q", "-b", "main")
    agent_doc.write("plan.md", DOC)
    answer(agent_doc, "a", "b")
    assert len(subjects()) == 2
    agent_doc.ok("clean", "plan.md")
    assert len(subjects()) == 1
    assert git("show", "HEAD:plan.md") + "\n" == agent_doc.read("plan.md")


@pytest.mark.covers("AD-history-list", "AD-history-restore")
def test_history_lists_exchanges_and_restores_one_above_the_present(repository: AgentDoc):
    assert repository.ok("history", "plan.md").count("\n") == 1
    answer(repository, "zwölf 日本😀 " + "x" * 99)
    first = git("rev-parse", "HEAD")
    repository.write("plan.md", DOC.replace("First.", "Begun anew."))
    repository.ok("commit", "plan.md")
    repository.write("plan.md", "No components.\n")
    repository.ok("commit", "plan.md")
    table = repository.ok("history", "plan.md").splitlines()
    commits = git("log", "--format=%h %ci", "--abbrev=12", "--", "plan.md").splitlines()
    assert [" ".join(line.split()[:4]) for line in table[1:]] == commits, "each with its time"
    assert [line.split(maxsplit=4)[-1] for line in table[1:]] == ["(no exchange component)", "Begun anew.", "First."]
    assert table[3].startswith(first[:12])
    assert repository.run("history", "plan.md", "--restore", first).status == 1, "there is nowhere to put it"
    repository.write("plan.md", DOC.replace("First.", "Begun anew."))
    repository.ok("history", "plan.md", "--restore", first[:8])
    text = repository.read("plan.md")
    place = component(text, "exchange")
    assert place is not None
    assert place.inner(text).startswith("\nFirst.\nzwölf 日本😀")
    assert place.inner(text).endswith("x\nBegun anew.\n")
    assert repository.run("history", "plan.md", "--restore", "beef").status == 4
