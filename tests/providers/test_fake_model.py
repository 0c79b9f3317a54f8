"""Whole conversations with the shared scripted endpoint, which speaks all four wire formats in a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from redraft.providers.adapters.remote import Address, RemoteProvider
from redraft.providers.contract import (
    Message,
    ProviderError,
    ProviderStepResult,
    StepRequest,
    ToolResult,
    UserMessage,
)
from tests.providers.shapes import SEARCH

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Loading the library takes seconds, whichever test comes first.
pytestmark = pytest.mark.slow
SCRIPT = [
    {"tool": "search", "args": {"query": "harbour", "limit": 2}},
    {"tool": "search", "args": {"query": "$version"}},
    {"text": "The harbour is in chapter two."},
]
WIRES = [("anthropic", ""), ("openai", "/v1"), ("openai_responses", "/v1"), ("google", ""), ("compatible", "/v1")]
# The endpoint streams no words in the format of responses: the last test is about that.
CASES = [
    (kind, path, streaming)
    for kind, path in WIRES
    for streaming in (False, True)
    if not (streaming and kind == "openai_responses")
]


@pytest.fixture
def fake_model(material: Path, tmp_path: Path, model_calls: None) -> Iterator[str]:
    program = material.parent / "clients" / "fake_model.py"
    if not program.is_file():
        pytest.skip("the shared scripted endpoint is not beside this checkout")
    with socket.socket() as chosen:
        chosen.bind(("127.0.0.1", 0))
        port = chosen.getsockname()[1]
    script = tmp_path / "script.json"
    script.write_text(json.dumps(SCRIPT), encoding="utf-8")
    command = [sys.executable, str(program), str(port), str(script), str(tmp_path / "log.jsonl")]
    with subprocess.Popen(command) as process:
        try:
            _wait_for(port)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()


def _wait_for(port: int) -> None:
    until = time.monotonic() + 30
    while time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    pytest.fail("the scripted endpoint did not start")


async def converse(provider: RemoteProvider, *, streaming: bool) -> list[ProviderStepResult]:
    """A loop in its smallest form: the same for every provider."""
    talk: list[Message] = [UserMessage("Where is the harbour?")]
    async with contextlib.aclosing(provider):
        return await _steps(provider, talk, streaming)


async def _steps(provider: RemoteProvider, talk: list[Message], streaming: bool) -> list[ProviderStepResult]:
    steps: list[ProviderStepResult] = []
    while not steps or steps[-1].tool_calls:
        request = StepRequest(tuple(talk), (SEARCH,))
        if streaming:
            items = [item async for item in provider.stream_step(request)]
            assert isinstance(items[-1], ProviderStepResult)
            steps.append(items[-1])
        else:
            steps.append(await provider.run_step(request))
        talk.append(steps[-1].message)
        for call in steps[-1].tool_calls:
            talk.append(ToolResult(call.id, call.name, True, {"version": "42-9f3a", "results": []}))  # noqa: PERF401
    return steps


@pytest.mark.covers("SB-call-mapped")
@pytest.mark.parametrize(("kind", "path", "streaming"), CASES)
def test_a_conversation_is_the_same_over_every_wire(fake_model: str, kind: str, path: str, streaming: bool):
    provider = RemoteProvider(Address(kind, "claude-haiku-4-5", "k", fake_model + path))
    steps = asyncio.run(converse(provider, streaming=streaming))
    asked = [call.arguments for step in steps for call in step.tool_calls]
    assert asked == [{"query": "harbour", "limit": 2}, {"query": "42-9f3a"}]
    assert steps[-1].text == "The harbour is in chapter two."
    assert steps[-1].finish == "stop"


def test_words_that_were_counted_and_never_came_are_a_failure_and_not_an_empty_answer(fake_model: str):
    provider = RemoteProvider(Address("openai_responses", "gpt-5-mini", "k", fake_model + "/v1"))
    with pytest.raises(ProviderError, match="answer is empty"):
        asyncio.run(converse(provider, streaming=True))
