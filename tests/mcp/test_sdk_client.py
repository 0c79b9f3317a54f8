"""The official SDK's own client lists and calls our tools."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

STORY = "# Story\n\nThe hero John walked in.\n"


async def talk(folder: Path) -> dict[str, Any]:
    from mcp import Client, StdioServerParameters

    environment = {**os.environ, "XDG_STATE_HOME": str(folder.parent / "state")}
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "redraft", "mcp", str(folder), "--profile", "all"], env=environment
    )
    heard: dict[str, Any] = {}
    async with Client(server) as client:
        heard["tools"] = [tool.name for tool in (await client.list_tools()).tools]
        heard["read"] = await client.call_tool("read_document", {"path": "story.md"})
        heard["edit"] = await client.call_tool(
            "edit_text", {"path": "story.md", "old_text": "John", "new_text": "James"}
        )
        heard["refused"] = await client.call_tool("read_document", {"path": "nowhere.md"})
        heard["resource"] = await client.read_resource("redraft://documents/story.md")
        heard["prompts"] = [prompt.name for prompt in (await client.list_prompts()).prompts]
        deaf: list[str] = []
        for tool in (await client.list_tools()).tools:
            answer = await client.call_tool(tool.name, {"surprise": 1})
            if not answer.is_error and "surprise" not in str(answer):
                deaf.append(tool.name)
        heard["failures"] = deaf
    return heard


@pytest.mark.slow
def test_the_official_client_lists_and_calls_every_tool(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "story.md").write_text(STORY, encoding="utf-8")
    heard = asyncio.run(talk(folder))
    assert {"read_document", "edit_text", "batch"} <= set(heard["tools"])
    assert heard["read"].structured_content["content"] == STORY
    assert heard["edit"].is_error is False
    assert heard["refused"].is_error is True
    assert "James" in heard["resource"].contents[0].text
    assert "rename" in heard["prompts"]
    assert heard["failures"] == [], "an unknown argument was taken without a word"
    assert (folder / "story.md").read_text(encoding="utf-8") == STORY.replace("John", "James")
