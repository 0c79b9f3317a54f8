"""An editor that drives `redraft acp` as a program, through the protocol's own SDK.

It keeps everything that reaches it, holds buffers of its own, and answers what it is asked as the test says.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from acp import spawn_agent_process, text_block
from acp.exceptions import RequestError
from acp.schema import (
    AcceptElicitationResponse,
    AllowedOutcome,
    ClientCapabilities,
    DeniedOutcome,
    ElicitationCapabilities,
    ElicitationFormCapabilities,
    FileSystemCapabilities,
    ReadTextFileResponse,
    RequestPermissionResponse,
)

from tests.cli.running import COMMAND, PATIENCE

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from acp.client.connection import ClientSideConnection
    from acp.connection import StreamEvent
    from acp.schema import NewSessionResponse, PermissionOption, ToolCallUpdate

    from tests.cli.running import Program


@dataclass
class Editor:
    """The person's side. `choose` picks the option of a permission request (None: the prompt is cancelled), `answer` is
    what they write into a form; `buffers` are texts by path that differ from the disk, or do not."""

    program: Program
    choose: Callable[[list[PermissionOption]], str | None] = lambda _options: "reject"
    answer: str | None = None
    buffers: dict[str, str] | None = None
    updates: list[Any] = field(default_factory=list[Any])
    asked: list[ToolCallUpdate] = field(default_factory=list[Any])
    options: list[list[PermissionOption]] = field(default_factory=list[Any])
    questions: list[str] = field(default_factory=list[str])
    read: list[str] = field(default_factory=list[str])
    lines: list[dict[str, Any]] = field(default_factory=list[Any])
    on_update: Callable[[Any], Awaitable[None]] | None = None
    agent: ClientSideConnection = field(init=False)
    process: asyncio.subprocess.Process = field(init=False)

    def on_connect(self, conn: Any) -> None:
        """Nothing to do."""

    # What the agent asks of it

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.updates.append(update)
        if self.on_update is not None:
            await self.on_update(update)

    async def request_permission(
        self, session_id: str, tool_call: ToolCallUpdate, options: list[PermissionOption], **_: Any
    ) -> RequestPermissionResponse:
        self.asked.append(tool_call)
        self.options.append(options)
        chosen = self.choose(options)
        if chosen is None:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=chosen))

    async def read_text_file(self, path: str, session_id: str, **_: Any) -> ReadTextFileResponse:
        self.read.append(path)
        name = path.removeprefix(f"{self.program.folder}/")
        if self.buffers is not None and name in self.buffers:
            return ReadTextFileResponse(content=self.buffers[name])
        try:
            return ReadTextFileResponse(content=(self.program.folder / name).read_bytes().decode())
        except FileNotFoundError as error:
            raise RequestError.resource_not_found(path) from error

    async def create_elicitation(self, message: str, mode: Any, **_: Any) -> Any:
        self.questions.append(message)
        return AcceptElicitationResponse(action="accept", content={"answer": self.answer})

    def _keep(self, event: StreamEvent) -> None:
        self.lines.append(event.message)

    # What the person does

    @contextlib.asynccontextmanager
    async def connected(self, *arguments: str, initialize: bool = True, status: int = 0) -> AsyncGenerator[Editor]:
        """The agent, started as a program; it has to end by itself once its input is closed."""
        with (self.program.home / "acp-stderr.txt").open("wb") as stderr:
            async with (
                spawn_agent_process(
                    self,  # type: ignore[arg-type]
                    COMMAND[0],
                    *COMMAND[1:],
                    "acp",
                    *arguments,
                    env=self.program.environment,
                    cwd=self.program.home,
                    transport_kwargs={"stderr": stderr, "shutdown_timeout": PATIENCE},
                    use_unstable_protocol=True,
                    observers=[self._keep],
                ) as (agent, process)
            ):
                self.agent, self.process = agent, process
                if initialize:
                    await agent.initialize(protocol_version=1, client_capabilities=self.abilities)
                yield self
        assert (process.returncode, self.stderr) == (status, "")

    @property
    def abilities(self) -> ClientCapabilities:
        forms = None if self.answer is None else ElicitationCapabilities(form=ElicitationFormCapabilities())
        files = FileSystemCapabilities(read_text_file=self.buffers is not None, write_text_file=True)
        return ClientCapabilities(fs=files, elicitation=forms)

    @property
    def stderr(self) -> str:
        return (self.program.home / "acp-stderr.txt").read_text(encoding="utf-8")

    async def new(self) -> NewSessionResponse:
        return await self.agent.new_session(cwd=str(self.program.folder), mcp_servers=[])

    async def ask(self, session_id: str, *blocks: Any) -> Any:
        """A prompt; texts may be given as they are."""
        prompt = [text_block(block) if isinstance(block, str) else block for block in blocks]
        return await asyncio.wait_for(self.agent.prompt(session_id=session_id, prompt=prompt), PATIENCE)

    # What was shown

    def of_kind(self, kind: str) -> list[Any]:
        return [update for update in self.updates if update.session_update == kind]

    @property
    def said(self) -> str:
        return "".join(update.content.text for update in self.of_kind("agent_message_chunk"))

    @property
    def thought(self) -> str:
        return "".join(update.content.text for update in self.of_kind("agent_thought_chunk"))

    @property
    def diffs(self) -> list[tuple[str, str | None, str]]:
        """The diffs of the calls that ended, by path in the folder."""
        found = [content for update in self.of_kind("tool_call_update") for content in update.content or ()]
        top = f"{self.program.folder}/"
        return [(each.path.removeprefix(top), each.old_text, each.new_text) for each in found if each.type == "diff"]

    @property
    def kinds(self) -> list[str]:
        """The kinds of all updates, in order, with repetitions told once."""
        found: list[str] = []
        for update in self.updates:
            if not found or found[-1] != update.session_update:
                found.append(update.session_update)
        return found


def tell(act: Awaitable[Any]) -> Any:
    """Run a story."""
    return asyncio.run(asyncio.wait_for(act, PATIENCE))  # type: ignore[arg-type]


def scripted(program: Program, *steps: dict[str, Any], more: str = "") -> None:
    """Let this be what the model `play` says."""
    script = program.home / "play.jsonl"
    script.write_text("".join(json.dumps(step) + "\n" for step in steps), encoding="utf-8")
    program.settings(f'{more}[models.play]\nkind = "scripted"\nfile = "{script}"\n[routing]\nagent_mode = "local"\n')
