"""Agents as programs: `claude`, `codex`, and any command in the person's config. Prompt in, answer out.

The program runs in the project's folder with the person's own environment, because it works there with their tools;
its prompt goes to standard input. What a document says (which conversation, which model) becomes an argument only in
the form of an id or of a model's name, and joined to its option, so that no document can give a program options: some
of them run commands. `CLAUDECODE` is removed: a `claude` that finds it believes it is a child of another one.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

from redraft.errors import RedraftError, Refused
from redraft.providers.child_process import ProcessOptions, ProgramResult, TooMuchOutput, run_program
from redraft.providers.errors import ProviderError
from redraft.providers.network_guard import check_command
from redraft.sessions.agent_config import CLAUDE, CODEX

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Mapping, Sequence
    from types import FrameType

    from redraft.sessions.agent_config import AgentDocConfig

Kind = Literal["claude", "codex", "other"]
CLAUDE_ARGS = ("-p", "--output-format", "json", "--permission-mode", "acceptEdits")
# The sandbox is set as a value: `codex exec resume` has no option for it.
CODEX_ARGS = ("exec", "--json", "--skip-git-repo-check", "--config", 'sandbox_mode="workspace-write"')
_USUAL: dict[Kind, tuple[str, ...]] = {"claude": CLAUDE_ARGS, "codex": CODEX_ARGS, "other": ()}
NOTHING_TO_CONTINUE = "No conversation found"
OUTPUT_BYTES = 64 * 1024 * 1024
SECONDS = 3600.0
_MAX_QUOTED = 500
# No dot and no slash: some programs take a file's name for an id.
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
_MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/@+\[\]-]{0,199}")
_ENDING = (signal.SIGTERM, signal.SIGHUP)

INSTRUCTIONS = """\
You are taking part in a conversation inside a document. Your answer is written into that document for you: do not
edit the document file yourself. Answer what the person wrote or changed, in markdown. Where the document has
components (<!-- agent:NAME -->), put what belongs into one into a block

<!-- patch:NAME -->
content
<!-- /patch:NAME -->

and leave out components that stay as they are. Text outside such blocks becomes part of the conversation. Do not
repeat the person's text, and do not write a heading "## User"."""


@dataclass(frozen=True, slots=True)
class BackendReply:
    """What an agent answered, and the conversation to continue with."""

    text: str
    session: str | None = None


class Backend(Protocol):
    """Anything that answers."""

    @property
    def takes_model(self) -> bool: ...

    def send(self, prompt: str, session: str | None, *, fork: bool, model: str | None) -> BackendReply: ...


@dataclass(frozen=True, slots=True)
class ProgramBackend:
    """A backend that is a program. `claude` and `codex` get their flags; others get only their own."""

    command: str
    args: tuple[str, ...]
    kind: Kind
    folder: str
    environ: Mapping[str, str]
    seconds: float = SECONDS

    @property
    def takes_model(self) -> bool:
        return self.kind != "other"

    def send(self, prompt: str, session: str | None, *, fork: bool, model: str | None) -> BackendReply:
        if self.kind != "claude":
            prompt = f"{INSTRUCTIONS}\n\n{prompt}"
        words = self.words(session, fork=fork, model=model)
        ended = self._run(words, prompt)
        if ended.status and "--continue" in words and NOTHING_TO_CONTINUE in ended.complaint:
            # The first conversation in a folder has nothing to fork from.
            ended = self._run(self.words(None, fork=False, model=model), prompt)
        output = ended.output.decode("utf-8", "replace")
        if ended.status:
            raise self._failure(f"failed with status {ended.status}. {self._reason(ended, output)}")
        try:
            answer = parse_output(output, structured=self.kind != "other")
        except OutputUnusable as error:
            raise self._failure(f"{str(error)[:_MAX_QUOTED]}.") from error
        # What could not be handed back to the program is not stored.
        named = answer.session if answer.session and _ID.fullmatch(answer.session) else None
        return BackendReply(answer.text, named)

    def words(self, session: str | None, *, fork: bool, model: str | None) -> list[str]:
        """The command for one prompt."""
        words = [self.command, *self.args]
        if self.kind == "other":
            return words
        if model:
            words.append(f"--model={_check_form('model', model, _MODEL, 'the name of a model')}")
        known = session and _check_form("resume", session, _ID, "an id")
        if self.kind == "codex":
            return [*words, *(("resume", known) if known else ()), "-"]
        if known:
            words.append(f"--resume={known}")
        elif fork:
            words += ["--continue", "--fork-session"]
        return [*words, "--append-system-prompt", INSTRUCTIONS]

    def _run(self, words: list[str], prompt: str) -> ProgramResult:
        environ = {name: value for name, value in self.environ.items() if name != "CLAUDECODE"}
        try:
            check_command(self.command)
            with ended_with_us():
                return asyncio.run(
                    run_program(words, prompt, ProcessOptions(self.folder, environ, self.seconds, OUTPUT_BYTES))
                )
        except ProviderError as error:
            raise RedraftError(str(error), code="model_unavailable") from error
        except TimeoutError as error:
            raise RedraftError(f"{words[0]} did not answer in time.", code="model_timeout") from error
        except TooMuchOutput as error:
            raise self._failure(f"wrote more than {OUTPUT_BYTES} bytes.") from error
        except (OSError, ValueError) as error:
            raise RedraftError(f"{words[0]} cannot be started: {error}.", code="model_unavailable") from error

    def _reason(self, ended: ProgramResult, output: str) -> str:
        """Why it failed, in its own words: claude and codex say it in their output."""
        try:
            parse_output(output, structured=True)
        except OutputUnusable as error:
            told = str(error)
            if told.startswith("reported"):
                return f"It {told[:_MAX_QUOTED]}."
        return ended.complaint[-_MAX_QUOTED:]

    def _failure(self, what: str) -> RedraftError:
        return RedraftError(f"{self.command} {what} The document was not changed.", code="model_output_invalid")


def _check_form(name: str, value: str, form: re.Pattern[str], what: str) -> str:
    """A value that no program can mistake for an option, a file or a command: the document that sets it may have come
    with the folder."""
    if not form.fullmatch(value):
        raise Refused(f"{name} is {value!r}, which is not {what}; nothing was sent.", code="invalid_argument")
    return value


@contextmanager
def ended_with_us() -> Generator[None]:
    """While an agent works, a signal that ends us ends the agent first, with all that it started: it costs money."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    before = {number: signal.signal(number, end) for number in _ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def find_backend(
    name: str, config: AgentDocConfig, folder: str, environ: Mapping[str, str], *, others: Collection[str] = ()
) -> ProgramBackend:
    """The backend for an agent's name, from the config; `others` are agents that are no programs of this kind."""
    entry = config.agents.get(name)
    if entry is None and name not in (CLAUDE, CODEX):
        known = ", ".join(sorted({CLAUDE, CODEX, *config.agents, *others}))
        raise Refused(f"No agent {name!r} is set up. Known: {known}. See docs/agent-doc.md.", code="model_unavailable")
    command = (entry.command if entry else "") or name
    names = (name, os.path.basename(command))
    kind: Kind = "claude" if CLAUDE in names else "codex" if CODEX in names else "other"
    args = _USUAL[kind] if entry is None or entry.args is None else entry.args
    return ProgramBackend(command, args, kind, folder, environ)


# What agents write on their standard output: Claude's JSON object, its array or its stream, Codex's events, or plain
# text. An answer that reports an error, has no text or is cut off is a failure and not an answer.


Event = dict[str, Any]
_FAILURES = ("turn.failed", "error")


class OutputUnusable(Exception):
    """The output is no answer; the message continues a sentence that begins with the program's name."""


def parse_output(output: str, *, structured: bool) -> BackendReply:
    """The answer in a program's output; raises `OutputUnusable`. `structured` means that plain text is none."""
    events = _events(output)
    found = _claude_result(events) or _codex_result(events)
    if found is None:
        if structured:
            raise OutputUnusable("wrote an answer that cannot be read")
        found = BackendReply(output.strip())
    if not found.text.strip():
        raise OutputUnusable("answered with nothing")
    return found


def _events(output: str) -> list[Event]:
    """The JSON objects in an output: one, several in an array, or one on each line."""
    try:
        found = json.loads(output)
    except (ValueError, RecursionError):
        return [event for line in output.splitlines() if line.startswith("{") for event in _event(line)]
    entries = cast("list[object]", found) if isinstance(found, list) else [found]
    return [cast("Event", entry) for entry in entries if isinstance(entry, dict)]


def _event(line: str) -> Sequence[Event]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return ()
    return (cast("Event", found),) if isinstance(found, dict) else ()


def _claude_result(events: Sequence[Event]) -> BackendReply | None:
    """The result with which Claude ends; None if these are not its events."""
    ended = [event for event in events if event.get("type", "result") == "result" and _is_result(event)]
    if not ended:
        if any(event.get("type") == "system" and "session_id" in event for event in events):
            raise OutputUnusable("stopped before its answer was complete")
        return None
    event = ended[-1]
    text = event.get("result")
    if event.get("is_error") or event.get("subtype", "success") != "success" or not isinstance(text, str):
        raise OutputUnusable(f"reported an error: {text or event.get('errors') or event.get('subtype')}")
    return BackendReply(text, _text(event.get("session_id")))


def _is_result(event: Event) -> bool:
    return "result" in event or "is_error" in event


def _codex_result(events: Sequence[Event]) -> BackendReply | None:
    """The last message of Codex's turn; None if these are not its events."""
    kinds = {event.get("type") for event in events}
    if "thread.started" not in kinds and "turn.started" not in kinds:
        return None
    if "turn.completed" not in kinds:
        told = [_table(event.get("error")) or event for event in events if event.get("type") in _FAILURES]
        why = _text(told[-1].get("message")) if told else None
        raise OutputUnusable(f"reported an error: {why}" if why else "stopped before its answer was complete")
    thread = next((event.get("thread_id") for event in events if event.get("type") == "thread.started"), None)
    items = [_table(event.get("item")) for event in events if event.get("type") == "item.completed"]
    messages = [item for item in items if item.get("type") == "agent_message"]
    return BackendReply(_text(messages[-1].get("text")) or "" if messages else "", _text(thread))


def _table(value: object) -> Event:
    return cast("Event", value) if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
