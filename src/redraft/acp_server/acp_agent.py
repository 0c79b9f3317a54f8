"""Answers an editor's requests: sessions, prompts, modes, models.

A session is one of the folder's own, whoever began it; loading one tells its whole conversation again. The folder is
the one that the program was started for, or else the one that the editor names. Without a model the offline assistant
answers, so nobody has to sign in. MCP servers that the editor offers are accepted and not used: the agent's tools are
Redraft's own.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
from typing import TYPE_CHECKING, Any, TypeVar

from acp.exceptions import RequestError
from acp.helpers import update_available_commands, update_current_mode
from acp.meta import PROTOCOL_VERSION
from acp.schema import (
    AgentCapabilities,
    AuthMethodAgent,
    AvailableCommand,
    AvailableCommandInput,
    ClientCapabilities,
    CloseSessionResponse,
    ConfigOptionUpdate,
    Implementation,
    InitializeResponse,
    ListSessionsResponse,
    LoadSessionResponse,
    McpCapabilities,
    NewSessionResponse,
    PromptCapabilities,
    ResumeSessionResponse,
    SessionCapabilities,
    SessionCloseCapabilities,
    SessionConfigOptionSelect,
    SessionConfigSelectOption,
    SessionInfo,
    SessionInfoUpdate,
    SessionListCapabilities,
    SessionMode,
    SessionModeState,
    SessionResumeCapabilities,
    SetSessionConfigOptionResponse,
    SetSessionModeResponse,
    UnstructuredCommandInput,
)

from redraft import __version__
from redraft.acp_server.client_session import ClientSession, OpenFolder
from redraft.acp_server.prompt import read_prompt
from redraft.acp_server.prompt_run import PromptRun
from redraft.acp_server.replay import replay
from redraft.agent.store.events import iso
from redraft.errors import RedraftError, Refused
from redraft.providers.models import OFFLINE
from redraft.runtime import models, state_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Sequence

    from acp.interfaces import Client
    from acp.schema import PromptResponse

    from redraft.acp_server.prompt import PromptInput
    from redraft.agent.store.jobs import Job
    from redraft.agent.store.sessions import Session

    Handler = TypeVar("Handler", bound=Callable[..., Awaitable[Any]])

INVALID_REQUEST, INVALID_PARAMS, INTERNAL_ERROR, NOT_FOUND = -32600, -32602, -32603, -32002
ERROR_CODES = {"conflict": INVALID_REQUEST, "not_found": NOT_FOUND, "io_error": INTERNAL_ERROR, "busy": INTERNAL_ERROR}
PAGE = 50
MAX_TITLE = 80
DEFAULT_MODEL = "default"
MODE_NAMES = {
    "read": ("Read", "Only reads and answers."),
    "propose": ("Propose", "Changes wait for your review in Redraft; nothing is written before you accept."),
    "apply": ("Apply", "Changes are written at once and can be undone."),
    "merge": ("Merge", "Changes are written at once, merged with what you typed meanwhile."),
}
COMMANDS = (
    ("remember", "Remember a preference, or with `here:` something about this folder", "Use British spelling."),
    ("forget", "Forget what was remembered", "Use British spelling."),
)
SETTINGS_METHOD = AuthMethodAgent(
    id="settings",
    name="Redraft's settings",
    description="Nothing to sign in to: models come from Redraft's settings and from keys in the environment. "
    "`redraft models` lists them.",
)


def protocol_errors(handler: Handler) -> Handler:
    """Answer our own errors as the protocol has them."""

    @functools.wraps(handler)
    async def answer(*arguments: Any, **named: Any) -> Any:
        try:
            return await handler(*arguments, **named)
        except RedraftError as error:
            code = ERROR_CODES.get(error.code, INVALID_PARAMS if isinstance(error, Refused) else INTERNAL_ERROR)
            raise RequestError(code, error.message, error.as_dict()) from error

    return answer  # pyright: ignore[reportReturnType]


class AcpAgent:
    """The agent as one editor sees it. Its methods are what the SDK calls for each request."""

    def __init__(self, client: Client, folder: str | None, mode: str | None, model: str) -> None:
        self._client = client
        self._folder = folder
        self._mode = mode
        self._model = model
        self._folders: dict[str, OpenFolder] = {}
        self._sessions: dict[str, ClientSession] = {}
        self._abilities = ClientCapabilities()
        self._opening = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.get_running_loop()

    def close(self) -> None:
        """Leave running jobs as they are, and forget sessions in which nothing was said."""
        for session in self._sessions.values():
            sessions = session.folder.agent.store.sessions
            with contextlib.suppress(RedraftError):  # somebody else deleted it
                if not sessions.get(session.id).chat:
                    sessions.remove(session.id)
        for folder in self._folders.values():
            folder.close()

    # The connection

    @protocol_errors
    async def initialize(
        self, protocol_version: int, client_capabilities: ClientCapabilities | None = None, **_: Any
    ) -> InitializeResponse:
        self._abilities = client_capabilities or ClientCapabilities()
        return InitializeResponse(
            protocol_version=PROTOCOL_VERSION,  # the only one that we speak, whatever the editor's newest is
            agent_info=Implementation(name="redraft", title="Redraft", version=__version__),
            agent_capabilities=AgentCapabilities(
                load_session=True,
                prompt_capabilities=PromptCapabilities(embedded_context=True),
                mcp_capabilities=McpCapabilities(http=True),
                session_capabilities=SessionCapabilities(
                    list=SessionListCapabilities(),
                    resume=SessionResumeCapabilities(),
                    close=SessionCloseCapabilities(),
                ),
            ),
            auth_methods=[SETTINGS_METHOD],
        )

    @protocol_errors
    async def authenticate(self, method_id: str, **_: Any) -> None:
        if method_id != SETTINGS_METHOD.id:
            raise RequestError(INVALID_PARAMS, f"There is no way to sign in called {method_id!r}.")

    # Sessions

    @protocol_errors
    async def new_session(self, cwd: str, **_: Any) -> NewSessionResponse:
        folder = await self._open(cwd)
        created = await asyncio.to_thread(folder.agent.store.sessions.create)
        session = self._add(created, folder, cwd, None)
        self._announce(session)
        return NewSessionResponse(
            session_id=session.id, modes=self._modes(session), config_options=self._options(session)
        )

    @protocol_errors
    async def load_session(self, cwd: str, session_id: str, **_: Any) -> LoadSessionResponse:
        session = await self._find(cwd, session_id)
        for update in await asyncio.to_thread(replay, session):
            await self._client.session_update(session.id, update)
        self._announce(session)
        return LoadSessionResponse(modes=self._modes(session), config_options=self._options(session))

    @protocol_errors
    async def resume_session(self, session_id: str, cwd: str, **_: Any) -> ResumeSessionResponse:
        session = await self._find(cwd, session_id)
        self._announce(session)
        return ResumeSessionResponse(modes=self._modes(session), config_options=self._options(session))

    @protocol_errors
    async def close_session(self, session_id: str, **_: Any) -> CloseSessionResponse:
        self._session(session_id)
        await self.cancel(session_id)
        del self._sessions[session_id]
        return CloseSessionResponse()

    @protocol_errors
    async def list_sessions(self, cwd: str | None = None, cursor: str | None = None, **_: Any) -> ListSessionsResponse:
        if cursor is not None and not cursor.isdecimal():
            raise RequestError(INVALID_PARAMS, "There is no such page.")
        at = int(cursor or 0)
        found: list[SessionInfo] = []
        for folder in await self._find_folders_to_list(cwd):
            found += await asyncio.to_thread(_session_infos, folder, cwd or folder.path)
        found.sort(key=lambda info: info.updated_at or "", reverse=True)
        more = str(at + PAGE) if at + PAGE < len(found) else None
        return ListSessionsResponse(sessions=found[at : at + PAGE], next_cursor=more)

    async def _find_folders_to_list(self, cwd: str | None) -> list[OpenFolder]:
        """The folder that is named; without one, those that are open, or the one in which the program runs."""
        if cwd is not None or self._folder is not None:
            return [await self._open(cwd or os.getcwd())]
        if not self._folders and state_of(os.getcwd()) is not None:
            return [await self._open(os.getcwd())]
        return list(self._folders.values())

    async def _open(self, cwd: str) -> OpenFolder:
        if not os.path.isabs(cwd):
            raise RequestError(INVALID_PARAMS, "The working folder must be an absolute path.")
        path = self._folder or cwd
        key = await asyncio.to_thread(_real_folder, path)
        async with self._opening:
            if key not in self._folders:
                folder = await asyncio.to_thread(OpenFolder, path)
                if self._abilities.fs is not None and self._abilities.fs.read_text_file:
                    folder.agent.environment.fetch_unsaved = self._fetch_for_job
                self._folders[key] = folder
            return self._folders[key]

    async def _find(self, cwd: str, session_id: str) -> ClientSession:
        """A stored session, opened with the mode and the model of its last job."""
        folder = await self._open(cwd)
        stored = await asyncio.to_thread(folder.agent.store.sessions.get, session_id)
        jobs = await asyncio.to_thread(folder.agent.store.jobs.of_session, session_id)
        known = self._sessions.get(session_id)
        if known is not None and known.run is not None:
            raise RequestError(INVALID_REQUEST, "A prompt is running in this session.")
        return self._add(stored, folder, cwd, jobs[-1] if jobs else None)

    def _add(self, stored: Session, folder: OpenFolder, cwd: str, last: Job | None) -> ClientSession:
        modes = folder.modes
        wanted = (last and last.mode, self._mode, folder.workspace.settings.mode)
        mode = next((each for each in wanted if each in modes), modes[-1])
        model = last.model if last is not None else self._model
        session = ClientSession(stored.id, folder, cwd, mode, model)
        self._sessions[session.id] = session
        return session

    def _session(self, session_id: str) -> ClientSession:
        if session_id not in self._sessions:
            raise RequestError(NOT_FOUND, f"There is no open session {session_id[:60]!a}.")
        return self._sessions[session_id]

    def _announce(self, session: ClientSession) -> None:
        """Tell the commands once the session's answer is out: before it, the editor does not know the session."""
        commands = [
            AvailableCommand(
                name=name,
                description=description,
                input=AvailableCommandInput(root=UnstructuredCommandInput(hint=hint)),
            )
            for name, description, hint in COMMANDS
        ]
        self._later(self._client.session_update(session.id, update_available_commands(commands)))

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)  # the event loop alone would let it be collected
        task.add_done_callback(self._tasks.discard)

    # Modes and models

    @protocol_errors
    async def set_session_mode(self, session_id: str, mode_id: str, **_: Any) -> SetSessionModeResponse:
        await self._set_mode(self._session(session_id), mode_id)
        return SetSessionModeResponse()

    @protocol_errors
    async def set_config_option(
        self, config_id: str, session_id: str, value: str | bool, **_: Any
    ) -> SetSessionConfigOptionResponse:
        session = self._session(session_id)
        if config_id == "mode":
            await self._set_mode(session, str(value))
        elif config_id == "model":
            if value not in _model_names(session.model):
                raise RequestError(INVALID_PARAMS, f"There is no model {str(value)[:60]!a}.")
            session.model = "" if value == DEFAULT_MODEL else str(value)
        else:
            raise RequestError(INVALID_PARAMS, f"There is no option {config_id[:60]!a}.")
        return SetSessionConfigOptionResponse(config_options=self._options(session))

    async def _set_mode(self, session: ClientSession, mode: str) -> None:
        if mode not in session.folder.modes:
            allowed = ", ".join(session.folder.modes)
            raise RequestError(INVALID_PARAMS, f"There is no mode {mode[:60]!a} here; choose one of: {allowed}.")
        session.mode = mode
        self._later(self._client.session_update(session.id, update_current_mode(mode)))
        options = ConfigOptionUpdate(session_update="config_option_update", config_options=self._options(session))
        self._later(self._client.session_update(session.id, options))

    def _modes(self, session: ClientSession) -> SessionModeState:
        modes = [
            SessionMode(id=mode, name=MODE_NAMES[mode][0], description=MODE_NAMES[mode][1])
            for mode in session.folder.modes
        ]
        return SessionModeState(current_mode_id=session.mode, available_modes=modes)

    def _options(self, session: ClientSession) -> Any:
        """The same choices in the form that takes their place in newer editors, and the models."""
        modes = [
            SessionConfigSelectOption(value=mode, name=MODE_NAMES[mode][0], description=MODE_NAMES[mode][1])
            for mode in session.folder.modes
        ]
        named = [
            SessionConfigSelectOption(value=value, name=name) for value, name in _model_names(session.model).items()
        ]
        return [
            SessionConfigOptionSelect(
                id="mode", name="Mode", category="mode", type="select", current_value=session.mode, options=modes
            ),
            SessionConfigOptionSelect(
                id="model",
                name="Model",
                category="model",
                type="select",
                current_value=session.model or DEFAULT_MODEL,
                options=named,
            ),
        ]

    # Prompts

    @protocol_errors
    async def prompt(self, session_id: str, prompt: Sequence[object], **_: Any) -> PromptResponse:
        session = self._session(session_id)
        if session.run is not None:
            raise RequestError(INVALID_REQUEST, "A prompt is already running in this session; cancel it first.")
        run = session.run = PromptRun(session, self._client, self._abilities)
        try:
            asks = session.folder.agent.environment.fetch_unsaved is not None
            request = await asyncio.to_thread(_read_prompt, session.folder, prompt, asks_editor=asks)
            if asks:
                await self._fetch(session, [*session.folder.buffers.paths, *request.documents])
            answer = await run.run(request)
        finally:
            session.run = None
        await self._tell_title(session)
        return answer

    async def cancel(self, session_id: str, **_: Any) -> None:
        session = self._sessions.get(session_id)
        if session is not None and session.run is not None:
            await session.run.cancel()

    async def _tell_title(self, session: ClientSession) -> None:
        stored = await asyncio.to_thread(session.folder.agent.store.sessions.get, session.id)
        update = SessionInfoUpdate(
            session_update="session_info_update", title=_title(stored), updated_at=iso(stored.updated_at)
        )
        await self._client.session_update(session.id, update)

    # The editor's buffers

    async def _fetch(self, session: ClientSession, paths: Sequence[str]) -> None:
        async def read(path: str) -> str:
            name = os.path.join(session.folder.path, path)
            return (await self._client.read_text_file(session_id=session.id, path=name)).content

        await session.folder.buffers.fetch(paths, read)

    async def _fetch_for_job(self, job: Job, paths: Sequence[str]) -> None:
        """The same for a job, which awaits it on its own event loop."""
        session = self._sessions.get(job.session_id)
        if session is not None:
            await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._fetch(session, paths), self._loop))


def _real_folder(path: str) -> str:
    if not os.path.isdir(path):
        raise RequestError(INVALID_PARAMS, f"There is no folder {path}.")
    return os.path.realpath(path)


def _read_prompt(folder: OpenFolder, prompt: Sequence[object], *, asks_editor: bool) -> PromptInput:
    with folder.agent.environment.guard:
        return read_prompt(prompt, folder.workspace, asks_editor=asks_editor)


def _model_names(chosen: str) -> dict[str, str]:
    """The models that can be chosen, with the names that the editor shows; among them the one that was chosen, which
    may be any of a provider's."""
    found = models()
    usual = ", ".join(found.default_names) or "offline assistant, no model is set up"
    named = {name: name for name in (*found.known, chosen) if name}
    return {DEFAULT_MODEL: f"Default ({usual})", **named, OFFLINE: "Offline assistant"}


def _title(session: Session) -> str:
    first = next((entry.text for entry in session.chat if entry.role == "user"), "")
    return (session.title or " ".join(first.split()))[:MAX_TITLE]


def _session_infos(folder: OpenFolder, cwd: str) -> list[SessionInfo]:
    """The sessions of a folder in which anything was said."""
    sessions = folder.agent.store.sessions
    found = [session for name in sessions.all() if (session := sessions.get(name)).chat and session.status == "active"]
    return [
        SessionInfo(session_id=each.id, cwd=cwd, title=_title(each), updated_at=iso(each.updated_at)) for each in found
    ]
