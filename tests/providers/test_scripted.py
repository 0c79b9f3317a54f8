"""The model that plays a script: everything that a real one can do to a loop can be written down."""

from __future__ import annotations

import asyncio
import time
from decimal import Decimal
from typing import Any

import pytest

from redraft.errors import RedraftError
from redraft.providers.adapters.scripted import ScriptedProvider, read_script
from redraft.providers.contract import (
    CancelToken,
    ProviderError,
    ProviderStepResult,
    StepDelta,
    StepRequest,
    ToolCall,
    Usage,
    UserMessage,
)
from tests.providers.shapes import SEARCH

REQUEST = StepRequest((UserMessage("Go."),), (SEARCH,))


def play(*steps: Any, times: int = 1, **options: Any) -> list[ProviderStepResult]:
    async def main() -> list[ProviderStepResult]:
        provider = ScriptedProvider(steps, **options)
        return [await provider.run_step(REQUEST) for _ in range(times)]

    return asyncio.run(main())


def test_steps_are_played_in_order():
    first, second = play({"calls": [{"tool": "search", "arguments": {"query": "x"}}]}, {"text": "Done."}, times=2)
    assert first.tool_calls == (ToolCall("call_1_1", "search", {"query": "x"}),)
    assert (first.finish, second.finish, second.text) == ("tool_calls", "stop", "Done.")


def test_a_script_at_its_end_fails_and_says_so():
    with pytest.raises(ProviderError, match="no further step"):
        play({"text": "Done."}, times=2)


def test_a_script_may_repeat_its_last_step():
    assert [result.text for result in play({"text": "a"}, {"text": "b"}, times=4, repeat=True)] == ["a", "b", "b", "b"]


def test_a_cut_off_step_carries_no_call():
    [result] = play({"text": "Half a sen", "calls": [{"tool": "search"}], "finish": "cut_off"})
    assert (result.text, result.finish, result.tool_calls) == ("Half a sen", "cut_off", ())


def test_a_failure_can_be_scripted_with_its_time():
    with pytest.raises(ProviderError) as caught:
        play({"error": "rate_limited", "retry_after": 2, "message": "Slow down."})
    assert (caught.value.kind, caught.value.retry_after, caught.value.message) == ("rate_limited", 2, "Slow down.")


def test_malformed_output_is_read_like_a_real_models():
    with pytest.raises(ProviderError) as caught:
        play({"raw": '{"say": "I was going to'})
    assert caught.value.kind == "invalid_output"
    [result] = play({"raw": '{"say": "Hm.", "calls": [{"tool": "search", "arguments": {"query": "y"}}]}'})
    assert result.tool_calls[0].arguments == {"query": "y"}


def test_usage_and_price_are_as_written():
    [result] = play({"text": "x", "usage": {"input_tokens": 9, "output_tokens": 3}, "price_usd": "0.003"})
    assert (result.usage, result.price_usd) == (Usage(9, 3), Decimal("0.003"))


def test_a_delayed_step_can_be_cancelled():
    async def main() -> None:
        cancel = CancelToken()
        asyncio.get_running_loop().call_later(0.02, cancel.set)
        await ScriptedProvider([{"text": "late", "delay_ms": 60_000}]).run_step(REQUEST, cancel=cancel)

    started = time.monotonic()
    with pytest.raises(ProviderError) as caught:
        asyncio.run(main())
    assert caught.value.kind == "cancelled"
    assert time.monotonic() - started < 30


def test_sixteen_steps_wait_side_by_side():
    async def main() -> float:
        provider = ScriptedProvider([{"text": "x", "delay_ms": 200}], repeat=True)
        started = time.monotonic()
        await asyncio.gather(*[provider.run_step(REQUEST) for _ in range(16)])
        return time.monotonic() - started

    assert asyncio.run(main()) < 16 * 0.2


@pytest.mark.covers("SB-provider-stream-step")
def test_a_streamed_step_ends_with_its_result():
    async def main() -> list[object]:
        provider = ScriptedProvider([{"text": "one two three"}])
        return [item async for item in provider.stream_step(REQUEST)]

    *deltas, result = asyncio.run(main())
    assert "".join(delta.text for delta in deltas if isinstance(delta, StepDelta)) == "one two three"
    assert isinstance(result, ProviderStepResult)
    assert result.text == "one two three"


@pytest.mark.parametrize(
    "script",
    [
        '# a comment\n{"text": "a"}\n\n{"text": "b", "finish": "cut_off"}\n',
        '[{"text": "a"}, {"text": "b", "finish": "cut_off"}]',
        "- text: a\n- text: b\n  finish: cut_off\n",
    ],
)
def test_a_script_is_json_lines_or_a_list(script: str):
    steps = read_script(script)
    assert [(step.text, step.finish) for step in steps] == [("a", None), ("b", "cut_off")]


@pytest.mark.parametrize(
    "script",
    [
        "{",
        '{"txt": "a"}',
        '{"text": "a", "finish": "tired"}',
        '{"error": "bored"}',
        "text: a",
        "- [",
        '{"text": "a", "usage": {"tokens": 3}}',
        '{"text": "a", "price_usd": "cheap"}',
    ],
)
def test_a_script_that_cannot_be_read_is_refused(script: str):
    with pytest.raises(RedraftError) as caught:
        read_script(script)
    assert caught.value.code == "invalid_settings"


def test_an_answer_asked_for_as_json_is_checked():
    request = StepRequest((UserMessage("Go."),), response_schema={"type": "object", "required": ["n"]})

    async def main(text: str) -> Any:
        return (await ScriptedProvider([{"text": text}]).run_step(request)).data

    assert asyncio.run(main('{"n": 1}')) == {"n": 1}
    with pytest.raises(ProviderError, match=r"answer\.n: is missing"):
        asyncio.run(main("{}"))
