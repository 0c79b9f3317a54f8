"""What a document's frontmatter says, as the program acts on it: where an answer goes, how it meets what was typed
meanwhile, who is asked, and what is never touched."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from tests.sessions.test_run import Claude, claude

if TYPE_CHECKING:
    from pathlib import Path

    from tests.sessions.conftest import AgentDoc, Tmux

__all__ = ["claude"]  # the fixture
BODY = "\n<!-- agent:exchange mode=append -->\nThe lamp is dark.\n<!-- /agent:exchange -->\n"


def answer_to(agent_doc: AgentDoc, frontmatter: str) -> tuple[str, str]:
    """How a document with this frontmatter takes an answer, told by what stands in it afterwards: its format by where
    plain words go, its way of writing by what becomes of a sentence that person and agent changed both."""
    agent_doc.write("plain.md", frontmatter + BODY)
    agent_doc.ok("write", "plain.md", stdin="Plain words.\n")
    text = agent_doc.read("plain.md")
    assert text.startswith(frontmatter), "no byte of the frontmatter changes"
    is_inside = text.index("Plain words.") < text.index("<!-- /agent:exchange -->")
    assert is_inside or "## Assistant\n\nPlain words." in text
    agent_doc.write("before.md", frontmatter + BODY.replace(" mode=append", ""))
    agent_doc.write("both.md", agent_doc.read("before.md").replace("dark", "lit"))
    patch = "<!-- patch:exchange -->\nThe lamp is broken.\n<!-- /patch:exchange -->"
    agent_doc.run("write", "both.md", "--baseline-file", "before.md", stdin=patch)
    text = agent_doc.read("both.md")
    assert "lit" in text
    assert "broken" in text
    return "template" if is_inside else "inline", "merge" if "<<<<<<<" in text else "crdt"


@pytest.mark.covers(
    "AD-fm-format", "AD-fm-format-append", "AD-fm-write", "AD-fm-mode-append", "AD-fm-mode-template",
    "AD-fm-mode-stream", "AD-fm-mode-legacy", "AD-fm-precedence", "AD-fm-optional", "AD-fm-absent", "AD-fm-delimiters",
)  # fmt: skip
@pytest.mark.parametrize(
    ("frontmatter", "taken"),
    [
        ("", ("template", "crdt")),
        ("---\n---\n", ("template", "crdt")),
        ("---\nagent_doc_format: inline\n---\n", ("inline", "crdt")),
        ("---\nagent_doc_format: append\nagent_doc_write: merge\n---\n", ("inline", "merge")),
        ("---\nagent_doc_mode: append\n---\n", ("inline", "crdt")),
        ("---\nagent_doc_mode: template\n---\n", ("template", "crdt")),
        ("---\nagent_doc_mode: stream\n---\n", ("template", "crdt")),
        ("---\nmode: append\n---\n", ("inline", "crdt")),
        ("---\nresponse_mode: append\n---\n", ("inline", "crdt")),
        ("---\nagent_doc_mode: append\nagent_doc_format: template\n---\n", ("template", "crdt")),
        ("---\nagent_doc_mode: stream\nagent_doc_write: merge\n---\n", ("template", "merge")),
        # Frontmatter begins with the file, and ends with the next line that is three dashes; else it is body.
        ("\n---\nagent_doc_format: inline\n---\n", ("template", "crdt")),
        ("agent_doc_format: inline\n", ("template", "crdt")),
        ("---\n---\nagent_doc_format: inline\n---\n", ("template", "crdt")),
        ("---\n#---\nagent_doc_format: inline\n---\nagent_doc_write: merge\n", ("inline", "crdt")),
    ],
)
def test_format_and_way_of_writing_by_all_their_names(agent_doc: AgentDoc, frontmatter: str, taken: tuple[str, str]):
    assert answer_to(agent_doc, frontmatter) == taken


@pytest.mark.covers("AD-fm-agent", "AD-fm-model", "AD-fm-branch")
def test_agent_and_model_are_used_and_the_branch_is_left(agent_doc: AgentDoc, claude: Claude, tmp_path: Path):
    config = tmp_path / "config" / "agent-doc" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('default_agent = "other"\n[agents.other]\ncommand = "scribe"\nargs = []\n', encoding="utf-8")
    head = "agent: claude\nmodel: opus\nbranch: feature/ä  # mine\n"
    agent_doc.write("plan.md", f"---\n{head}---\n\n## User\n\nHello?\n")
    claude.says("Hello.", session="s-1")
    agent_doc.ok("run", "plan.md")
    [call] = claude.calls
    assert "--model=opus" in call["words"], "claude was asked, and not the configured one"
    assert agent_doc.read("plan.md").startswith(f"---\n{head}resume: s-1\n---\n")


@pytest.mark.covers("AD-fm-session-legacy", "AD-claim-uuid")
@pytest.mark.slow
def test_the_old_name_of_the_session_is_read_and_never_written(agent_doc: AgentDoc, tmux: Tmux):
    agent_doc.write("old.md", "---\nsession: d-old\n---\n\n## User\n\nHello?\n")
    agent_doc.write("new.md", "---\ntitle: x\n---\n\n## User\n\nHello?\n")
    pane = tmux.session("claude", "sleep", "60")
    for name in ("old.md", "new.md"):
        agent_doc.ok("claim", name, "--pane", pane)
    registered = json.loads(agent_doc.read(".agent-doc/sessions.json"))
    [new] = re.findall(r"^agent_doc_session: (.+)$", agent_doc.read("new.md"), re.MULTILINE)
    assert {name: entry["file"] for name, entry in registered.items()} == {"d-old": "old.md", new: "new.md"}
    assert agent_doc.read("old.md").startswith("---\nsession: d-old\n---\n")
    assert not re.search(r"^session:", agent_doc.read("new.md"), re.MULTILINE)
