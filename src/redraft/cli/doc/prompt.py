"""`prompt`: the question that a session's pane asks just now, and an answer to it."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from redraft.cli.command import Command, Invocation, positive_number
from redraft.errors import Refused

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from redraft.sessions.tmux.panes import PaneQuestion


def prompt(call: Invocation) -> int:
    from redraft.sessions.tmux.panes import NO_QUESTION

    arguments = call.arguments
    if arguments.all:
        _print(_all_questions(call))
        return 0
    if arguments.file is None:
        raise Refused("Name a document, or use --all.")
    pane = _live_pane(call, arguments.file)
    found = _pane_question(pane)
    if arguments.answer is not None:
        _answer(pane, found, arguments.answer)
    _print(NO_QUESTION if found is None else found.as_json())
    return 0


def _live_pane(call: Invocation, file: str) -> str:
    from redraft.cli.doc.route import find_registered_pane
    from redraft.sessions.tmux.panes import is_alive

    pane = find_registered_pane(call, file)
    if not is_alive(pane):
        raise Refused(f"The pane {pane} of {file} is gone.", code="not_found", pane=pane)
    return pane


def _all_questions(call: Invocation) -> list[dict[str, Any]]:
    import os

    from redraft.sessions.project import AgentDocFiles, Project
    from redraft.sessions.tmux.panes import NO_QUESTION, is_alive
    from redraft.sessions.tmux.registry import load

    project = Project.of(os.path.join(call.folder, "document"), call.folder)
    with AgentDocFiles.open(project.root) as agent_files:
        entries = load(agent_files)
    asked: list[dict[str, Any]] = []
    for session, entry in entries.items():
        if is_alive(entry.pane):
            found = _pane_question(entry.pane)
            told = NO_QUESTION if found is None else found.as_json()
            asked.append({"session_id": session, "file": entry.file, "pane": entry.pane, **told})
    return asked


def _pane_question(pane: str) -> PaneQuestion | None:
    from redraft.sessions.tmux.panes import capture, find_question

    return find_question(capture(pane))


def _answer(pane: str, found: PaneQuestion | None, number: int) -> None:
    from redraft.sessions.tmux.panes import press

    if found is None:
        raise Refused("The pane is not asking anything right now.", code="conflict")
    if number > len(found.options):
        raise Refused(f"The question has {len(found.options)} options.")
    steps = number - 1 - found.marked
    press(pane, *(["Down"] * steps if steps >= 0 else ["Up"] * -steps), "Enter")


def _print(answer: Any) -> None:
    sys.stdout.write(json.dumps(answer, ensure_ascii=True) + "\n")


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", nargs="?", help="the session document")
    parser.add_argument("--answer", metavar="N", type=positive_number, help="choose and confirm option N")
    parser.add_argument("--all", action="store_true", help="check every live session; prints an array")


COMMANDS = {
    "doc prompt": Command(
        "doc prompt",
        "Show the question that a session's pane is asking",
        prompt,
        configure,
        ("doc prompt plan.md", "doc prompt plan.md --answer 1", "doc prompt --all"),
        "Look for a permission question in the document's tmux pane; prints JSON.",
    ),
}
