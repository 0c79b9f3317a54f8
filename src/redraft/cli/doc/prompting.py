"""`prompt`: the question that a session's pane asks just now, and an answer to it."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from redraft.cli.command import Call, Command, positive_number
from redraft.errors import Refused

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from redraft.sessions.questions import Question


def prompt(call: Call) -> int:
    from redraft.sessions.questions import NONE

    arguments = call.arguments
    if arguments.all:
        _print(_everywhere(call))
        return 0
    if arguments.file is None:
        raise Refused("Name a document, or ask with --all.")
    pane = _pane(call, arguments.file)
    found = _question(pane)
    if arguments.answer is not None:
        _answer(pane, found, arguments.answer)
    _print(NONE if found is None else found.as_json())
    return 0


def _pane(call: Call, file: str) -> str:
    from redraft.cli.doc.routing import registered_pane
    from redraft.sessions.panes import is_alive

    pane = registered_pane(call, file)
    if not is_alive(pane):
        raise Refused(f"The pane {pane} of {file} is gone.", code="not_found", pane=pane)
    return pane


def _everywhere(call: Call) -> list[dict[str, Any]]:
    import os

    from redraft.sessions.panes import is_alive
    from redraft.sessions.project import Project, Shelf
    from redraft.sessions.questions import NONE
    from redraft.sessions.registry import load

    project = Project.of(os.path.join(call.folder, "document"), call.folder)
    with Shelf.open(project.root) as shelf:
        entries = load(shelf)
    asked: list[dict[str, Any]] = []
    for session, entry in entries.items():
        if is_alive(entry.pane):
            found = _question(entry.pane)
            told = NONE if found is None else found.as_json()
            asked.append({"session_id": session, "file": entry.file, "pane": entry.pane, **told})
    return asked


def _question(pane: str) -> Question | None:
    from redraft.sessions.panes import shown_in
    from redraft.sessions.questions import find_question

    return find_question(shown_in(pane))


def _answer(pane: str, found: Question | None, number: int) -> None:
    from redraft.sessions.panes import press

    if found is None:
        raise Refused("The pane asks nothing just now.", code="conflict")
    if number > len(found.options):
        raise Refused(f"The question has {len(found.options)} options.")
    steps = number - 1 - found.marked
    press(pane, *(["Down"] * steps if steps >= 0 else ["Up"] * -steps), "Enter")


def _print(answer: Any) -> None:
    sys.stdout.write(json.dumps(answer, ensure_ascii=True) + "\n")


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", nargs="?", help="the session document")
    parser.add_argument("--answer", metavar="N", type=positive_number, help="choose option N and confirm it")
    parser.add_argument("--all", action="store_true", help="ask in every live session; the answer is an array")


COMMANDS = {
    "doc prompt": Command(
        "doc prompt",
        "Show the question that a session's pane asks",
        prompt,
        configure,
        ("doc prompt plan.md", "doc prompt plan.md --answer 1", "doc prompt --all"),
        "Look for a permission question in the document's tmux pane; the answer is always JSON.",
    ),
}
