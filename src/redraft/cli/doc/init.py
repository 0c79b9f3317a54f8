"""`init`, `diff` and `reset`: create a session document, show what is new in it, and reset its conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redraft.cli.command import Command, Invocation, turn_number
from redraft.cli.doc.context import add_file, find_project, open_for_reading, open_for_writing, read_config, say
from redraft.errors import Refused

if TYPE_CHECKING:
    from argparse import ArgumentParser

UNTITLED = "Untitled Session"


def init(call: Invocation) -> int:
    import os
    from uuid import uuid4

    from redraft.formats.frontmatter import set_field
    from redraft.history.turns import PERSON
    from redraft.sessions.document_store import create_document
    from redraft.sessions.project import Project
    from redraft.sessions.session_fields import SESSION

    arguments = call.arguments
    project = Project.of(arguments.file, call.folder)
    if os.path.lexists(project.file):
        raise Refused(f"{arguments.file} already exists.", code="already_exists", path=arguments.file)
    title = " ".join((arguments.title or UNTITLED).split())
    text = f"\n# Session: {title}\n\n## User\n\n"
    for key, value in ((SESSION, str(uuid4())), ("agent", read_config().agent(arguments.agent, None))):
        text = set_field(text, key, value)
    with open_for_writing(call, project, PERSON) as opened:
        create_document(opened.workspace, PERSON, project.path, text)
    say(call, f"Created {arguments.file}", file=arguments.file, content=text)
    return 0


def diff(call: Invocation) -> int:
    if call.arguments.from_turn is None and call.arguments.to_turn is None:
        found, since = _diff_since_last_run(call), "the last run"
    else:
        from redraft.cli.doc.log import diff_turns

        found, since = diff_turns(call), "then"
    if call.screen.json:
        call.screen.emit({"changed": bool(found), "diff": found})
    elif found:
        call.screen.content(found)
    else:
        call.screen.remark(f"Nothing changed since {since}.")
    return 0


def _diff_since_last_run(call: Invocation) -> str:
    from redraft.sessions.conversation import difference

    with open_for_reading(call, call.arguments.file) as context:
        return difference(context.agent_files.snapshot(context.project), context.store.read(context.project.path).text)


def reset(call: Invocation) -> int:
    from redraft.formats.frontmatter import remove_field
    from redraft.history.turns import PERSON
    from redraft.sessions.document_store import change
    from redraft.sessions.session_fields import RESUME

    with open_for_writing(call, find_project(call, call.arguments.file), PERSON) as opened:
        context = opened.context
        with context.lock():
            path = context.project.path
            done = change(context.store, path, f"Reset {path}", lambda text: remove_field(text, RESUME))
            deleted = context.agent_files.delete_snapshot(context.project)
    line = f"Reset {call.arguments.file}: the next run starts a new conversation."
    say(call, line, file=call.arguments.file, session_cleared=done.state == "applied", snapshot_deleted=deleted)
    return 0


def configure_diff(parser: ArgumentParser) -> None:
    add_file(parser)
    parser.add_argument(
        "--from", dest="from_turn", metavar="TURN", type=turn_number, help="start from what this turn wrote"
    )
    parser.add_argument(
        "--to",
        dest="to_turn",
        metavar="TURN",
        type=turn_number,
        help="end at what this turn wrote (default: the current text)",
    )


def configure_init(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="the document to create")
    parser.add_argument("title", metavar="TITLE", nargs="?", help=f"its title (default: {UNTITLED})")
    parser.add_argument("--agent", metavar="NAME", help="the agent that answers in it")


COMMANDS = {
    "doc init": Command(
        "doc init",
        "Create a session document",
        init,
        configure_init,
        ("doc init plan.md", "doc init plan.md 'The plan' --agent claude"),
        "Create a document with frontmatter and a `## User` block to write in. Refused if it exists.",
    ),
    "doc diff": Command(
        "doc diff",
        "Show what the agent has not seen yet",
        diff,
        configure_diff,
        ("doc diff plan.md", "doc diff plan.md --from 4 --to 9"),
        "The difference between the snapshot of the last run and the document, as a unified diff; with --from or\n"
        "--to, between two turns that `log` lists. Changes nothing.",
    ),
    "doc reset": Command(
        "doc reset",
        "Start a new conversation with the next run",
        reset,
        add_file,
        ("doc reset plan.md",),
        "Forget the agent's conversation (`resume`) and the snapshot. The document keeps its id and its text.",
    ),
}
