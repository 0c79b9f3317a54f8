# ruff: noqa: ASYNC110, ASYNC230, ASYNC240 - it does one thing at a time
"""An agent program over ACP that plays the steps of its prompt, a list in JSON: `{"say": TEXT}`, `{"shell": COMMAND}`,
`{"edit": [PATH, OLD, NEW]}` and what else the methods `do_...` below know.

It keeps what it was asked in the folder of the variable AGENT_HOME, so that it can load a session in a new process.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from typing import Any

from acp import PROTOCOL_VERSION, RequestError, run_agent
from acp.helpers import update_agent_message_text, update_agent_thought_text
from acp.schema import (
    AgentCapabilities,
    AgentPlanUpdate,
    AuthMethodAgent,
    AvailableCommand,
    AvailableCommandsUpdate,
    ContentToolCallContent,
    Cost,
    ElicitationFormSessionMode,
    ElicitationSchema,
    FileEditToolCallContent,
    Implementation,
    InitializeResponse,
    LoadSessionResponse,
    NewSessionResponse,
    PermissionOption,
    PlanEntry,
    PromptResponse,
    SessionConfigOptionSelect,
    SessionConfigSelectOption,
    SessionMode,
    SessionModeState,
    SetSessionConfigOptionResponse,
    SetSessionModeResponse,
    TextContentBlock,
    ToolCallLocation,
    ToolCallProgress,
    ToolCallStart,
    ToolCallUpdate,
    Usage,
    UsageUpdate,
)

HOME = os.environ.get("AGENT_HOME", "")
SIGNED_OUT = "signed-out" in sys.argv
DEAF = "no-load" in sys.argv


class ScriptedAgent:
    def __init__(self) -> None:
        self.mode, self.model, self.calls = "careful", "small", 0

    def on_connect(self, client: Any) -> None:
        self.client = client

    async def initialize(self, protocol_version: int, **_more: Any) -> InitializeResponse:
        return InitializeResponse(
            protocol_version=PROTOCOL_VERSION,
            agent_capabilities=AgentCapabilities(load_session=bool(HOME) and not DEAF),
            agent_info=Implementation(name="scripted", version="1.5"),
            auth_methods=[
                AuthMethodAgent(id="login", name="Log in", description="Run `scripted login` in a terminal.")
            ],
        )

    async def new_session(self, cwd: str, mcp_servers: Any = (), **_more: Any) -> NewSessionResponse:
        if SIGNED_OUT:
            raise RequestError.auth_required()
        self.begin(cwd, mcp_servers)
        return NewSessionResponse(session_id="s1", modes=self.modes(), config_options=self.options())

    async def load_session(self, cwd: str, session_id: str, mcp_servers: Any = (), **_more: Any) -> LoadSessionResponse:
        self.begin(cwd, mcp_servers)
        with open(f"{HOME}/{session_id}", encoding="utf-8") as file:
            for line in file:
                await self.update(update_agent_message_text(f"replayed {line}"))
        return LoadSessionResponse(modes=self.modes(), config_options=self.options())

    def begin(self, cwd: str, servers: Any) -> None:
        self.cwd, self.servers = cwd, servers

    def modes(self) -> SessionModeState:
        known = [SessionMode(id=name, name=name.title()) for name in ("careful", "bold")]
        return SessionModeState(current_mode_id=self.mode, available_modes=known)

    def options(self) -> list[Any]:
        sizes = [SessionConfigSelectOption(value=size, name=size.title()) for size in ("small", "large")]
        return [
            SessionConfigOptionSelect(
                id="model", name="Model", category="model", current_value=self.model, options=sizes, type="select"
            )
        ]

    async def set_session_mode(self, session_id: str, mode_id: str, **_more: Any) -> SetSessionModeResponse:
        self.mode = mode_id
        return SetSessionModeResponse()

    async def set_config_option(self, config_id: str, session_id: str, value: Any, **_more: Any) -> Any:
        self.model = str(value)
        return SetSessionConfigOptionResponse(config_options=self.options())

    async def cancel(self, session_id: str, **_more: Any) -> None:
        """As one real agent, it lets a command run on."""

    async def prompt(self, session_id: str, prompt: Any, **_more: Any) -> PromptResponse:
        words = prompt[0].text
        if HOME:
            with open(f"{HOME}/{session_id}", "a", encoding="utf-8") as file:
                file.write(words.replace("\n", " ") + "\n")
        sys.stderr.write("x" * 2_000_000)
        commands = [AvailableCommand(name="tidy", description="Tidy up the folder")]
        await self.update(
            AvailableCommandsUpdate(available_commands=commands, session_update="available_commands_update")
        )
        steps = json.loads(words[words.index("[{") :])
        if words.startswith("You were interrupted"):
            steps = [step for step in steps if "wait" not in step]
            await self.update(update_agent_message_text("I go on. "))
        for step in steps:
            [*names] = step
            await getattr(self, f"do_{names[0]}")(step)
        usage = Usage(total_tokens=1500, input_tokens=1200, output_tokens=300)
        return PromptResponse(stop_reason="end_turn", usage=usage)

    async def update(self, update: Any) -> None:
        await self.client.session_update(session_id="s1", update=update)

    async def do_say(self, step: Any) -> None:
        await self.update(update_agent_message_text(step["say"]))

    async def do_think(self, step: Any) -> None:
        await self.update(update_agent_thought_text(step["think"]))

    async def do_plan(self, step: Any) -> None:
        entries = [PlanEntry(content=text, priority="medium", status=status) for text, status in step["plan"]]
        await self.update(AgentPlanUpdate(entries=entries, session_update="plan"))

    async def do_usage(self, step: Any) -> None:
        used, size, cost = step["usage"]
        money = Cost(amount=cost, currency="USD")
        await self.update(UsageUpdate(used=used, size=size, cost=money, session_update="usage_update"))

    async def do_options(self, _step: Any) -> None:
        await self.update(update_agent_message_text(f"mode {self.mode}, model {self.model}"))

    async def do_wait(self, step: Any) -> None:
        while not os.path.exists(step["wait"]):
            await asyncio.sleep(0.05)

    def start(self, title: str, kind: Any, **more: Any) -> ToolCallStart:
        self.calls += 1
        return ToolCallStart(
            tool_call_id=f"c{self.calls}", title=title, kind=kind, status="pending", session_update="tool_call", **more
        )

    async def finish(self, status: Any, **more: Any) -> None:
        await self.update(
            ToolCallProgress(tool_call_id=f"c{self.calls}", status=status, session_update="tool_call_update", **more)
        )

    async def do_shell(self, step: Any) -> None:
        await self.update(self.start(f"`{step['shell']}`", "execute", raw_input={"command": step["shell"]}))
        shell = await asyncio.create_subprocess_exec(
            "sh", "-c", step["shell"], cwd=self.cwd, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE
        )
        told, _ = await shell.communicate()
        text = ContentToolCallContent(type="content", content=TextContentBlock(type="text", text=told.decode()))
        await self.finish("failed" if shell.returncode else "completed", content=[text])

    async def do_edit(self, step: Any) -> None:
        name, old, new = step["edit"]
        path = os.path.join(self.cwd, name)
        diff = FileEditToolCallContent(type="diff", path=path, old_text=old, new_text=new)
        places = [ToolCallLocation(path=path)]
        start = self.start(f"Edit {name}", "edit", content=[diff], locations=places)
        await self.update(start)
        if await self.is_allowed(start):
            with open(path, encoding="utf-8") as file:
                text = file.read()
            with open(path, "w", encoding="utf-8") as file:
                file.write(text.replace(old, new))
            await self.finish("completed")
        else:
            await self.finish("failed")

    async def do_ask(self, step: Any) -> None:
        start = self.start(step["ask"], step["kind"])
        await self.update(start)
        allowed = await self.is_allowed(start)
        await self.finish("completed" if allowed else "failed")
        await self.update(update_agent_message_text("allowed. " if allowed else "refused. "))

    async def is_allowed(self, start: ToolCallStart) -> bool:
        options = [
            PermissionOption(option_id="yes", name="Allow", kind="allow_once"),
            PermissionOption(option_id="ever", name="Always", kind="allow_always"),
            PermissionOption(option_id="no", name="Reject", kind="reject_once"),
        ]
        call = ToolCallUpdate(tool_call_id=start.tool_call_id, title=start.title, kind=start.kind)
        answer = await self.client.request_permission(session_id="s1", tool_call=call, options=options)
        return getattr(answer.outcome, "option_id", "") == "yes"

    async def do_form(self, step: Any) -> None:
        schema = ElicitationSchema.model_validate(step["form"])
        mode = ElicitationFormSessionMode(session_id="s1", requested_schema=schema)
        answer = await self.client.create_elicitation(message=step.get("message", "Tell me."), mode=mode)
        await self.update(update_agent_message_text(f"heard {json.dumps(getattr(answer, 'content', None))}"))

    async def do_tool(self, step: Any) -> None:
        """Call one of Redraft's tools, as an agent does that starts the servers it was given."""
        [server] = self.servers
        own = {**os.environ, **{each.name: each.value for each in server.env}}
        process = await asyncio.create_subprocess_exec(
            server.command, *server.args, env=own, cwd=self.cwd, stdin=-1, stdout=-1
        )
        assert process.stdin is not None
        assert process.stdout is not None
        about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "agent", "version": "1"}}
        call = {"name": step["tool"], "arguments": step["args"]}
        answer = b""
        for number, (method, params) in enumerate([("initialize", about), ("tools/call", call)]):
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            process.stdin.write(json.dumps(message).encode() + b"\n")
            if not number:
                process.stdin.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
            answer = await process.stdout.readline()
        process.stdin.close()
        with contextlib.suppress(ProcessLookupError):
            await process.wait()
        await self.update(update_agent_message_text(f"tool said {json.loads(answer)}"))


asyncio.run(run_agent(ScriptedAgent(), use_unstable_protocol=True))  # pyright: ignore[reportArgumentType]
