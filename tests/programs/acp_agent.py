"""An agent program over ACP that runs its prompt as a shell command in its folder."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import Any

from acp import PROTOCOL_VERSION, run_agent
from acp.helpers import update_agent_message_text
from acp.schema import InitializeResponse, NewSessionResponse, PromptResponse


class ShellAgent:
    def on_connect(self, client: Any) -> None:
        self.client = client

    async def initialize(self, protocol_version: int, **_more: Any) -> InitializeResponse:
        return InitializeResponse(protocol_version=PROTOCOL_VERSION)

    async def new_session(self, cwd: str, **_more: Any) -> NewSessionResponse:
        self.cwd = cwd
        return NewSessionResponse(session_id="s1")

    async def prompt(self, session_id: str, prompt: Any, **_more: Any) -> PromptResponse:
        sys.stderr.write("x" * 2_000_000)
        words = ["sh", "-c", prompt[0].text]
        shell = await asyncio.create_subprocess_exec(*words, cwd=self.cwd, stdin=subprocess.DEVNULL)
        await shell.wait()
        await self.client.session_update(session_id=session_id, update=update_agent_message_text("Done."))
        return PromptResponse(stop_reason="end_turn")


asyncio.run(run_agent(ShellAgent()))  # pyright: ignore[reportArgumentType]
