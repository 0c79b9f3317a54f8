"""`run`: send what is new in a document to its agent, and write the answer into it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from redraft.cli.command import Call, Command
from redraft.cli.doc.desk import add_file, config, looking, project_of, say, working

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from redraft.sessions.conversing import Prompt
    from redraft.sessions.repository import Repository
    from redraft.sessions.writing import Desk


def run(call: Call) -> int:
    from redraft.sessions.conversing import prompt_for

    arguments = call.arguments
    with looking(call, arguments.file) as desk:
        prompt = prompt_for(desk)
    if prompt is None:
        say(call, f"Nothing changed in {arguments.file} since the last run.", state="unchanged")
        return 0
    if arguments.dry_run:
        if call.screen.json:
            call.screen.emit({"prompt": prompt.text})
        else:
            call.screen.content(prompt.text)
        return 0
    return _answered(call, prompt)


def _answered(call: Call, seen: Prompt) -> int:
    from redraft.sessions.backends import backend
    from redraft.sessions.conversing import converse, prompt_for
    from redraft.sessions.doors import agent_author
    from redraft.sessions.fields import session_fields
    from redraft.sessions.repository import Repository

    arguments = call.arguments
    project = project_of(call, arguments.file)
    settings = config()
    name = settings.agent(arguments.agent, session_fields(seen.base).agent)
    agent = backend(name, settings, project.root, os.environ)
    git = None if arguments.no_git else Repository.of(project.file)
    if arguments.branch:
        branch = Repository.needed(project.file).branch()
        call.screen.remark(f"On the branch {branch}.")
    with working(call, project, agent_author(name)) as opened:
        prompt = prompt_for(opened.desk) or seen
        written = converse(opened.desk, prompt, agent, model=arguments.model)
        for remark in written.remarks:
            call.screen.remark(f"note: {remark}")
        if git is not None and written.changed.state == "applied":
            _commit(call, git, opened.desk)
    done = {"state": written.changed.state, "turn": written.changed.turn, "conflicts": written.conflicts}
    say(call, f"{name} answered in {arguments.file}", agent=name, **done)
    return 0


def _commit(call: Call, git: Repository, desk: Desk) -> None:
    """Commit the document; one that git is not to have is told and left, for the answer is in it all the same."""
    from redraft.errors import RedraftError

    try:
        git.commit(desk.stamp)
    except RedraftError as error:
        call.screen.remark(f"note: {error.message}")


def configure(parser: ArgumentParser) -> None:
    add_file(parser)
    parser.add_argument("-b", dest="branch", action="store_true", help="make a branch for the document first")
    parser.add_argument("--agent", metavar="NAME", help="who answers (default: as the document or your config says)")
    parser.add_argument("--model", metavar="MODEL", help="the model, handed to the agent")
    parser.add_argument("--dry-run", action="store_true", help="show the prompt; send nothing and write nothing")
    parser.add_argument("--no-git", action="store_true", help="commit nothing")


COMMANDS = {
    "doc run": Command(
        "doc run",
        "Let the agent answer in a document",
        run,
        configure,
        ("doc run plan.md", "doc run plan.md --agent claude --model opus", "doc run plan.md --dry-run"),
        "Send what changed since the last run, write the answer into the document, and commit it. What you type\n"
        "meanwhile is kept, and is news to the agent at the next run.",
    ),
}
