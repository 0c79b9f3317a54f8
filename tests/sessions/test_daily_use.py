"""What happens to documents in daily use: nested components, links, slow editors, second questions, messages."""

from __future__ import annotations

import os
import subprocess
import threading
from typing import TYPE_CHECKING

import pytest

from tests.sessions.test_run import DOC, Claude, claude

if TYPE_CHECKING:
    from pathlib import Path

    from tests.sessions.conftest import AgentDoc

__all__ = ["claude"]  # the fixture

EXCHANGE = "<!-- agent:exchange mode=append -->\nWhat is ä?\n<!-- /agent:exchange -->\n"
NESTED = (
    "<!-- agent:out -->\nbefore\n  <!-- agent:in -->\n  kept\n  <!-- /agent:in -->\nafter\n"
    "<!-- agent:deep -->\n<!-- agent:deeper -->\ntoo\n<!-- /agent:deeper -->\n<!-- /agent:deep -->\n"
    "<!-- /agent:out -->\n"
)
KEPT = (
    "  <!-- agent:in -->\n  kept\n  <!-- /agent:in -->\n"
    "<!-- agent:deep -->\n<!-- agent:deeper -->\ntoo\n<!-- /agent:deeper -->\n<!-- /agent:deep -->\n"
)


@pytest.mark.covers("AD-patch-nested")
def test_what_fills_an_outer_component_leaves_the_nested_ones(agent_doc: AgentDoc):
    agent_doc.write("plan.md", NESTED)
    agent_doc.ok("patch", "plan.md", "out", "new")
    assert agent_doc.read("plan.md") == f"<!-- agent:out -->\nnew\n{KEPT}<!-- /agent:out -->\n"
    both = "<!-- patch:out -->\nnewer\n<!-- /patch:out -->\n<!-- patch:in -->\n  filled\n<!-- /patch:in -->\n"
    agent_doc.ok("write", "plan.md", stdin=both)
    filled = KEPT.replace("  kept", "  filled")
    assert agent_doc.read("plan.md") == f"<!-- agent:out -->\nnewer\n{filled}<!-- /agent:out -->\n"


@pytest.mark.covers("AD-patch-nested")
def test_a_nested_component_outlives_the_entries_around_it_and_a_line_of_its_own(agent_doc: AgentDoc):
    log = "<!-- agent:log mode=append max_entries=2 -->\n"
    nested = "<!-- agent:pin -->\npinned\n<!-- /agent:pin -->\n"
    agent_doc.write("plan.md", f"{log}one\n{nested}two\nthree\n<!-- /agent:log -->\n")
    agent_doc.ok("patch", "plan.md", "log", "four")
    assert agent_doc.read("plan.md") == f"{log}{nested}three\nfour\n<!-- /agent:log -->\n"
    line = "In a line: <!-- agent:a -->x <!-- agent:b -->y<!-- /agent:b --><!-- /agent:a -->.\n"
    agent_doc.write("line.md", line)
    agent_doc.ok("patch", "line.md", "a", "new")
    assert agent_doc.read("line.md") == line.replace("-->x ", "-->new ")


@pytest.mark.covers("AD-link-outside")
def test_a_link_out_of_the_project_is_refused_and_one_within_is_followed(agent_doc: AgentDoc, tmp_path: Path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "theirs.md").write_text(EXCHANGE, encoding="utf-8")
    agent_doc.write("plan.md", EXCHANGE)
    (agent_doc.folder / ".agent-doc").mkdir()
    for name, target in (("out.md", outside / "theirs.md"), ("folder", outside), ("in.md", "plan.md")):
        (agent_doc.folder / name).symlink_to(target)
    for name in ("out.md", "folder/theirs.md"):
        for words in (["write"], ["patch", "exchange", "x"], ["run"], ["commit"], ["claim", "--pane=%1"], ["reset"]):
            refused = agent_doc.run(words[0], name, *words[1:], stdin="An answer.\n")
            assert refused.status == 3, (name, words, refused)
            assert f"{name} is a link that leads out of the project, to {outside / 'theirs.md'}." in refused.err
    assert sorted(os.listdir(outside)) == ["theirs.md"]
    assert (outside / "theirs.md").read_text(encoding="utf-8") == EXCHANGE
    agent_doc.ok("patch", "in.md", "exchange", "An answer.")
    assert "An answer." in agent_doc.read("plan.md")
    agent_doc.ok("patch", str(outside / "theirs.md"), "exchange", "An answer.")
    assert "An answer." in (outside / "theirs.md").read_text(encoding="utf-8"), "by its own name it may be written"


@pytest.mark.covers("AD-half-saved")
@pytest.mark.parametrize("command", ["run", "write", "commit", "diff"])
def test_a_document_that_an_editor_is_saving_is_waited_for(agent_doc: AgentDoc, claude: Claude, command: str):
    """The editor takes a second to save: it empties the file, writes a half, and then the rest."""
    subprocess.run(["git", "init", "-q"], check=True)
    agent_doc.write("plan.md", EXCHANGE)
    agent_doc.ok("commit", "plan.md")
    agent_doc.write("base.md", EXCHANGE)
    claude.says("<!-- patch:exchange -->\nA letter.\n<!-- /patch:exchange -->")
    whole = EXCHANGE.replace("What is ä?\n", "What is ä?\nAnd what is ö?\n")
    half = whole[: whole.index("And")].encode()
    saving = (agent_doc.folder / "plan.md").open("wb", buffering=0)
    saving.write(half)

    def finish() -> None:
        saving.write(whole.encode()[len(half) :])
        saving.close()

    editor = threading.Timer(1.0, finish)
    editor.start()
    words = ["--baseline-file", "base.md"] if command == "write" else []
    answer = "<!-- patch:exchange -->\nA letter.\n<!-- /patch:exchange -->\n"
    done = agent_doc.run(command, "plan.md", *words, stdin=answer)
    editor.join()
    assert done.status == 0, done
    if command in ("run", "write"):
        assert "A letter." in agent_doc.read("plan.md")
    lines = whole.splitlines()
    assert [line for line in agent_doc.read("plan.md").splitlines() if line in lines] == lines
    if command == "run":
        assert "And what is ö?" in claude.calls[0]["prompt"]
    if command == "diff":
        assert "+And what is ö?" in done.out
    if command == "commit":
        shown = subprocess.run(["git", "show", "HEAD:plan.md"], check=True, capture_output=True).stdout.decode()
        assert shown == whole


@pytest.mark.covers("AD-undo-second-question")
@pytest.mark.parametrize("gap", ["", "\n", "\n\n\n"])
@pytest.mark.parametrize("form", ["inline", "template"])
def test_an_answer_is_undone_though_a_second_question_stands_below_it(
    agent_doc: AgentDoc, claude: Claude, form: str, gap: str
):
    agent_doc.write("plan.md", DOC if form == "inline" else EXCHANGE)
    answer = "A letter.\n\nIt has two dots."
    claude.says(answer if form == "inline" else f"<!-- patch:exchange -->\n{answer}\n<!-- /patch:exchange -->")
    agent_doc.ok("run", "plan.md")
    text = agent_doc.read("plan.md")
    asked = f"{gap}And ö?\n"
    end = "<!-- /agent:exchange -->" if form == "template" else ""
    at = text.index(end) if end else len(text)
    agent_doc.write("plan.md", text[:at] + asked + text[at:])
    agent_doc.ok("undo", "plan.md")
    now = agent_doc.read("plan.md")
    assert "letter" not in now
    assert "two dots" not in now
    assert now.index("What is ä?\n") < now.index("And ö?\n")
    assert "+And ö?" in agent_doc.ok("diff", "plan.md"), "the second question is still to be asked"


@pytest.mark.covers("AD-message-paths")
def test_messages_name_paths_from_where_the_person_stands_on_one_line(
    agent_doc: AgentDoc, claude: Claude, tmp_path: Path
):
    subprocess.run(["git", "init", "-q"], check=True)
    agent_doc.write(".git/hooks/pre-commit", "#!/bin/sh\nprintf 'not today\\nnor tomorrow\\n' >&2\nexit 1\n")
    (agent_doc.folder / ".git" / "hooks" / "pre-commit").chmod(0o755)
    agent_doc.write(".gitignore", "hidden.md\n")
    agent_doc.write(".agent-doc/components.toml", "")
    agent_doc.write("sub/plan.md", EXCHANGE)
    agent_doc.write("sub/hidden.md", EXCHANGE)
    agent_doc.patching.chdir(agent_doc.folder / "sub")
    claude.says("<!-- patch:exchange -->\nA letter.\n<!-- /patch:exchange -->")
    refused = agent_doc.run("run", "plan.md")
    assert refused.status == 1
    assert "not today nor tomorrow" in refused.err
    assert "\\n" not in refused.err
    assert "hidden.md is ignored by git" in agent_doc.run("commit", "hidden.md").err
    assert "sub/hidden.md" not in agent_doc.run("commit", "hidden.md").err
    agent_doc.write(".agent-doc/components.toml", "[exchange]\nmode = 1\n")
    assert "../.agent-doc/components.toml: exchange.mode" in agent_doc.run("patch", "plan.md", "exchange", "x").err
    agent_doc.write(".agent-doc/components.toml", "")
    torn = agent_doc.run("write", "plan.md", stdin="<!-- patch:exchange -->\ncut off\n")
    kept = torn.err.rpartition("The answer is kept in ")[2].strip().removesuffix(".")
    assert kept.startswith("../.agent-doc/answers/")
    with open(kept, encoding="utf-8") as file:
        assert file.read() == "<!-- patch:exchange -->\ncut off\n"
    assert kept in agent_doc.run("doctor").out
    agent_doc.write(".agent-doc/sessions.json", "{")
    assert "../.agent-doc/sessions.json cannot be read" in agent_doc.run("focus", "plan.md").err
    left = agent_doc.ok("write", "plan.md", "--ipc", stdin="An answer.\n").rpartition(" in ")[2].strip()
    assert os.path.exists(left)
