"""Golden traces: a run that was recorded plays again without its model, step for step."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.traces import RecordingProvider, ReplayProvider, fingerprint
from redraft.errors import Damaged
from redraft.providers.adapters.scripted import ScriptedProvider
from redraft.providers.contract import (
    AssistantMessage,
    Message,
    ProviderError,
    ProviderStepResult,
    StepRequest,
    ToolCall,
    ToolResult,
    UserMessage,
)
from tests.providers.shapes import TOOLS, messages


def request(text: str) -> StepRequest:
    return StepRequest((UserMessage(text),), TOOLS)


def outcomes(provider: Any, requests: list[StepRequest]) -> list[Any]:
    async def one(asked: StepRequest) -> Any:
        try:
            return dataclasses.replace(await provider.run_step(asked), latency_ms=0)
        except ProviderError as failure:
            return (failure.kind, failure.message)

    async def main() -> list[Any]:
        return [await one(asked) for asked in requests]

    return asyncio.run(main())


STEPS: list[Any] = [
    {"text": "I look.", "calls": [{"tool": "search", "arguments": {"query": "Säge"}}], "price_usd": "0.01"},
    {"error": "overloaded", "message": "Too much."},
    {"text": "Half", "finish": "cut_off"},
    {"text": "Done."},
]
ASKED = [request("one"), request("two"), request("three"), request("two")]


@pytest.mark.covers("SB-eval-golden")
@given(st.permutations([0, 1, 2]))
def test_a_recorded_run_plays_again_in_any_order_of_different_questions(order: list[int]):
    lines: list[str] = []
    live = outcomes(RecordingProvider(ScriptedProvider(STEPS), lines.append), ASKED)
    replayed = outcomes(ReplayProvider(lines), [ASKED[index] for index in order] + [ASKED[3]])
    assert replayed == [live[index] for index in order] + [live[3]]


def test_a_question_that_was_never_recorded_gets_no_answer():
    lines: list[str] = []
    outcomes(RecordingProvider(ScriptedProvider(STEPS), lines.append), ASKED[:1])
    [(kind, message)] = outcomes(ReplayProvider(lines), [request("another")])
    assert (kind, "no step for this request" in message) == ("unavailable", True)


def test_the_same_question_gets_the_same_answer_again():
    lines: list[str] = []
    live = outcomes(RecordingProvider(ScriptedProvider(STEPS), lines.append), ASKED[:1])
    assert outcomes(ReplayProvider(lines), ASKED[:1] * 3) == live * 3


def test_a_cancelled_step_is_not_part_of_a_trace():
    lines: list[str] = []
    outcomes(RecordingProvider(ScriptedProvider([{"error": "cancelled"}]), lines.append), ASKED[:1])
    assert lines == []


@pytest.mark.parametrize("line", ["{", "[]", "{}", '{"asked": "x"}', '{"asked": "x", "result": {}}'])
def test_a_damaged_trace_is_told(line: str):
    with pytest.raises(Damaged):
        ReplayProvider([line])


def renamed(talk: list[Message], prefix: str) -> tuple[Message, ...]:
    """The same conversation as another run would have named its calls."""
    found: list[Message] = []
    for message in talk:
        if isinstance(message, AssistantMessage):
            calls = tuple(dataclasses.replace(call, id=prefix + call.id) for call in message.tool_calls)
            message = dataclasses.replace(message, tool_calls=calls, opaque={"run": prefix})  # noqa: PLW2901
        elif isinstance(message, ToolResult):
            message = dataclasses.replace(message, id=prefix + message.id)  # noqa: PLW2901
        found.append(message)
    return tuple(found)


@pytest.mark.slow
@given(st.lists(messages, max_size=4))
def test_the_names_of_calls_do_not_matter_to_a_trace(talk: list[Message]):
    assert fingerprint(StepRequest(renamed(talk, "a"))) == fingerprint(StepRequest(renamed(talk, "b")))


@pytest.mark.slow
@given(st.lists(messages, max_size=3), st.lists(messages, max_size=3))
def test_different_conversations_have_different_fingerprints(one: list[Message], other: list[Message]):
    plain = [message for message in one if not isinstance(message, AssistantMessage | ToolResult)]
    others = [message for message in other if not isinstance(message, AssistantMessage | ToolResult)]
    same = fingerprint(StepRequest(tuple(plain))) == fingerprint(StepRequest(tuple(others)))
    assert same == (plain == others)


def test_which_call_a_result_belongs_to_does_matter():
    calls = (ToolCall("1", "search", {"query": "a"}), ToolCall("2", "search", {"query": "b"}))
    said = AssistantMessage("", calls)
    one = StepRequest((said, ToolResult("1", "search", True, "x"), ToolResult("2", "search", True, "y")))
    other = StepRequest((said, ToolResult("2", "search", True, "x"), ToolResult("1", "search", True, "y")))
    assert fingerprint(one) != fingerprint(other)


def test_a_recording_provider_is_its_model_to_everyone_else():
    inner = ScriptedProvider([{"text": "x"}], model="m", context_tokens=7)
    outer = RecordingProvider(inner, str)
    assert (outer.provider_name, outer.model, outer.supports_native_tools, outer.context_tokens) == (
        "scripted",
        "m",
        True,
        7,
    )
    assert isinstance(outcomes(outer, ASKED[:1])[0], ProviderStepResult)


def test_what_the_loop_tells_a_route_reaches_it_through_the_recording():
    told: list[str] = []

    class Route(ScriptedProvider):
        def report(self, trigger: str) -> bool:
            told.append(trigger)
            return True

    assert RecordingProvider(Route([{"text": "x"}]), str).report("schema_invalid")
    assert told == ["schema_invalid"]
    assert not RecordingProvider(ScriptedProvider([{"text": "x"}]), str).report("schema_invalid")


def test_a_run_that_is_recorded_goes_on_behind_a_step_that_was_replayed():
    recording = RecordingProvider(ScriptedProvider(STEPS), lambda _: None)
    for _ in range(3):
        recording.skip_step()
    [last] = outcomes(recording, [request("two")])
    assert last.text == "Done."
