"""The official SDK's own client, over both transports and in both eras, lists and calls every tool."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.server.serving import serving as served
from tests.speaking.lines import PATIENCE, environment, program
from tests.speaking.posts import serving

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator
    from pathlib import Path

    from mcp import Client

STORY = "# Story\n\nThe hero John walked in.\n"
ADDRESS = "redraft://documents/story.md"


@contextmanager
def transport(folder: Path, kind: str) -> Generator[Any]:
    """What the SDK's client connects to."""
    from mcp import StdioServerParameters

    command, *arguments = program(folder, "--profile", "all")
    streams = StdioServerParameters(command=command, args=arguments, env=environment(folder))
    if kind == "stdio":
        yield streams
        return
    if kind == "joined":
        with served(folder, REDRAFT_MODE="apply"):
            yield streams
        return
    with serving(folder, "--profile", "all") as server:
        yield server


@asynccontextmanager
async def connected(target: Any, kind: str, mode: Any, heard: dict[str, Any]) -> AsyncGenerator[Client]:
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client
    from mcp.types import ElicitRequestParams, ElicitResult

    async def answer(context: Any, params: ElicitRequestParams) -> ElicitResult:
        heard.setdefault("asked", []).append(params.message)
        return ElicitResult(action="accept", content={"agree": True, "answer": "The first."})

    if kind != "http":
        async with Client(target, mode=mode, elicitation_callback=answer) as client:
            yield client
        return
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {target.token}"}, timeout=PATIENCE) as http:
        carrier = streamable_http_client(target.url, http_client=http)
        async with Client(carrier, mode=mode, elicitation_callback=answer) as client:
            yield client


async def talk(target: Any, kind: str, mode: str) -> dict[str, Any]:
    heard: dict[str, Any] = {"progress": []}

    async def told(progress: float, total: float | None, message: str | None) -> None:
        heard["progress"].append((progress, total, message))

    async with connected(target, kind, mode, heard) as client:
        heard["protocol"] = client.session.protocol_version
        heard["tools"] = [tool.name for tool in (await client.list_tools()).tools]
        heard["read"] = await client.call_tool("read_document", {"path": "story.md"})
        edit = {"path": "story.md", "old_text": "John", "new_text": "James"}
        heard["edit"] = await client.call_tool("edit_text", edit)
        heard["refused"] = await client.call_tool("read_document", {"path": "nowhere.md"})
        heard["resource"] = await client.read_resource(ADDRESS)
        heard["resources"] = [entry.name for entry in (await client.list_resources()).resources]
        heard["prompts"] = [prompt.name for prompt in (await client.list_prompts()).prompts]
        heard["clarified"] = await client.call_tool("clarify_user", {"question": "Which of them?"})
        calls = [{"tool": "read_document", "arguments": {"path": "story.md"}} for _ in range(5)]
        heard["batch"] = await client.call_tool("batch", {"calls": calls}, progress_callback=told)
        deaf: list[str] = []
        for name in heard["tools"]:
            answer = await client.call_tool(name, {"surprise": 1})
            if not answer.is_error or "surprise" not in str(answer):
                deaf.append(name)
        heard["deaf"] = deaf
        heard["deleted"] = await client.call_tool("delete_document", {"path": "story.md"})
    return heard


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["stdio", "http", "joined"])
@pytest.mark.parametrize(("mode", "protocol"), [("legacy", "2025-11-25"), ("auto", "2026-07-28")])
def test_the_official_client_lists_and_calls_every_tool(folder: Path, kind: str, mode: str, protocol: str) -> None:
    with transport(folder, kind) as target:
        heard = asyncio.run(talk(target, kind, mode))
    assert heard["protocol"] == protocol
    assert {"read_document", "edit_text", "batch"} <= set(heard["tools"])
    assert heard["read"].structured_content["content"] == STORY
    assert heard["edit"].is_error is False
    assert heard["refused"].is_error is True
    assert "James" in heard["resource"].contents[0].text
    assert heard["resources"] == ["story.md"]
    assert "rename" in heard["prompts"]
    assert heard["clarified"].structured_content["answer"] == "The first."
    assert heard["progress"]
    assert heard["deaf"] == [], "an unknown argument was taken without a word"
    assert heard["deleted"].is_error is False
    assert heard["asked"] == ["Which of them?", "May the agent move story.md to the trash?\nstory.md"]
    assert not (folder / "story.md").exists()


async def follow(target: Any, kind: str, folder: Path) -> list[Any]:
    async with connected(target, kind, "auto", {}) as client, client.listen(resource_subscriptions=[ADDRESS]) as stream:
        await asyncio.to_thread((folder / "story.md").write_text, "changed\n", encoding="utf-8")
        async for event in stream:
            return [event]
    return []


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["stdio", "http", "joined"])
def test_the_official_client_hears_of_an_outside_change(folder: Path, kind: str) -> None:
    with transport(folder, kind) as target:
        (event,) = asyncio.run(follow(target, kind, folder))
    assert event.uri == ADDRESS
