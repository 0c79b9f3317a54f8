"""`commit --agent-only`: what agents wrote is committed, what the person wrote stays theirs, and nothing is guessed."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, field
from threading import Timer
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from redraft.errors import Refused
from redraft.runtime import open_workspace
from redraft.sessions.agent_part import AttributedChange, Commit, agents_part, agents_part_since, parts
from redraft.text.edits import Change as Typing

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.sessions.conftest import AgentDoc

START = ["first\n", "second\n", "third\n", "fourth\n"]


@dataclass(slots=True)
class Model:
    """The slow twin: every line is one of its kind, so who put it there and who took it away can simply be noted."""

    lines: list[str] = field(default_factory=lambda: list(START))
    part: set[str] = field(default_factory=lambda: set(START))
    steps: list[AttributedChange] = field(default_factory=list[AttributedChange])

    def change(self, who: str, start: int, end: int, new: list[str]) -> None:
        gone = self.lines[start:end]
        self.lines[start:end] = new
        if who == "agent":
            self.part = (self.part - set(gone)) | set(new)
        self.steps.append(AttributedChange("".join(self.lines), who, turn=len(self.steps)))  # type: ignore[arg-type]

    @property
    def text(self) -> str:
        return "".join(self.lines)


@st.composite
def models(draw: st.DrawFn) -> Model:
    model = Model()
    for number in range(draw(st.integers(0, 8))):
        who = draw(st.sampled_from(["agent", "person"]))
        start = draw(st.integers(0, len(model.lines)))
        end = min(len(model.lines), start + draw(st.integers(0, 2)))
        new = [f"{who} {number} {place}\n" for place in range(draw(st.integers(0, 2)))]
        mixes = who == "agent" and new and not set(model.lines[start:end]) <= model.part
        around_a_gap = who == "agent" and end - start > 1
        if not mixes and not around_a_gap and (new or end > start):
            model.change(who, start, end, new)
    return model


@given(models())
def test_the_part_has_every_line_of_the_agents_and_none_of_the_persons(model: Model):
    try:
        found = agents_part("".join(START), model.steps).splitlines(keepends=True)
    except Refused:  # the person had taken away a line next to the one that the agent then replaced
        return
    assert sorted(found) == sorted(model.part)
    both = set(found) & set(model.lines)
    assert [line for line in found if line in both] == [line for line in model.lines if line in both], "in their order"


@given(models(), st.sampled_from(["agent", "person"]))
def test_where_one_has_written_all_the_part_is_all_or_nothing(model: Model, who: str):
    steps = [step._replace(who=who) for step in model.steps]
    expected = "".join(START) if who == "person" else model.text
    assert agents_part("".join(START), steps) == expected


@given(models(), st.data())
def test_a_commit_of_a_part_is_gone_on_from(model: Model, data: st.DataObject):
    """However the parts are committed one after the other, the last one is as if it were the only one."""
    said = [AttributedChange("".join(START)), *model.steps]
    assume(len({change.text for change in said}) == len(said))
    try:
        after_each = list(parts("".join(START), model.steps))
    except Refused:
        return
    committed = after_each[data.draw(st.integers(0, len(model.steps)))]
    assert agents_part_since([Commit(committed, 0), Commit("".join(START), 0)], said) == after_each[-1]


OLD = AttributedChange("a\nold\n", "agent", turn=1, when=5.0)
NEW = AttributedChange("a\nold\nnew\n", "agent", turn=2, when=9.5)


@pytest.mark.parametrize(
    ("commit", "expected"),
    [
        (Commit("typed\na\nold\n", 7), "typed\na\nold\nnew\n"),
        (Commit("typed\na\nold\n", 9), "typed\na\nold\nnew\n"),
        (Commit("typed\na\nold\nnew\n", 9), "typed\na\nold\nnew\n"),
        (Commit("typed\na\n", 3), "typed\na\nold\nnew\n"),
        (Commit("typed\na\n", 7), None),
        (Commit("typed\na\nold\n", 20), None),
    ],
)
def test_a_commit_that_the_history_never_saw_stands_where_its_time_says(commit: Commit, expected: str | None):
    said = [AttributedChange("a\n"), OLD, AttributedChange("a\nold\n"), NEW, AttributedChange("a\nold\nnew\nmine\n")]
    assert agents_part_since([commit], said) == expected


def test_an_agent_who_rewrites_a_persons_line_cannot_be_parted_from_them():
    steps = [AttributedChange("a\nmine\n"), AttributedChange("a\nmine, corrected\n", "agent", turn=7)]
    with pytest.raises(Refused, match="Turn 7 mixed"):
        agents_part("a\n", steps)
    assert agents_part("a\n", [steps[0], AttributedChange("a\n", "agent", turn=7)]) == "a\n", (
        "taking it away mixes nothing"
    )


def test_a_person_may_correct_an_agents_line_and_the_agents_is_the_part():
    steps = [AttributedChange("a\nteh answer\n", "agent"), AttributedChange("a\nthe answer\n")]
    assert agents_part("a\n", steps) == "a\nteh answer\n"


def test_a_last_line_without_a_break_is_not_changed_by_a_line_below_it():
    asked = AttributedChange("a\nWhy?")
    assert agents_part("a", [asked, AttributedChange("a\nWhy?\nSo.", "agent")]) == "a\nSo."
    assert agents_part("a", [asked]) == "a"


def git(*words: str) -> str:
    return subprocess.run(["git", *words], check=True, capture_output=True, encoding="utf-8").stdout


DOC = "# Plan\n\n<!-- agent:exchange mode=append -->\nFirst ä.\n<!-- /agent:exchange -->\n"


@pytest.fixture
def repository(agent_doc: AgentDoc) -> AgentDoc:
    """A repository with a committed document, into which the person has typed a question."""
    git("init", "-q", "-b", "main")
    agent_doc.write("other.md", "Other.\n")
    agent_doc.write("plan.md", DOC)
    git("add", ".")
    git("commit", "-q", "-m", "Begin")
    agent_doc.write("plan.md", DOC.replace("First ä.\n", "First ä.\nMy question?\n"))
    return agent_doc


def test_only_the_agents_answer_is_committed_time_after_time(repository: AgentDoc):
    repository.write("other.md", "Staged.\n")
    git("add", "other.md")
    repository.ok("patch", "plan.md", "exchange", "An answer.")
    text = repository.read("plan.md")
    repository.ok("commit", "plan.md", "--agent-only")
    assert git("show", "HEAD:plan.md") == DOC.replace("First ä.\n", "First ä.\nAn answer.\n")
    assert git("show", "--format=", "--name-only", "HEAD") == "plan.md\n"
    assert git("diff", "--cached", "--name-only") == "other.md\n", "what else is staged stays staged"
    assert [line for line in git("diff", "plan.md").splitlines() if line[0] in "+-"][2:] == ["+My question?"]
    assert repository.read("plan.md") == text

    repository.write("plan.md", text.replace("# Plan", "# My plan"))
    repository.ok("patch", "plan.md", "exchange", "Another.")
    repository.ok("commit", "plan.md", "--agent-only")
    assert git("show", "HEAD:plan.md") == DOC.replace("First ä.\n", "First ä.\nAn answer.\nAnother.\n")
    assert "Nothing to commit" in repository.ok("commit", "plan.md", "--agent-only")
    repository.ok("commit", "plan.md")
    assert git("show", "HEAD:plan.md") == repository.read("plan.md")
    assert git("log", "--format=%s").count("agent-doc: 2") == 3


def test_a_document_that_was_begun_here_and_committed_by_hand(agent_doc: AgentDoc):
    git("init", "-q", "-b", "main")
    agent_doc.ok("init", "plan.md")
    agent_doc.write("plan.md", agent_doc.read("plan.md") + "Why?\n")
    git("add", "plan.md")
    git("commit", "-q", "-m", "Mine")
    committed = agent_doc.read("plan.md")
    agent_doc.write("plan.md", committed.replace("agent: claude\n", "agent: claude\nmodel: opus\n") + "And when?\n")
    agent_doc.ok("write", "plan.md", stdin="So.\n")
    agent_doc.write("plan.md", agent_doc.read("plan.md") + "Typing")
    agent_doc.ok("commit", "plan.md", "--agent-only")
    assert git("show", "HEAD:plan.md") == committed + "\n## Assistant\n\nSo.\n\n## User\n\n"


def test_an_answer_that_was_taken_back_is_not_committed(repository: AgentDoc):
    repository.ok("patch", "plan.md", "exchange", "An answer.")
    repository.ok("patch", "plan.md", "exchange", "A bad one.")
    repository.write("plan.md", repository.read("plan.md").replace("# Plan", "# My plan"))
    repository.ok("undo", "plan.md")
    repository.ok("commit", "plan.md", "--agent-only")
    assert git("show", "HEAD:plan.md") == DOC.replace("First ä.\n", "First ä.\nAn answer.\n")


def test_it_is_refused_with_the_reason_where_it_cannot_be_said(repository: AgentDoc):
    repository.ok("patch", "plan.md", "exchange", "An answer.")
    head = git("rev-parse", "HEAD")

    def why() -> str:
        done = repository.run("commit", "plan.md", "--agent-only")
        assert done.status == 1, done
        assert git("rev-parse", "HEAD") == head
        return done.err

    git("add", "plan.md")
    assert "is staged" in why()
    git("restore", "--staged", "plan.md")
    repository.write("mixed.md", "<!-- agent:status -->\nMine.\n<!-- /agent:status -->\n")
    assert "does not have" in repository.run("commit", "mixed.md", "--agent-only").err
    repository.write("plan.md", repository.read("plan.md").replace("mode=append", "mode=replace"))
    repository.ok("patch", "plan.md", "exchange", "Instead of it all.")
    assert "mixed the agent's words with yours" in why()


def theirs_meanwhile(repository: AgentDoc, monkeypatch: pytest.MonkeyPatch, *, after: bool) -> None:
    """Somebody else commits right before or right after the next commit of ours."""
    real: Callable[..., Any] = subprocess.run

    def run(command: list[str], **options: Any) -> Any:
        if "commit" not in command:
            return real(command, **options)
        monkeypatch.setattr(subprocess, "run", real)
        done = real(command, **options) if after else None
        repository.write("theirs.md", "Theirs.\n")
        git("add", "theirs.md")
        git("commit", "--quiet", "-m", "Theirs", "--", "theirs.md")
        return done or real(command, **options)

    monkeypatch.setattr(subprocess, "run", run)


def test_a_commit_that_comes_right_after_ours_stays(repository: AgentDoc, monkeypatch: pytest.MonkeyPatch):
    repository.ok("patch", "plan.md", "exchange", "An answer.")
    theirs_meanwhile(repository, monkeypatch, after=True)
    repository.ok("commit", "plan.md", "--agent-only")
    assert git("log", "--format=%s", "-1") == "Theirs\n"
    assert git("show", "HEAD:plan.md") == DOC.replace("First ä.\n", "First ä.\nAn answer.\n")
    assert git("diff", "--cached", "--name-only") == ""


def test_a_commit_that_comes_between_is_not_taken_back(repository: AgentDoc, monkeypatch: pytest.MonkeyPatch):
    repository.ok("patch", "plan.md", "exchange", "An answer.")
    theirs_meanwhile(repository, monkeypatch, after=False)
    repository.ok("commit", "plan.md", "--agent-only")
    assert git("log", "--format=%s").splitlines()[1] == "Theirs"
    assert git("show", "HEAD:theirs.md") == "Theirs.\n"
    assert git("show", "HEAD:plan.md") == DOC.replace("First ä.\n", "First ä.\nAn answer.\n")
    assert git("diff", "--cached", "--name-only") == ""


def test_another_program_that_holds_gits_lock_is_waited_for(repository: AgentDoc, monkeypatch: pytest.MonkeyPatch):
    repository.ok("patch", "plan.md", "exchange", "An answer.")
    head = git("rev-parse", "HEAD")
    lock = repository.folder / ".git" / "index.lock"
    lock.touch()
    with monkeypatch.context() as patching:
        patching.setattr("redraft.sessions.git_repository.PATIENCE", 0.2)
        assert "index.lock" in repository.run("commit", "plan.md", "--agent-only").err
    assert git("rev-parse", "HEAD") == head
    ending = Timer(0.5, lock.unlink)
    ending.start()
    repository.ok("commit", "plan.md", "--agent-only")
    ending.join()
    assert git("rev-parse", "HEAD~1").strip() == head.strip()
    assert git("diff", "--cached", "--name-only") == ""


def test_a_document_that_git_has_no_more_is_to_be_committed_whole(repository: AgentDoc):
    git("rm", "--quiet", "--cached", "plan.md")
    git("commit", "--quiet", "-m", "away")
    repository.ok("patch", "plan.md", "exchange", "An answer.")
    done = repository.run("commit", "plan.md", "--agent-only")
    assert (done.status, "no longer" in done.err) == (1, True), done


@pytest.mark.parametrize("typing", [False, True])
def test_a_proposal_is_the_agents_unless_unsaved_typing_was_accepted_with_it(repository: AgentDoc, typing: bool):
    git("commit", "-q", "-am", "Mine")
    committed = repository.read("plan.md")
    repository.write(".redraft/settings.toml", "mode = 'propose'\n")
    assert "waits" in repository.ok("patch", "plan.md", "exchange", "An answer.")
    with open_workspace(str(repository.folder)) as workspace:
        if typing:
            seen = str(workspace.read("plan.md").text)
            workspace.type("plan.md", Typing.between(seen, seen.replace("# Plan", "# My plan")))
        workspace.accept({"plan.md": None})
    done = repository.run("commit", "plan.md", "--agent-only")
    if typing:
        assert (done.status, "mixed the agent's words with yours" in done.err) == (1, True)
    else:
        assert git("show", "HEAD:plan.md") == committed.replace("My question?\n", "My question?\nAn answer.\n")


def test_hooks_run_and_a_refusal_leaves_everything_as_it_was(repository: AgentDoc):
    repository.ok("patch", "plan.md", "exchange", "An answer.")
    repository.write(".git/hooks/pre-commit", "#!/bin/sh\ngit diff --cached --name-only >&2\nexit 1\n")
    (repository.folder / ".git" / "hooks" / "pre-commit").chmod(0o755)
    before = git("status", "--porcelain")
    refused = repository.run("commit", "plan.md", "--agent-only")
    assert (refused.status, refused.err.splitlines()[-1].endswith("plan.md")) == (1, True)
    assert git("status", "--porcelain") == before
    assert not [entry for entry in (repository.folder / ".git").iterdir() if entry.name.startswith("agent-doc-")]


def test_line_ends_and_byte_order_mark_are_committed_as_git_has_them(repository: AgentDoc):
    git("config", "core.autocrlf", "true")
    marked = "\ufeff" + DOC
    repository.write("plan.md", marked.replace("\n", "\r\n"))
    git("commit", "-q", "-am", "Windows")
    repository.write("plan.md", marked.replace("# Plan", "# My plan").replace("\n", "\r\n"))
    repository.ok("patch", "plan.md", "exchange", "An answer.")
    repository.ok("patch", "plan.md", "exchange", "And more.")
    repository.ok("commit", "plan.md")
    repository.write("plan.md", repository.read("plan.md").replace("# My plan", "# Our plan"))
    repository.ok("patch", "plan.md", "exchange", "A last one.")
    repository.ok("commit", "plan.md", "--agent-only")
    expected = marked.replace("# Plan", "# My plan").replace(
        "First ä.\n", "First ä.\nAn answer.\nAnd more.\nA last one.\n"
    )
    assert subprocess.run(["git", "show", "HEAD:plan.md"], check=True, capture_output=True).stdout == expected.encode()
