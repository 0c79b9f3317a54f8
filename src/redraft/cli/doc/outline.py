"""`outline` and `audit-docs`: what a document consists of, and whether the files that instruct agents are true."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from redraft.cli.command import Command, Invocation, pluralize
from redraft.cli.doc.context import add_file, find_project
from redraft.cli.screen import GREEN, RED, StyledText
from redraft.errors import Refused

if TYPE_CHECKING:
    from argparse import ArgumentParser

FOUND = 1


def outline(call: Invocation) -> int:
    from redraft.cli.doc.outline_table import format_outline
    from redraft.runtime import read_input

    project = find_project(call, call.arguments.file)
    call.screen.content(format_outline(read_input(project.file).text, as_json=call.arguments.json))
    return 0


def audit_docs(call: Invocation) -> int:
    from redraft.sessions.docs_audit import BUDGET, audit, project_root

    root = call.arguments.root or project_root(call.folder)
    if not os.path.isdir(root):
        raise Refused(f"There is no folder {root}.", code="folder_not_found", folder=root)
    found = audit(root)
    if call.screen.json:
        issues = [{"file": issue.file, "line": issue.line, "issue": issue.what} for issue in found.issues]
        call.screen.emit({"root": found.root, "files": list(found.files), "lines": found.lines, "issues": issues})
        return FOUND if found.issues else 0
    for issue in found.issues:
        place = f"{issue.file}:{issue.line}" if issue.line else issue.file
        call.screen.line(StyledText(place, RED), f": {issue.what}")
    call.screen.line(f"{pluralize(len(found.files), 'instruction file')}, {found.lines} lines (budget: {BUDGET})")
    if not found.issues:
        call.screen.line(StyledText("No issues found.", GREEN))
    return FOUND if found.issues else 0


def configure_audit(parser: ArgumentParser) -> None:
    parser.add_argument("--root", metavar="DIR", help="the project's folder (default: found by its markers)")


COMMANDS = {
    "doc outline": Command(
        "doc outline",
        "Show a document's sections with their size",
        outline,
        add_file,
        ("doc outline plan.md", "doc outline plan.md --json"),
        "Headings with the lines and approximate tokens of each section. With --json, an array.",
    ),
    "doc audit-docs": Command(
        "doc audit-docs",
        "Check the files that instruct agents",
        audit_docs,
        configure_audit,
        ("doc audit-docs", "doc audit-docs --root ."),
        "Check CLAUDE.md, AGENTS.md, README.md and SKILL.md: paths in trees, length, age, and whether they say\n"
        "anything to act on. Exit status 1 if there are findings.",
    ),
}
