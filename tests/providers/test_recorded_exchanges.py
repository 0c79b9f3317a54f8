"""Recorded exchanges with the real providers, played again over a socket."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from redraft.providers.adapters.remote import Address, RemoteProvider, RetryPolicy
from redraft.providers.contract import (
    Message,
    ProviderError,
    ProviderStepResult,
    StepRequest,
    ToolDefinition,
    ToolResult,
    UserMessage,
)
from tests.providers.endpoint import Endpoint, recorded
from tests.providers.shapes import SEARCH

if TYPE_CHECKING:
    from pathlib import Path

# The recordings are of their time: the providers' libraries warn of models that have been retired since.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

# Where each recorded address lies, as the adapter names it: the path's end, the kind, and what comes before the end.
PLACES = (
    ("/v1/messages", "anthropic", ""),
    ("/chat/completions", "openai", "/v1"),
    ("/responses", "openai_responses", "/v1"),
    ("enerateContent", "google", ""),
)


def place(uri: str) -> tuple[str, str] | None:
    path = uri.partition("?")[0]
    return next(((kind, before) for end, kind, before in PLACES if path.endswith(end)), None)


def exchanges(folder: Path) -> list[tuple[str, dict[str, Any], Any]]:
    """Every recorded exchange with an address that the adapter speaks to."""
    found: list[tuple[str, dict[str, Any], Any]] = []
    for file in sorted(folder.glob("*.yaml")):
        for request, played in recorded(file):
            if place(request["uri"]):
                found.append((file.name, request, played))
    return found


def is_stream(request: dict[str, Any]) -> bool:
    return "stream" in request["uri"].lower() or bool(request["body"].get("stream"))


async def play(endpoint: Endpoint, request: dict[str, Any], talk: tuple[Message, ...]) -> ProviderStepResult:
    kind, before = place(request["uri"]) or ("", "")
    model = request["body"].get("model") or request["uri"].rpartition("/")[2].partition(":")[0]
    asked = RemoteProvider(Address(kind, model, "k", endpoint.url + before), policy=RetryPolicy(attempts=1))
    step = StepRequest(talk, (SEARCH,))
    try:
        if not is_stream(request):
            return await asked.run_step(step)
        items = [item async for item in asked.stream_step(step)]
        assert isinstance(items[-1], ProviderStepResult)
        return items[-1]
    finally:
        await asked.aclose()


def outcome(endpoint: Endpoint, request: dict[str, Any], played: Any) -> ProviderStepResult | ProviderError:
    endpoint.answers = [played]
    try:
        return asyncio.run(play(endpoint, request, (UserMessage("Go."),)))
    except ProviderError as failure:
        return failure


@pytest.mark.covers("SB-call-mapped", "SB-adapter-differences")
def test_every_recorded_answer_is_a_step_or_the_failure_that_it_was(material: Path, endpoint: Endpoint):
    seen = exchanges(material / "provider-cassettes")
    assert len(seen) > 30
    for name, request, played in seen:
        ended = outcome(endpoint, request, played)
        if played.status >= 400:
            assert isinstance(ended, ProviderError), name
            assert (ended.kind, ended.status) == ("bad_request", played.status), name
        else:
            assert isinstance(ended, ProviderStepResult), (name, ended)
            assert ended.usage.output_tokens > 0, name
            assert ended.text or ended.tool_calls or ended.cut_off, name


def first(material: Path, name: str) -> list[tuple[dict[str, Any], Any]]:
    return recorded(material / "provider-cassettes" / f"{name}.yaml")


def test_four_parallel_calls_of_a_real_model_arrive_together(material: Path, endpoint: Endpoint):
    [(request, played), _] = first(material, "anthropic__test_multiple_parallel_tool_calls")
    result = outcome(endpoint, request, played)
    assert isinstance(result, ProviderStepResult)
    assert [call.arguments["name"] for call in result.tool_calls] == ["Alice", "Bob", "Charlie", "Daisy"]


def test_calls_without_an_id_get_one(material: Path, endpoint: Endpoint):
    [(request, played), _] = first(material, "openai__test_compatible_api_with_tool_calls_without_id")
    result = outcome(endpoint, request, played)
    assert isinstance(result, ProviderStepResult)
    assert all(call.id for call in result.tool_calls)


@pytest.mark.parametrize(
    ("name", "tool", "signature"),
    [
        ("google__test_google_streaming_tool_call_thought_signature", "get_country", "EpwICpkIAXLI2nxl"),
        ("anthropic__test_anthropic_tool_with_thinking", "get_user_country", None),
    ],
)
def test_signed_thoughts_go_back_as_they_came(
    material: Path, endpoint: Endpoint, name: str, tool: str, signature: str | None
):
    [(request, played), (_, ending)] = first(material, name)
    offered = ToolDefinition(tool, "The country of the person.", {"type": "object", "properties": {}})
    asked = (UserMessage("Where am I?"),)

    async def main() -> ProviderStepResult:
        endpoint.answers = [played, ending]
        one = await play(endpoint, request, asked)
        stored = type(one).from_dict(one.as_dict())
        [call] = stored.tool_calls
        back = (*asked, stored.message, ToolResult(call.id, call.name, True, "Mexico"))
        return await play(endpoint, request, back)

    result = asyncio.run(main())
    sent = str(endpoint.asked[1].body)
    wanted = signature or str(played.body).split('"signature": "')[1][:16]
    assert offered.name in sent
    assert wanted.replace("+", "").replace("/", "")[:8] in sent.replace("-", "").replace("_", "")
    assert "Mexico" in sent
    assert result.text


def test_what_a_model_thought_is_no_part_of_what_it_said(material: Path, endpoint: Endpoint):
    [(request, played), _] = first(material, "anthropic__test_anthropic_tool_with_thinking")
    result = outcome(endpoint, request, played)
    assert isinstance(result, ProviderStepResult)
    thought = str(played.body).split('"thinking": "')[1][:30]
    assert thought not in result.text
    assert result.opaque
