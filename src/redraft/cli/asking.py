"""`redraft ask` and `redraft chat`: a request to the agent, its answer, and the judgement of what it made."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from redraft.cli.command import Call, Command, add_yes
from redraft.cli.proposing import MODES
from redraft.cli.screen import BOLD, CYAN, Styled, escaped
from redraft.errors import CODES, Refused

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from redraft.agent.agent import Agent
    from redraft.agent.jobs import Job
    from redraft.workspace.workspace import Workspace

WAITING, INTERRUPTED = 1, 130


def ask(call: Call) -> int:
    from redraft.runtime import open_agent

    arguments = call.arguments
    with call.workspace(mode=arguments.mode) as workspace, open_agent(workspace) as agent:
        if arguments.macro is not None:
            return _macro(call, agent, workspace)
        if not arguments.request:
            raise Refused('Say what you want: redraft ask "..."')
        job = _asked(call, agent, arguments.request, _session(agent, arguments.session))
        return _told(call, agent, workspace, job)


def _session(agent: Agent, name: str | None) -> str:
    sessions = agent.store.sessions
    return sessions.create().id if name is None else sessions.get(name).id


def _asked(call: Call, agent: Agent, request: str, session: str) -> Job:
    from redraft.cli.following import Follower

    arguments = call.arguments
    rows = [{"kind": "file", "file_path": path, "pinned": False} for path in arguments.doc or ()]
    job = agent.start(
        session,
        request,
        context_rows=rows,
        mode=arguments.mode,
        model=arguments.model or "",
        document=(arguments.doc or [""])[0],
    )
    return Follower(call, agent).follow(job)


def _told(call: Call, agent: Agent, workspace: Workspace, job: Job) -> int:
    """What became of a job, in words or as JSON; on a terminal its hunks are judged at once."""
    screen = call.screen
    if screen.json:
        call.emit({**agent.job(job.id), "usage": agent.store.usage.of_job(job.id).as_dict()})
    else:
        if job.answer and not screen.terminal:
            screen.content(job.answer.rstrip("\n") + "\n")
        _tell_state(call, agent, workspace, job)
    if job.status == "cancelled":
        return INTERRUPTED
    if job.status == "failed":
        return CODES[(job.error or {}).get("error", "io_error")].exit
    return WAITING if job.status == "waiting_for_user" else 0


def _tell_state(call: Call, agent: Agent, workspace: Workspace, job: Job) -> None:
    screen = call.screen
    if job.status == "awaiting_review" and job.turn is not None:
        if screen.terminal and sys.stdin.isatty():
            from redraft.cli.judging import judge

            judge(call, agent, workspace, job.turn)
            return
        screen.remark(f"Turn {job.turn} waits for your decision: {call.again('diff')}, {call.again('accept', '--all')}")
    elif job.status == "waiting_for_user" and job.question is not None:
        screen.remark(f"It asks: {job.question.text}")
        screen.remark(f"Answer with: {call.again('jobs', job.id, '--answer', '...')} (or --yes, --no)")
    elif job.status in ("failed", "cancelled"):
        screen.remark(f"redraft: {(job.error or {}).get('message', job.status)}")
    elif job.turn is not None:
        screen.line("Take it back: ", Styled(call.again("undo", str(job.turn)), CYAN))


def _macro(call: Call, agent: Agent, workspace: Workspace) -> int:
    from redraft.agent.macros import Macros

    values = dict(_pair(text) for text in call.arguments.value or ())
    macros = Macros(agent.store.state)
    answer = macros.run(call.arguments.macro, workspace, agent.room.registry, values, call.confirmed)
    if call.screen.json:
        call.emit(answer)
    else:
        turn = answer["turn"]
        call.screen.line(Styled(f"Turn {turn}", BOLD), f" is {answer['state']}.")
    return 0


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise Refused(f"{text!r} is not of the form NAME=VALUE.")
    return name, value


def chat(call: Call) -> int:
    """One session, request after request, until the input ends."""
    from redraft.runtime import open_agent

    with call.workspace(mode=call.arguments.mode) as workspace, open_agent(workspace) as agent:
        session = _session(agent, call.arguments.session)
        while (line := _line(call)) is not None:
            if line.startswith("/remember "):
                agent.room.memory.note("preferences", line.removeprefix("/remember "))
                call.screen.line("I will keep it in mind.")
            elif line in ("/quit", "/exit"):
                break
            elif line:
                _told(call, agent, workspace, _asked(call, agent, line, session))
    return 0


def _line(call: Call) -> str | None:
    if sys.stdin.isatty():
        sys.stderr.write(escaped("> "))
        sys.stderr.flush()
    try:
        line: str = sys.stdin.readline()
    except KeyboardInterrupt:
        return None
    return line.strip() if line else None


def configure_chat(parser: ArgumentParser) -> None:
    parser.add_argument("--doc", metavar="F", action="append", help="a document to show the agent; may be repeated")
    parser.add_argument("--mode", choices=MODES, help="when the disk is written (default: as the settings say)")
    parser.add_argument("--model", metavar="M", help="the model to ask; `redraft models` lists them")
    parser.add_argument("--session", metavar="S", help="go on in this session (default: a new one)")
    add_yes(parser)


def configure_ask(parser: ArgumentParser) -> None:
    parser.add_argument("request", metavar="REQUEST", nargs="?", help="what you want, in your own words")
    configure_chat(parser)
    parser.add_argument("--macro", metavar="NAME", help="run a saved sequence of calls instead, as one turn")
    parser.add_argument("--value", metavar="N=V", action="append", help="a value for the macro; may be repeated")


COMMANDS: dict[str, Any] = {
    "ask": Command(
        "ask",
        "Ask the agent to do something",
        ask,
        configure_ask,
        (
            'ask "Tighten the second chapter" --doc chapter-2.md',
            'ask "Rename Anna to Hanna everywhere" --mode apply',
            "ask --macro daily-note",
        ),
        "Ask the agent of this folder. Its words and its work are shown as they come; what it changes is one turn. On\n"
        "a terminal you judge its hunks by key; elsewhere, or with --json, they wait for `redraft accept`. Ctrl+C\n"
        "stops it, and nothing of it stays.",
    ),
    "chat": Command(
        "chat",
        "Talk with the agent, request after request",
        chat,
        configure_chat,
        ("chat", "chat --doc notes.md"),
        "One session with the agent: each line is a request. `/remember ...` keeps a preference for all later jobs,\n"
        "`/quit` or the end of the input ends it.",
    ),
}
