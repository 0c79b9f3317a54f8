"""An agent program that runs in a private view, and the protocol spoken with it.

It ends when the connection does, with everything that it started. What it writes to its error output is read at once
and all but the end thrown away, so that it never waits for us there and fills nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from acp.client.connection import ClientSideConnection
from acp.exceptions import RequestError
from acp.meta import PROTOCOL_VERSION
from acp.schema import (
    ClientCapabilities,
    ElicitationCapabilities,
    ElicitationFormCapabilities,
    Implementation,
    TextContentBlock,
)
from pydantic import ValidationError

from redraft.errors import RedraftError
from redraft.files.secret_detection import mask_credentials
from redraft.files.views.sandbox import END_NOW

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Mapping, Sequence

    from acp.interfaces import Client
    from acp.schema import (
        InitializeResponse,
        McpServerStdio,
        PromptResponse,
        SessionConfigOptionBoolean,
        SessionConfigOptionSelect,
        SessionModeState,
    )

    from redraft.files.views.private_view import PrivateView

T = TypeVar("T")

AUTH_REQUIRED = -32000
# Whole files travel in one message, as JSON; what is longer ends the conversation.
MOST_MESSAGE = 32 * 1024 * 1024
MOST_ERROR_OUTPUT = 4096
MOST_WORDS = 500
MOST_WAYS = 5
START_SECONDS = 120.0
# A program that is asked to stop may still write its own notes about the session.
CANCEL_SECONDS = 2.0
CLOSE_SECONDS = 0.5
END_SECONDS = 1.0
KILL_SECONDS = 3.0


class AgentFailed(RedraftError):
    """The program ended, or answered with an error."""

    default_code = "agent_failed"


@dataclass(frozen=True, slots=True)
class AgentSession:
    """A session of the program's: its id, what the program is and offers, and whether it knows what was said before."""

    id: str
    program: InitializeResponse
    modes: SessionModeState | None
    options: Sequence[SessionConfigOptionSelect | SessionConfigOptionBoolean]
    resumed: bool = False

    @property
    def version(self) -> str:
        about = self.program.agent_info
        return "" if about is None else f"{about.name} {about.version}"


class _PipeChannel:
    """One JSON message per line. A line that is no message is skipped: some programs greet on standard output."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def send(self, message: dict[str, Any]) -> None:
        self._writer.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
        await self._writer.drain()

    async def receive(self) -> dict[str, Any] | None:
        while True:
            try:
                line = await self._reader.readuntil(b"\n")
            except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError):
                return None
            with contextlib.suppress(ValueError, RecursionError):
                message = json.loads(line)
                if isinstance(message, dict):
                    return message  # pyright: ignore[reportUnknownVariableType]

    async def close(self) -> None:
        self._writer.close()


class AgentConnection:
    """Use `open`, then `begin`, then `prompt`."""

    def __init__(
        self, name: str, view: PrivateView, process: asyncio.subprocess.Process, connection: ClientSideConnection
    ) -> None:
        self._name = name
        self._view = view
        self._process = process
        self._connection = connection
        self._ended = asyncio.ensure_future(process.wait())
        self._errors = bytearray()
        self._ways_to_sign_in: list[str] = []
        self._listening = asyncio.ensure_future(self._read_errors())

    @classmethod
    @contextlib.asynccontextmanager
    async def open(
        cls, name: str, view: PrivateView, command: Sequence[str], variables: Mapping[str, str], client: Client
    ) -> AsyncGenerator[AgentConnection]:
        """Start the program. The sandbox ends it when the thread that starts it does, so this must be called in one
        that lives as long as the job: asyncio starts programs in the loop's own."""
        process = await asyncio.create_subprocess_exec(
            *view.command_line(command),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=variables,
            start_new_session=True,
            limit=MOST_MESSAGE,
        )
        if process.stdin is None or process.stdout is None:  # it was asked for both
            raise AgentFailed(f"{name} has no input or output.")
        channel = _PipeChannel(process.stdout, process.stdin)
        opened = cls(name, view, process, ClientSideConnection(client, channel, use_unstable_protocol=True))
        try:
            yield opened
        finally:
            await opened._end()

    async def begin(
        self, directory: str, known: str, options: Mapping[str, str], servers: Sequence[McpServerStdio]
    ) -> AgentSession:
        """Agree on the protocol and begin a session, or go on with a `known` one, where the program can."""
        async with _limit_time(START_SECONDS, f"{self._name} did not answer in time."):
            about = Implementation(name="redraft", version="1")
            able = ClientCapabilities(elicitation=ElicitationCapabilities(form=ElicitationFormCapabilities()))
            found = await self._ask(
                self._connection.initialize(
                    protocol_version=PROTOCOL_VERSION, client_capabilities=able, client_info=about
                )
            )
            self._ways_to_sign_in = [
                _words(f"{each.name}: {each.description or ''}") for each in found.auth_methods or []
            ]
            session = await self._load(found, directory, known, servers)
            if session is None:
                begun = await self._ask(self._connection.new_session(cwd=directory, mcp_servers=[*servers]))
                session = AgentSession(begun.session_id, found, begun.modes, begun.config_options or [])
            for name, value in options.items():
                await self._choose(session, name, value)
        return session

    async def _load(
        self, found: InitializeResponse, directory: str, known: str, servers: Sequence[McpServerStdio]
    ) -> AgentSession | None:
        """The known session; None if it cannot be loaded: then the program begins anew."""
        if not known or found.agent_capabilities is None or not found.agent_capabilities.load_session:
            return None
        try:
            loaded = await self._ask(
                self._connection.load_session(cwd=directory, session_id=known, mcp_servers=[*servers])
            )
        except AgentFailed as error:
            if error.code == "agent_signed_out" or self._ended.done():
                raise
            return None
        return AgentSession(known, found, loaded.modes, loaded.config_options or [], resumed=True)

    async def _choose(self, session: AgentSession, name: str, value: str) -> None:
        """Set an option of the program's; one that it does not offer is left out."""
        offered = {option.id for option in session.options}
        if name == "mode" and session.modes is not None and "mode" not in offered:
            known = {mode.id for mode in session.modes.available_modes}
            if value in known:
                await self._ask(self._connection.set_session_mode(session_id=session.id, mode_id=value))
        elif name in offered:
            await self._ask(self._connection.set_config_option(config_id=name, session_id=session.id, value=value))

    async def prompt(self, session_id: str, words: str) -> PromptResponse:
        """The program's answer to a prompt. If this is cancelled, it is asked to stop and given a moment for it."""
        block = TextContentBlock(type="text", text=words)
        answer = asyncio.ensure_future(self._ask(self._connection.prompt(session_id=session_id, prompt=[block])))
        try:
            return await asyncio.shield(answer)
        except asyncio.CancelledError:
            with contextlib.suppress(OSError, RequestError):
                await self._connection.cancel(session_id=session_id)
            await asyncio.wait({answer}, timeout=CANCEL_SECONDS)
            answer.cancel()
            with contextlib.suppress(RedraftError, asyncio.CancelledError):
                await answer
            raise

    async def _ask(self, request: Awaitable[T]) -> T:
        try:
            return await request
        except RequestError as error:
            if error.code == AUTH_REQUIRED:
                ways = "".join(f"\n- {way}" for way in self._ways_to_sign_in[:MOST_WAYS])
                message = f"{self._name} is not signed in: {_words(_reason(error))}" + (
                    f"\nIt offers:{ways}" if ways else ""
                )
                raise AgentFailed(message, code="agent_signed_out") from error
            raise AgentFailed(f"{self._name} failed: {_words(_reason(error))}") from error
        except ValidationError as error:
            raise AgentFailed(f"{self._name} does not follow the protocol.") from error
        except OSError as error:
            raise await self._explain_end() from error

    async def _explain_end(self) -> AgentFailed:
        """Why the program is gone."""
        await asyncio.wait({self._ended, self._listening}, timeout=END_SECONDS)
        end = self._view.read_end()
        if end.failed or end.not_started:
            why = f"cannot be started: {end.failed or end.not_started}."
        elif end.signal is not None:
            why = f"was ended by {_signal_name(end.signal)}."
        elif end.status is not None:
            why = f"ended with status {end.status}."
        else:
            why = "stopped answering."
        last = self._errors.decode(errors="replace").strip()
        return AgentFailed(f"{self._name} {why}" + (f" It said: {_words(last[-MOST_WORDS:])}" if last else ""))

    async def _read_errors(self) -> None:
        stream = self._process.stderr
        while stream is not None and (data := await stream.read(65_536)):
            self._errors += data
            del self._errors[:-MOST_ERROR_OUTPUT]

    async def _end(self) -> None:
        """End the program and everything that it started: by closing its input, by asking, then by force."""
        with contextlib.suppress(OSError, RuntimeError):
            await self._connection.close()
        await asyncio.wait({self._ended}, timeout=CLOSE_SECONDS)
        for number, seconds in ((signal.SIGTERM, END_SECONDS), (END_NOW, KILL_SECONDS)):
            if not self._ended.done():
                with contextlib.suppress(ProcessLookupError):
                    self._process.send_signal(number)
                await asyncio.wait({self._ended}, timeout=seconds)
        # The sandbox has ended what left the group; this is for a system on which it could not.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        await self._ended
        self._listening.cancel()


@contextlib.asynccontextmanager
async def _limit_time(seconds: float, message: str) -> AsyncGenerator[None]:
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        raise AgentFailed(message) from error


def _reason(error: RequestError) -> str:
    """The error in the program's words; many put what matters into the data."""
    data: Any = error.data
    more = data.get("details") or data.get("message") if isinstance(data, dict) else data  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return f"{error} ({more})" if isinstance(more, str) and more not in str(error) else str(error)


def _words(text: str) -> str:
    """What a program said, as part of a message of ours."""
    return mask_credentials(" ".join(text.split())[:MOST_WORDS])


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
