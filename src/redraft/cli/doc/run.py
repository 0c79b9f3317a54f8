"""`run`: send what is new in a document to its agent, and write the answer into it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from redraft.cli.command import Command, Invocation
from redraft.cli.doc.context import add_file, find_project, open_for_reading, open_for_writing, read_config, say

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from redraft.sessions.answers.writer import SessionContext
    from redraft.sessions.conversation import ConversationPrompt
    from redraft.sessions.git_repository import Repository


def run(call: Invocation) -> int:
    from redraft.sessions.conversation import build_prompt

    arguments = call.arguments
    with open_for_reading(call, arguments.file) as context:
        prompt = build_prompt(context)
    if prompt is None:
        say(call, f"Nothing changed in {arguments.file} since the last run.", state="unchanged")
        return 0
    if arguments.dry_run:
        if call.screen.json:
            call.screen.emit({"prompt": prompt.text})
        else:
            call.screen.content(prompt.text)
        return 0
    return _ask_agent(call, prompt)


def _ask_agent(call: Invocation, seen: ConversationPrompt) -> int:
    from redraft.sessions.backends import find_backend
    from redraft.sessions.conversation import build_prompt, converse
    from redraft.sessions.document_store import agent_author
    from redraft.sessions.git_repository import Repository
    from redraft.sessions.session_fields import session_fields

    arguments = call.arguments
    project = find_project(call, arguments.file)
    settings = read_config()
    name = settings.agent(arguments.agent, session_fields(seen.base).agent)
    agent = find_backend(name, settings, project.root, os.environ)
    git = None if arguments.no_git else Repository.of(project.file)
    if git is not None:
        git.check_idle()
    if arguments.branch:
        branch = Repository.require(project.file).switch_branch()
        call.screen.remark(f"On the branch {branch}.")
    with open_for_writing(call, project, agent_author(name)) as opened:
        prompt = build_prompt(opened.context) or seen
        written = converse(opened.context, prompt, agent, model=arguments.model)
        for remark in written.remarks:
            call.screen.remark(f"note: {remark}")
        if git is not None and written.changed.state == "applied":
            _commit(call, git, opened.context)
    done = {"state": written.changed.state, "turn": written.changed.turn, "conflicts": written.conflicts}
    say(call, f"{name} answered in {arguments.file}", agent=name, **done)
    return 0


def _commit(call: Invocation, git: Repository, context: SessionContext) -> None:
    """Commit the document. What must not be committed is named; if git refuses, the command fails, with the answer in
    the document."""
    from redraft.errors import Forbidden, RedraftError

    file = call.arguments.file
    try:
        git.commit(context.stamp)
    except Forbidden as error:
        call.screen.remark(f"note: {error.message}")
    except RedraftError as error:
        message = f"The answer is in {file}, but was not committed. {error.message} Then: agent-doc commit {file}"
        raise RedraftError(message, code="conflict", path=file) from error


def configure(parser: ArgumentParser) -> None:
    add_file(parser)
    parser.add_argument("-b", dest="branch", action="store_true", help="create a branch for the document first")
    parser.add_argument("--agent", metavar="NAME", help="who answers (default: from the document or your config)")
    parser.add_argument("--model", metavar="MODEL", help="the model, passed to the agent")
    parser.add_argument("--dry-run", action="store_true", help="show the prompt; send and write nothing")
    parser.add_argument("--no-git", action="store_true", help="do not commit")


COMMANDS = {
    "doc run": Command(
        "doc run",
        "Let the agent answer in a document",
        run,
        configure,
        ("doc run plan.md", "doc run plan.md --agent claude --model opus", "doc run plan.md --dry-run"),
        "Send what changed since the last run, write the answer into the document, and commit it. What you type in\n"
        "the meantime is kept and sent to the agent with the next run.",
    ),
}
