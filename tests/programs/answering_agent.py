"""An agent program over ACP that changes a story and a document of its own, and answers in a patch block."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from acp import PROTOCOL_VERSION, run_agent
from acp.helpers import update_agent_message_text
from acp.schema import InitializeResponse, NewSessionResponse, PromptResponse

SIGN = Path(sys.argv[1])


class AnsweringAgent:
    def on_connect(self, client: Any) -> None:
        self.client = client

    async def initialize(self, protocol_version: int, **_more: Any) -> InitializeResponse:
        return InitializeResponse(protocol_version=PROTOCOL_VERSION)

    async def new_session(self, cwd: str, **_more: Any) -> NewSessionResponse:
        self.folder = Path(cwd)
        return NewSessionResponse(session_id="s1")

    async def prompt(self, session_id: str, prompt: Any, **_more: Any) -> PromptResponse:
        asked = prompt[0].text
        story = self.folder / "story.md"
        story.write_text(story.read_text(encoding="utf-8").replace("dark", "bright"), encoding="utf-8")
        (self.folder / "new.md").write_text("new\n", encoding="utf-8")
        if "Wait." in asked:
            SIGN.write_text("begun", encoding="utf-8")  # noqa: ASYNC240 - there is nothing else to do meanwhile
            await asyncio.sleep(3600)
        said = "" if "Say nothing." in asked else "<!-- patch:exchange -->\nIt is bright.\n<!-- /patch:exchange -->"
        await self.client.session_update(session_id=session_id, update=update_agent_message_text(said))
        return PromptResponse(stop_reason="end_turn")


asyncio.run(run_agent(AnsweringAgent()))  # pyright: ignore[reportArgumentType]
