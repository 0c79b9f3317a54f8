"""Agent programs as models: `claude -p --output-format json`, and any command that reads a prompt and writes an answer.

A command is a list of words, never a shell command line. The prompt is written to standard input, `claude`'s system
prompt to a private file, and the answer is read from standard output, with a time limit and a size limit. The program
gets only the environment that programs need and the variables that its settings name: not our own, and not the keys of
other providers. It runs in an empty folder unless one is named, so that it cannot bypass the workspace.

Such programs cannot call our tools natively; `prompted_tools.PromptedTools` adds that.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Literal, cast

from redraft.providers.child_process import ProcessOptions, TooMuchOutput, run_program
from redraft.providers.contract import (
    AssistantMessage,
    CancelToken,
    JsonObject,
    Message,
    ProviderError,
    ProviderStepResult,
    StepRequest,
    SystemMessage,
    ToolResult,
    Usage,
)
from redraft.providers.json_output import parse_json, parse_structured_data
from redraft.providers.network_guard import check_command

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping

    from redraft.providers.contract import Kind

CLAUDE = ("claude", "-p", "--output-format", "json")
_PASSED = {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TERM", "TMPDIR", "SSL_CERT_FILE"}
_PASSED_STARTS = ("LC_", "XDG_")
_PASSED_ENDS = ("_PROXY", "_proxy")
# A program that finds this set believes it is a child of another agent and refuses, or waits for it.
_NEVER_PASSED = {"CLAUDECODE"}
_MAX_QUOTED = 300


@dataclass(frozen=True, slots=True)
class CommandSpec:
    """How to run the program. `form` is its output format: plain text, or the JSON that `claude` writes."""

    argv: tuple[str, ...] = CLAUDE
    form: Literal["text", "claude"] = "claude"
    model: str = ""
    pass_variables: tuple[str, ...] = ()
    folder: str | None = None
    seconds: float = 600.0
    output_bytes: int = 8 * 1024 * 1024

    def words(self, request: StepRequest, orders: str) -> list[str]:
        """The whole command for a request; `orders` is the file with the system prompt, if there is one."""
        words = list(self.argv)
        if self.form == "claude":
            if self.model:
                words += ["--model", self.model]
            if request.session:
                words += ["--resume", request.session]
            elif request.fork:
                words += ["--continue"]
            if request.fork:
                words += ["--fork-session"]
            if orders:
                words += ["--append-system-prompt-file", orders]
        return words


class CommandProvider:
    """A program that answers a prompt. `environ` is where its variables come from, usually the process's own."""

    supports_native_tools = False

    def __init__(
        self,
        command: CommandSpec,
        environ: Mapping[str, str],
        *,
        name: str = "command",
        context_tokens: int | None = None,
    ) -> None:
        self._command = command
        self._environ = scrub_environ(environ, command.pass_variables)
        self.provider_name = name
        self.model = command.model or os.path.basename(command.argv[0])
        self.context_tokens = context_tokens

    def skip_step(self) -> None:
        """Nothing to do: each step sends the whole conversation."""

    async def run_step(self, request: StepRequest, *, cancel: CancelToken | None = None) -> ProviderStepResult:
        check_command(self.provider_name)
        return await (cancel or CancelToken()).run(self._step(request))

    async def _step(self, request: StepRequest) -> ProviderStepResult:
        orders, prompt = render_prompt(request, separate=self._command.form == "claude")
        started = time.monotonic()
        with contextlib.ExitStack() as stack:
            folder = self._command.folder or stack.enter_context(tempfile.TemporaryDirectory(prefix="redraft-agent-"))
            orders_path = stack.enter_context(_orders_file(orders)) if orders else ""
            text = await self._run(self._command.words(request, orders_path), prompt, folder, request.timeout)
        result = self._parse_claude(text) if self._command.form == "claude" else ProviderStepResult(text.strip())
        return replace(
            result,
            provider=self.provider_name,
            model=self.model,
            latency_ms=(time.monotonic() - started) * 1000,
            data=parse_structured_data(result.text, request, self.provider_name),
        )

    async def _run(self, words: list[str], prompt: str, folder: str, seconds: float | None) -> str:
        command = self._command
        bounds = ProcessOptions(folder, self._environ, seconds or command.seconds, command.output_bytes)
        try:
            ended = await run_program(words, prompt, bounds)
        except TimeoutError as error:
            raise self._error(f"{words[0]} did not answer in time.", "timeout") from error
        except TooMuchOutput as error:
            raise self._error(f"{words[0]} wrote more than {command.output_bytes} bytes.", "invalid_output") from error
        except (OSError, ValueError) as error:
            raise self._error(f"{words[0]} cannot be started: {error}.", "unavailable") from error
        if ended.status:
            complaint = ended.complaint[-_MAX_QUOTED:]
            raise self._error(f"{words[0]} failed with status {ended.status}. {complaint}".strip(), "unavailable")
        return ended.output.decode("utf-8", "replace")

    def _parse_claude(self, text: str) -> ProviderStepResult:
        """Parse the output of `claude`: `result`, `session_id`, `is_error`, and the usage and price if it reports
        them."""
        try:
            answer = parse_json(text)
            if not isinstance(answer, dict):
                raise ValueError("it is not an object")
        except ValueError as error:
            raise ProviderError(
                f"The program's answer is not valid: {error}.",
                kind="invalid_output",
                provider=self.provider_name,
                output=text,
            ) from error
        table = cast("JsonObject", answer)
        reply = table.get("result")
        if table.get("is_error") or not isinstance(reply, str):
            raise self._error(f"The program reported an error: {str(reply)[:_MAX_QUOTED]}", "bad_request")
        session = table.get("session_id")
        return ProviderStepResult(
            reply,
            usage=_usage(table.get("usage")),
            price_usd=_price(table.get("total_cost_usd")),
            session=session if isinstance(session, str) else None,
        )

    def _error(self, message: str, kind: Kind) -> ProviderError:
        return ProviderError(message, kind=kind, provider=self.provider_name)


@contextlib.contextmanager
def _orders_file(orders: str) -> Generator[str]:
    """The system prompt as a file that only this user can read. As an argument it would be visible to everybody who can
    list processes, and from 128 KiB on the system refuses such an argument."""
    with tempfile.TemporaryDirectory(prefix="redraft-orders-") as folder:
        path = os.path.join(folder, "orders.md")
        with open(path, "w", encoding="utf-8", errors="replace", newline="") as file:
            file.write(orders)
        yield path


def scrub_environ(environ: Mapping[str, str], named: Iterable[str]) -> dict[str, str]:
    """The environment for a program: what programs need, and what its settings name."""
    wanted = set(named)

    def passes(name: str) -> bool:
        usual = name in _PASSED or name.startswith(_PASSED_STARTS) or name.endswith(_PASSED_ENDS)
        return (usual or name in wanted) and name not in _NEVER_PASSED

    return {name: value for name, value in environ.items() if passes(name)}


def render_prompt(request: StepRequest, *, separate: bool) -> tuple[str, str]:
    """The system prompt and the prompt; the first is part of the second unless they are `separate`.

    A program with a `session` remembers the conversation, so it gets only what is new since its last answer.
    """
    messages = list(request.messages)
    orders = "\n\n".join(message.text for message in messages if isinstance(message, SystemMessage))
    conversation = [message for message in messages if not isinstance(message, SystemMessage)]
    if request.session:
        spoke = [index for index, message in enumerate(conversation) if isinstance(message, AssistantMessage)]
        conversation = conversation[spoke[-1] + 1 :] if spoke else conversation
    many = len(conversation) > 1
    prompt = "\n\n".join(_render_message(message, label=many) for message in conversation)
    if separate:
        return orders, prompt
    return "", f"{orders}\n\n{prompt}" if orders else prompt


def _render_message(message: Message, *, label: bool) -> str:
    text = str(message.content) if isinstance(message, ToolResult) else message.text
    return f"[{message.role}]\n{text}" if label else text


def _usage(reported: object) -> Usage:
    table = cast("JsonObject", reported) if isinstance(reported, dict) else {}

    def count(name: str) -> int:
        value = table.get(name)
        return value if isinstance(value, int) else 0

    cached, written = count("cache_read_input_tokens"), count("cache_creation_input_tokens")
    return Usage(count("input_tokens") + cached + written, count("output_tokens"), cached, written)


def _price(value: object) -> Decimal | None:
    return Decimal(str(value)) if isinstance(value, int | float) and not isinstance(value, bool) else None
