"""`audit-docs`: trees that lie, too many lines, stale files, essays; and where the project begins."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from redraft.sessions.docs_audit import BUDGET

if TYPE_CHECKING:
    from tests.sessions.conftest import AgentDoc

TREE = """\
# Project

Run `make test`.

```
project/
├── src/
│   ├── main.py      # begins here
│   └── gone.py
├── docs/ — pages
│   └── …
└── README.md
```
"""


def found(agent_doc: AgentDoc) -> list[str]:
    done = agent_doc.run("audit-docs", "--root", ".")
    assert done.status == (0 if "No issues found." in done.out else 1)
    return [line for line in done.out.splitlines() if ".md" in line]


@pytest.mark.covers("AD-audit-files", "AD-audit-tree", "AD-audit-exit")
@pytest.mark.parametrize("name", ["CLAUDE.md", "AGENTS.md", "README.md", "skills/x/SKILL.md"])
def test_a_path_that_a_tree_names_and_nobody_has_is_told_with_its_line(agent_doc: AgentDoc, name: str):
    for path in ("src/main.py", "docs/a.md", "README.md"):
        agent_doc.write(path, "x\n")
    agent_doc.write(name, TREE)
    for path in agent_doc.folder.rglob("*.py"):
        os.utime(path, (1, 1))
    os.utime(agent_doc.folder / "README.md", (1, 1))
    assert found(agent_doc) == [f"{name}:9: src/gone.py is in the tree but not in the project"]
    agent_doc.write("src/gone.py", "x\n")
    os.utime(agent_doc.folder / "src/gone.py", (0, 0))
    assert found(agent_doc) == []


@pytest.mark.covers("AD-audit-budget")
def test_more_lines_than_the_budget_are_told(agent_doc: AgentDoc):
    agent_doc.write("AGENTS.md", "- do it\n" * BUDGET)
    assert found(agent_doc) == []
    agent_doc.write("README.md", "One line more.\n")
    assert "1001 lines" in found(agent_doc)[0]


@pytest.mark.covers("AD-audit-stale")
def test_a_file_that_is_older_than_what_its_tree_names_is_stale(agent_doc: AgentDoc):
    agent_doc.write("AGENTS.md", "Do `x`.\n```\n.\n├── a.py\n└── b.py\n```\n")
    for name in ("a.py", "b.py"):
        agent_doc.write(name, "x\n")
    os.utime("AGENTS.md", (100, 100))
    os.utime("b.py", (50, 50))
    assert found(agent_doc) == ["AGENTS.md: stale: a.py changed after it"]
    os.utime("a.py", (50, 50))
    assert found(agent_doc) == []


@pytest.mark.covers("AD-audit-actionable")
def test_a_long_section_with_nothing_to_act_on_is_told(agent_doc: AgentDoc):
    essay = "# Thoughts\n" + "Once upon a time there was a thought.\n" * 50
    agent_doc.write("CLAUDE.md", essay)
    assert found(agent_doc) == ["CLAUDE.md:1: 'Thoughts' has 50 lines but nothing to act on"]
    agent_doc.write("CLAUDE.md", essay + "- Run the tests.\n")
    assert found(agent_doc) == []


@pytest.mark.covers("AD-audit-root")
def test_the_root_is_given_or_found_by_markers_then_git_then_here(agent_doc: AgentDoc):
    """Which root it is, told by the one README that is looked at: each has a path in its tree that nobody has."""
    deep = agent_doc.folder / "a" / "b"
    for place in ("", "a", "a/b"):
        agent_doc.write(f"{place}/README.md".lstrip("/"), TREE.replace("gone.py", f"of-{place[-1:] or 'top'}.py"))

    def root(*options: str) -> str:
        told = agent_doc.run("audit-docs", *options).out
        return next(name for name in ("top", "a", "b") if f"of-{name}.py" in told)

    agent_doc.patching.chdir(deep)
    assert root() == "b", "the current folder"
    (agent_doc.folder / ".git").mkdir()
    assert root() == "top"
    for marker in ("Cargo.toml", "package.json", "pyproject.toml"):
        agent_doc.write(f"a/{marker}", "")
        assert root() == "a", marker
        os.unlink(agent_doc.folder / "a" / marker)
    agent_doc.write("a/package.json", "")
    assert root("--root", str(agent_doc.folder)) == "top"
    assert agent_doc.run("audit-docs", "--root", "nowhere").status == 4


@pytest.mark.covers("AD-audit-tree")
@pytest.mark.parametrize("head", ["src/", "src", "src/app/", "./", ".", "thing/", "thing"])
def test_a_tree_may_begin_with_the_folder_that_it_is_of(agent_doc: AgentDoc, head: str):
    inside = head.rstrip("/") if head.startswith("src") else "."
    for name in ("a.py", "deep/b.py"):
        agent_doc.write(f"{inside}/{name}", "x\n")
    tree = f"```\n{head}\n├── a.py\n├── gone.py\n└── deep/\n    └── b.py\n```\n"
    agent_doc.write("AGENTS.md", f"# Tree\n\n{tree}\n```text\n{head}  # again\n├── a.py\n```\n")
    told = agent_doc.run("audit-docs", "--root", ".")
    gone = "gone.py" if inside == "." else f"{inside}/gone.py"
    issues = [line for line in told.out.splitlines() if line.startswith("AGENTS.md")]
    assert (told.status, issues) == (1, [f"AGENTS.md:6: {gone} is in the tree but not in the project"])
