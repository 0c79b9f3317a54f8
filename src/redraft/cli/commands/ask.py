"""`redraft ask` and `redraft chat`: send a request to the agent, follow its job, and review its changes."""

from __future__ import annotations

import queue
import sys
from typing import TYPE_CHECKING, Any

from redraft.cli.command import Command, Invocation, add_yes, pluralize
from redraft.cli.commands.accept import print_settle_steps
from redraft.cli.commands.propose import MODES
from redraft.cli.display import show_change
from redraft.cli.screen import BOLD, CYAN, RED, StyledText, escape
from redraft.config import PROFILES
from redraft.errors import CODES, Refused
from redraft.history.turns import PERSON

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Sequence

    from redraft.agent.agent import Agent
    from redraft.agent.store.events import JobEvent
    from redraft.agent.store.jobs import Job, JobQuestion
    from redraft.cli.command import Invocation
    from redraft.workspace.workspace import Workspace


WAITING, INTERRUPTED = 1, 130


def ask(call: Invocation) -> int:
    from redraft.runtime import open_agent

    arguments = call.arguments
    with call.workspace(mode=arguments.mode) as workspace, open_agent(workspace) as agent:
        if arguments.macro is not None:
            return _run_macro(call, agent, workspace)
        if not arguments.request:
            raise Refused('Say what you want: redraft ask "..."')
        job = _run_job(call, agent, arguments.request, _session_id(agent, arguments.session))
        return _report_job(call, agent, workspace, job)


def _session_id(agent: Agent, name: str | None) -> str:
    sessions = agent.store.sessions
    return sessions.create().id if name is None else sessions.get(name).id


def _run_job(call: Invocation, agent: Agent, request: str, session: str) -> Job:

    arguments = call.arguments
    rows = [{"kind": "file", "file_path": path, "pinned": False} for path in arguments.doc or ()]
    job = agent.start(
        session,
        request,
        context_rows=rows,
        tool_config={} if arguments.profile is None else {"profile": arguments.profile},
        mode=arguments.mode,
        model=arguments.model or "",
        agent=arguments.agent or "",
        document=(arguments.doc or [""])[0],
    )
    return JobFollower(call, agent).follow(job)


def _report_job(call: Invocation, agent: Agent, workspace: Workspace, job: Job) -> int:
    """Report the outcome of a job, as text or JSON; on a terminal, go on to review its hunks."""
    screen = call.screen
    if screen.json:
        call.emit({**agent.job(job.id), "usage": agent.store.usage.of_job(job.id).as_dict()})
    else:
        if job.answer and not screen.terminal:
            screen.content(job.answer.rstrip("\n") + "\n")
        _print_state(call, agent, workspace, job)
    if job.status == "cancelled":
        return INTERRUPTED
    if job.status == "failed":
        return CODES[(job.error or {}).get("error", "io_error")].exit
    return WAITING if job.status == "waiting_for_user" else 0


def _print_state(call: Invocation, agent: Agent, workspace: Workspace, job: Job) -> None:
    screen = call.screen
    if job.status == "awaiting_review" and job.turn is not None:
        if screen.terminal and sys.stdin.isatty():
            review_hunks(call, agent, workspace, job.turn)
            return
        screen.remark(
            f"Turn {job.turn} waits for your decision: "
            f"{call.command_line('diff')}, {call.command_line('accept', '--all')}"
        )
    elif job.status == "waiting_for_user" and job.question is not None:
        screen.remark(f"It asks: {job.question.text}")
        if job.question.kind == "clarification":
            screen.remark(f"Answer with: {call.command_line('jobs', job.id, '--answer', '...')}")
        else:
            screen.remark(f"Allow it with: {call.command_line('jobs', job.id, '--yes')} (or --no)")
    elif job.status in ("failed", "cancelled"):
        error = job.error or {}
        screen.remark(f"redraft: {error.get('message', job.status)}")
        if "suggestion" in error:
            screen.remark(f"         {error['suggestion']}")
    elif job.turn is not None:
        screen.line("Undo with: ", StyledText(call.command_line("undo", str(job.turn)), CYAN))


def _run_macro(call: Invocation, agent: Agent, workspace: Workspace) -> int:
    from redraft.agent.memory.macros import Macros

    values = dict(_parse_value(text) for text in call.arguments.value or ())
    macros = Macros(agent.store.state)
    answer = macros.run(call.arguments.macro, workspace, agent.environment.registry, values, call.confirm)
    if call.screen.json:
        call.emit(answer)
    else:
        turn = answer["turn"]
        call.screen.line(StyledText(f"Turn {turn}", BOLD), f" is {answer['state']}.")
    return 0


def _parse_value(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise Refused(f"{text!r} is not in the form NAME=VALUE.")
    return name, value


def chat(call: Invocation) -> int:
    """One session, request after request, until the input ends."""
    from redraft.runtime import open_agent

    with call.workspace(mode=call.arguments.mode) as workspace, open_agent(workspace) as agent:
        session = _session_id(agent, call.arguments.session)
        while (line := _read_line(call)) is not None:
            if line in ("/quit", "/exit"):
                break
            if line:
                _report_job(call, agent, workspace, _run_job(call, agent, line, session))
    return 0


def _read_line(call: Invocation) -> str | None:
    if sys.stdin.isatty():
        sys.stderr.write(escape("> "))
        sys.stderr.flush()
    try:
        line: str = sys.stdin.readline()
    except KeyboardInterrupt:
        return None
    return line.strip() if line else None


def configure_chat(parser: ArgumentParser) -> None:
    parser.add_argument("--doc", metavar="F", action="append", help="a document to show the agent; may be repeated")
    parser.add_argument("--mode", choices=MODES, help="when changes reach the disk (default: from the settings)")
    parser.add_argument("--model", metavar="M", help="the model to ask; `redraft models` lists them")
    parser.add_argument("--agent", metavar="A", help="another agent program that does it, as claude or gemini")
    parser.add_argument("--profile", choices=PROFILES, help="the tools it gets (default: from the settings)")
    parser.add_argument("--session", metavar="S", help="continue this session (default: a new one)")
    add_yes(parser)


def configure_ask(parser: ArgumentParser) -> None:
    parser.add_argument("request", metavar="REQUEST", nargs="?", help="what you want, in your own words")
    configure_chat(parser)
    parser.add_argument("--macro", metavar="NAME", help="run a macro instead, as one turn")
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
        "Ask this folder's agent. Its text and its tool calls are shown live; its changes are one turn. On\n"
        "a terminal you decide each hunk with a key; elsewhere, or with --json, they wait for `redraft accept`.\n"
        "Ctrl+C stops it and discards its changes.",
    ),
    "chat": Command(
        "chat",
        "Chat with the agent",
        chat,
        configure_chat,
        ("chat", "chat --doc notes.md"),
        "One session with the agent: each line is a request. `/remember ...` saves a preference for later jobs,\n"
        "`/quit` or end of input ends it.",
    ),
}

# Reviewing a job's hunks on a terminal, one key each: accept, reject, or leave it pending.


KEYS = "a accept, r reject, A accept all the rest, R reject all the rest, q leave the rest pending"


def review_hunks(call: Invocation, agent: Agent, workspace: Workspace, turn: int) -> None:
    """Review what is left of a turn. Undecided hunks stay pending."""
    hunks = [(path, hunk) for path, ids in workspace.hunks_of_turn(turn).items() for hunk in ids]
    call.screen.line(f"{pluralize(len(hunks), 'hunk')} to decide: {KEYS}.")
    verdict = ""
    accepted: dict[str, list[str]] = {}
    rejected: dict[str, list[str]] = {}
    for number, (path, hunk) in enumerate(hunks, start=1):
        if verdict not in ("A", "R"):
            _show_hunk(call, workspace, path, hunk, f"{number}/{len(hunks)}")
            verdict = _read_choice(fresh=number == 1)
        if verdict == "q":
            break
        chosen = accepted if verdict in ("a", "A") else rejected
        chosen.setdefault(path, []).append(hunk)
    _decide(call, agent, workspace, turn, accepted, rejected)


def _decide(
    call: Invocation,
    agent: Agent,
    workspace: Workspace,
    turn: int,
    accepted: dict[str, list[str]],
    rejected: dict[str, list[str]],
) -> None:
    drafts = {draft.key: draft for draft in workspace.drafts()}
    clashing = {hunk.id for draft in drafts.values() for hunk in draft.review.hunks if hunk.conflict}
    agreed = {path: left for path, ids in accepted.items() if (left := [name for name in ids if name not in clashing])}
    with agent.environment.guard:
        if rejected:
            agent.learn(rejected, PERSON)
        decided = [workspace.reject(rejected, turn=turn)] if rejected else []
        decided += [workspace.accept(agreed, turn=turn)] if agreed else []
    taken, refused = (sum(map(len, chosen.values())) for chosen in (agreed, rejected))
    call.screen.line(f"Accepted {taken}, rejected {refused}.")
    turns = [str(each.turn.id) for each in decided if each.turn is not None]
    if len(turns) == 1:
        call.screen.line("Undo with: ", StyledText(call.command_line("undo", turns[0]), CYAN))
    elif turns:
        call.screen.line("Undo what you accepted: ", StyledText(call.command_line("undo", turns[1]), CYAN))
        call.screen.line("Undo what you rejected: ", StyledText(call.command_line("undo", turns[0]), CYAN))
    if agreed != accepted:
        call.screen.line("Resolve the conflict before you accept it.")
        print_settle_steps(call, [drafts[path] for path in accepted])


def _show_hunk(call: Invocation, workspace: Workspace, path: str, name: str, place: str) -> None:
    draft = workspace.draft(path)
    if draft is None:
        return
    hunk = next((each for each in draft.review.hunks if each.id == name), None)
    clash = StyledText("  conflict", RED) if hunk is not None and hunk.conflict else ""
    what = draft.kind if hunk is None else f"line {hunk.line + 1}"
    call.screen.line(StyledText(f"{place}  {path}", BOLD), f"  {what}", clash)
    if hunk is not None:
        show_change(call.screen, draft.review.base, hunk.at, hunk.base, hunk.working)
    else:
        show_change(call.screen, "", 0, draft.review.base, draft.review.working)


def _read_choice(*, fresh: bool) -> str:
    """Read a valid key; end of input leaves the rest pending. Keys typed before anything was shown do not count:
    `fresh` discards them."""
    sys.stdout.flush()
    while True:
        key = _read_key(fresh=fresh)
        fresh = False
        if key in ("a", "r", "A", "R", "q"):
            return key
        if key in ("", "\x04"):
            return "q"
        if key == "\x03":
            raise KeyboardInterrupt


def _read_key(*, fresh: bool) -> str:
    """A key as it is pressed, where the terminal gives single keys."""
    import termios
    import tty

    descriptor = sys.stdin.fileno()
    before: Sequence[Any] = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor, termios.TCSAFLUSH if fresh else termios.TCSADRAIN)
        return sys.stdin.read(1)
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, list(before))


# Follow a running job on the terminal: its text, its tool calls and its questions.
#
# Without a terminal only the result is shown, and a question is left for later.


LOOK_SECONDS = 0.1
PROGRESS = ("tool.call.completed", "documents.changed", "budget.exhausted", "conflict.found", "step.invalid")


class JobFollower:
    """Follows one job, and the one that is run in its place."""

    def __init__(self, call: Invocation, agent: Agent) -> None:
        self._call = call
        self._agent = agent
        self._events: queue.SimpleQueue[JobEvent] = queue.SimpleQueue()
        self._shows = call.screen.terminal and not call.screen.json
        self._asks = not call.screen.json and sys.stdin.isatty() and sys.stderr.isatty()
        self._open_line = False
        self.job_id = ""

    def follow(self, job: Job) -> Job:
        """Wait until there is nothing more to wait for and return the job. Ctrl+C stops it."""
        self.job_id = job.id
        end = self._agent.store.events.subscribe(self._events.put)
        try:
            while self._is_active():
                self._handle_event()
                if self._is_stuck():
                    break
        except KeyboardInterrupt:
            self._agent.cancel(self.job_id)
            self._agent.wait(self.job_id)
        finally:
            end()
            self._close_line()
        return self._agent.store.jobs.get(self.job_id)

    def _is_active(self) -> bool:
        """Whether there is anything to wait for; of a job that was run again, in the one that took its place."""
        if self._agent.is_running_here(self.job_id) or not self._events.empty():
            return True
        again = self._agent.successor(self.job_id)
        if again is None:
            return False
        self.job_id = again.id
        return True

    def _handle_event(self) -> None:
        try:
            event = self._events.get(timeout=LOOK_SECONDS)
        except queue.Empty:
            return
        if event.job_id != self.job_id:
            return
        if event.type == "assistant.delta":
            self._stream(event.data["text"])
        elif event.type in PROGRESS:
            self._close_line()
            if self._shows:
                self._call.screen.remark(f"  {_progress_line(event)}")
        elif event.type.endswith(".requested") and event.type != "tool.call.requested":
            self._ask()

    def _stream(self, text: str) -> None:
        if self._shows:
            sys.stdout.write("\n".join(map(escape, text.split("\n"))))
            sys.stdout.flush()
            self._open_line = not text.endswith("\n")

    def _close_line(self) -> None:
        if self._open_line:
            sys.stdout.write("\n")
            self._open_line = False

    # Questions

    def _ask(self) -> None:
        question = self._agent.store.jobs.get(self.job_id).question
        if question is None:
            return
        self._close_line()
        if question.kind != "clarification" and self._call.arguments.yes:
            self._agent.confirm(self.job_id, question.id, allow=True)
        elif self._asks and question.kind == "clarification":
            self._agent.answer(self.job_id, question.id, _read_reply(f"{question.text}\n> "))
        elif self._asks:
            self._confirm(question)

    def _confirm(self, question: JobQuestion) -> None:
        from redraft.agent.memory.permissions import rules_to_allow

        for path in question.paths:
            self._call.screen.remark(f"  {path}")
        hint = "[y/N, a: always] " if question.paths and question.action else "[y/N] "
        said = _read_reply(f"{question.text} {hint}").casefold()
        always = said in ("a", "always") and bool(question.paths)
        if always:
            for rule in rules_to_allow(question.tool or question.action, question.paths):
                self._agent.environment.rules.remember(rule)
        self._agent.confirm(self.job_id, question.id, allow=always or said in ("y", "yes"))

    def _is_stuck(self) -> bool:
        """Whether the job waits for an answer that nobody here can give."""
        if self._asks or not self._events.empty():
            return False
        job = self._agent.store.jobs.get(self.job_id)
        agreed = job.question is not None and job.question.kind != "clarification" and self._call.arguments.yes
        return job.status == "waiting_for_user" and not agreed and job.reply is None


def _read_reply(prompt: str) -> str:
    sys.stdout.flush()
    sys.stderr.write("\n".join(map(escape, prompt.split("\n"))))
    sys.stderr.flush()
    line = sys.stdin.readline()
    if not line:
        raise KeyboardInterrupt  # the person has gone
    return line.strip()


def _progress_line(event: JobEvent) -> str:
    data: dict[str, Any] = event.data
    if event.type == "tool.call.completed":
        return str(data["summary"])
    words = {
        "documents.changed": "changed in the meantime: {paths}",
        "budget.exhausted": "limit reached: {what}",
        "conflict.found": "conflict: {paths}",
        "step.invalid": "{reason}",
    }[event.type]
    told = {name: ", ".join(map(str, value)) if isinstance(value, list) else value for name, value in data.items()}  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    return words.format_map({"paths": data.get("path", ""), **told})
