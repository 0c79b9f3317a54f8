"""`run`: send what is new in a document to its agent, and write the answer into it."""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from redraft.cli.command import Command, Invocation, add_yes
from redraft.cli.doc.context import add_file, find_project, open_for_reading, open_for_writing, read_config, say
from redraft.errors import CODES, ConfirmationRequired, Forbidden, RedraftError

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Generator

    from redraft.agent.agent import Agent
    from redraft.agent.store.jobs import Job
    from redraft.sessions.agent_config import AgentDocConfig
    from redraft.sessions.answers.writer import SessionContext
    from redraft.sessions.backends import BackendReply
    from redraft.sessions.conversation import ConversationPrompt
    from redraft.sessions.git_repository import Repository
    from redraft.workspace.workspace import Workspace


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
    # An agent that is not set up is refused before anything is done.
    hosted = list_hosted(settings)
    program = None if name in hosted else find_backend(name, settings, project.root, os.environ, others=hosted)
    git = None if arguments.no_git else Repository.of(project.file)
    if git is not None:
        git.check_idle()
    if arguments.branch:
        branch = Repository.require(project.file).switch_branch()
        call.screen.remark(f"On the branch {branch}.")
    with open_for_writing(call, project, agent_author(name), mode=arguments.mode) as opened, ExitStack() as stack:
        agent = program or stack.enter_context(open_hosted(call, opened.workspace, name))
        prompt = build_prompt(opened.context) or seen
        written = converse(opened.context, prompt, agent, model=arguments.model)
        for remark in written.remarks:
            call.screen.remark(f"note: {remark}")
        if git is not None and written.changed.state == "applied":
            _commit(call, git, opened.context)
    more = "; the answer waits for your decision" if written.changed.state == "proposed" else ""
    done = {"state": written.changed.state, "turn": written.changed.turn, "conflicts": written.conflicts}
    say(call, f"{name} answered in {arguments.file}{more}", agent=name, **done)
    return 0


def _commit(call: Invocation, git: Repository, context: SessionContext) -> None:
    """Commit the document. What must not be committed is named; if git refuses, the command fails, with the answer in
    the document."""
    file = call.arguments.file
    try:
        git.commit(context.stamp)
    except Forbidden as error:
        call.screen.remark(f"note: {error.message}")
    except RedraftError as error:
        message = f"The answer is in {file}, but was not committed. {error.message} Then: agent-doc commit {file}"
        raise RedraftError(message, code="conflict", path=file) from error


# Agents that speak the Agent Client Protocol, as backends: they work in a private view of the folder. Their answer goes
# into the document like any other. What they do to other documents, with whichever tools, is one turn of their name, in
# the mode that the person chose.


def list_hosted(config: AgentDocConfig) -> set[str]:
    """The agents in a private view: those of the person's settings that are not started as programs here, and those
    whose entry here says so."""
    from redraft.agent.hosted.agent_programs import AgentPrograms
    from redraft.runtime import user_settings
    from redraft.sessions.agent_config import CLAUDE, CODEX

    named = {name for name, entry in config.agents.items() if entry.protocol}
    return named | set(AgentPrograms(user_settings().agents).names()) - {CLAUDE, CODEX, *config.agents}


@contextmanager
def open_hosted(call: Invocation, workspace: Workspace, name: str) -> Generator[HostedBackend]:
    """The agent, until the answer is there."""
    from redraft.runtime import open_agent, user_settings

    with open_agent(workspace) as agent:
        yield HostedBackend(call, agent, name, call.arguments.mode or user_settings().mode)


@dataclass(frozen=True, slots=True)
class HostedBackend:
    """One agent, for one answer. The document has the whole conversation, so no earlier one is continued."""

    call: Invocation
    agent: Agent
    name: str
    mode: str

    @property
    def takes_model(self) -> bool:
        return False

    def send(self, prompt: str, session: str | None, *, fork: bool, model: str | None) -> BackendReply:
        from redraft.sessions.backends import INSTRUCTIONS, BackendReply, ended_with_us

        title = f"Answer in {self.call.arguments.file}."
        chat = self.agent.store.sessions.create()
        job = self.agent.start(chat.id, f"{title}\n\n{INSTRUCTIONS}\n\n{prompt}", mode=self.mode, agent=self.name)
        with ended_with_us():
            job = self._follow(job)
        if job.status in ("failed", "cancelled"):
            error = job.error or {}
            code = str(error.get("error", ""))
            message = f"{error.get('message', f'{self.name} was stopped.')} The document was not changed."
            raise RedraftError(message, code=code if code in CODES else "agent_failed")
        if job.turn is not None:
            waits = "; it waits for your decision" if job.status == "awaiting_review" else ""
            self.call.screen.remark(f"note: What {self.name} did to other documents is turn {job.turn}{waits}.")
        if not job.answer.strip():
            raise RedraftError(f"{self.name} answered with nothing.", code="model_output_invalid")
        return BackendReply(job.answer)

    def _follow(self, job: Job) -> Job:
        from redraft.cli.commands.ask import JobFollower

        try:
            job = JobFollower(self.call, self.agent).follow(job)
        except SystemExit:  # a signal ends us: the agent first
            self._stop(job)
            raise
        if job.status == "waiting_for_user":
            asked = job.question.text if job.question is not None else f"{self.name} asks something."
            self._stop(job)
            raise ConfirmationRequired(f"{asked} Nothing was changed. Run it in a terminal, or with --yes.")
        return job

    def _stop(self, job: Job) -> None:
        self.agent.cancel(job.id)
        self.agent.wait(job.id)


def configure(parser: ArgumentParser) -> None:
    add_file(parser)
    parser.add_argument("-b", dest="branch", action="store_true", help="create a branch for the document first")
    parser.add_argument("--agent", metavar="NAME", help="who answers (default: from the document or your config)")
    parser.add_argument("--model", metavar="MODEL", help="the model, passed to the agent")
    parser.add_argument(
        "--mode", choices=("propose", "apply"), help="when changes reach the disk: see docs/agent-doc.md"
    )
    add_yes(parser)
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
