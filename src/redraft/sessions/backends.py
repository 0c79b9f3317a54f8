"""Agents as programs: `claude`, and any command in the person's config. Prompt in, answer and session out.

The program runs in the project's folder with the person's own environment, because it works there with their tools;
its prompt goes to standard input. `CLAUDECODE` is removed: a `claude` that finds it believes it is a child of another
one. An answer that reports an error is a failure and not an answer.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, cast

from redraft.errors import RedraftError, Refused
from redraft.providers.child_process import ProcessOptions, ProgramResult, TooMuchOutput, run_program
from redraft.providers.errors import ProviderError
from redraft.providers.network_guard import check_command
from redraft.sessions.agent_config import DEFAULT_AGENT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from redraft.sessions.agent_config import AgentDocConfig

CLAUDE_ARGS = ("-p", "--output-format", "json", "--permission-mode", "acceptEdits")
NOTHING_TO_CONTINUE = "No conversation found"
OUTPUT_BYTES = 64 * 1024 * 1024
SECONDS = 3600.0
_MAX_QUOTED = 500

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
    """What an agent answered, and the session to continue with."""

    text: str
    session: str | None = None


class Backend(Protocol):
    """Anything that answers."""

    def send(self, prompt: str, session: str | None, *, fork: bool, model: str | None) -> BackendReply: ...


@dataclass(frozen=True, slots=True)
class ProgramBackend:
    """A backend that is a program. One compatible with `claude` gets its flags; others get only their own."""

    command: str
    args: tuple[str, ...]
    like_claude: bool
    folder: str
    environ: Mapping[str, str]
    seconds: float = SECONDS

    def send(self, prompt: str, session: str | None, *, fork: bool, model: str | None) -> BackendReply:
        words = self.words(session, fork=fork, model=model)
        ended = self._run(words, prompt if self.like_claude else f"{INSTRUCTIONS}\n\n{prompt}")
        if ended.status and "--continue" in words and NOTHING_TO_CONTINUE in ended.complaint:
            # The first conversation in a folder has nothing to fork from.
            ended = self._run(self.words(None, fork=False, model=model), prompt)
        if ended.status:
            raise self._failure(f"failed with status {ended.status}. {ended.complaint[-_MAX_QUOTED:]}")
        return self._reply(ended.output.decode("utf-8", "replace"))

    def words(self, session: str | None, *, fork: bool, model: str | None) -> list[str]:
        """The command for one prompt."""
        words = [self.command, *self.args]
        if not self.like_claude:
            return words
        if session:
            words += ["--resume", _check_value("resume", session)]
        elif fork:
            words += ["--continue", "--fork-session"]
        if model:
            words += ["--model", _check_value("model", model)]
        return [*words, "--append-system-prompt", INSTRUCTIONS]

    def _run(self, words: list[str], prompt: str) -> ProgramResult:
        environ = {name: value for name, value in self.environ.items() if name != "CLAUDECODE"}
        try:
            check_command(self.command)
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

    def _reply(self, output: str) -> BackendReply:
        table = _parse_object(output)
        if table is None or "result" not in table:
            if self.like_claude or not output.strip():
                raise self._failure(f"wrote an answer that cannot be read: {output[:_MAX_QUOTED]}")
            return BackendReply(output.strip())
        text, session = table.get("result"), table.get("session_id")
        if table.get("is_error") or not isinstance(text, str):
            raise self._failure(f"reported an error: {str(text)[:_MAX_QUOTED]}")
        return BackendReply(text, session if isinstance(session, str) and session else None)

    def _failure(self, what: str) -> RedraftError:
        return RedraftError(f"{self.command} {what} The document was not changed.", code="model_output_invalid")


def _check_value(name: str, value: str) -> str:
    """A value that the program cannot mistake for an option: the document that sets it may have come with the
    folder."""
    if value.startswith("-"):
        raise Refused(f"{name} is {value!r}, which looks like an option; nothing was sent.", code="invalid_argument")
    return value


def _parse_object(output: str) -> dict[str, Any] | None:
    import json

    try:
        found = json.loads(output)
    except ValueError:
        return None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None


def find_backend(name: str, config: AgentDocConfig, folder: str, environ: Mapping[str, str]) -> ProgramBackend:
    """The backend for an agent's name, from the config."""
    entry = config.agents.get(name)
    if entry is None and name != DEFAULT_AGENT:
        known = ", ".join(sorted({DEFAULT_AGENT, *config.agents}))
        raise Refused(f"No agent {name!r} is set up. Known: {known}. See docs/agent-doc.md.", code="model_unavailable")
    command = (entry.command if entry else "") or name
    like_claude = DEFAULT_AGENT in (name, os.path.basename(command))
    usual = CLAUDE_ARGS if like_claude else ()
    args = usual if entry is None or entry.args is None else entry.args
    return ProgramBackend(command, args, like_claude, folder, environ)
