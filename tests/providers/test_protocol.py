"""Models without tools of their own: what they are told, and that whatever they answer is a step or a typed failure."""

from __future__ import annotations

import asyncio
import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.providers.adapters.prompted_tools import (
    MAX_CALLS,
    PromptedTools,
    answer_schema,
    parse_answer,
    to_plain_messages,
)
from redraft.providers.contract import (
    AssistantMessage,
    Message,
    ProviderError,
    ProviderStepResult,
    StepRequest,
    SystemMessage,
    ToolCall,
    ToolResult,
    UserMessage,
)
from redraft.providers.json_output import first_object, parse_json, violations
from tests.conftest import TORTURE
from tests.providers.shapes import SEARCH, TOOLS, json_values, messages, words

GOOD = {"say": "I look.", "calls": [{"tool": "search", "arguments": {"query": "the harbour", "limit": 3}}]}


class Mute:
    """A model without tools that says one prepared thing."""

    provider_name = "mute"
    model = "mute-1"
    supports_native_tools = False
    context_tokens = 100

    def __init__(self, text: str, finish: Any = "stop") -> None:
        self.said = ProviderStepResult(text, finish=finish, provider="mute")
        self.asked: list[StepRequest] = []

    def skip_step(self) -> None:
        """It counts nothing."""

    async def run_step(self, request: StepRequest, *, cancel: object = None) -> ProviderStepResult:
        self.asked.append(request)
        return self.said


def step(model: Mute, *conversation: Message) -> ProviderStepResult:
    return asyncio.run(PromptedTools(model).run_step(StepRequest(conversation or (UserMessage("Look."),), TOOLS)))


def test_an_answer_becomes_canonical_calls():
    result = step(Mute(json.dumps(GOOD)))
    assert result.text == "I look."
    assert result.tool_calls == (ToolCall("call_1_1", "search", {"query": "the harbour", "limit": 3}),)
    assert result.finish == "tool_calls"


def test_the_calls_of_two_answers_have_different_names():
    first = step(Mute(json.dumps(GOOD)))
    later = step(Mute(json.dumps(GOOD)), UserMessage("Look."), first.message, UserMessage("Again."))
    assert first.tool_calls[0].id != later.tool_calls[0].id


def test_the_model_is_told_of_the_tools_and_held_to_a_schema():
    model = Mute(json.dumps(GOOD))
    step(model)
    [asked] = model.asked
    orders = asked.messages[0]
    assert isinstance(orders, SystemMessage)
    assert all(tool.name in orders.text and tool.description in orders.text for tool in TOOLS)
    assert asked.tools == ()
    assert asked.response_schema == answer_schema(TOOLS)
    assert violations(GOOD, asked.response_schema) == []


def test_calls_and_results_are_told_in_words():
    told = to_plain_messages(
        [
            AssistantMessage("I look.", (ToolCall("1", "search", {"query": "x"}),), {"opaque": 1}),
            ToolResult("1", "search", True, {"results": ["Säge"]}),
            ToolResult("2", "search", False, None, {"error": "busy"}),
        ]
    )
    assert told == (
        AssistantMessage('{"say": "I look.", "calls": [{"tool": "search", "arguments": {"query": "x"}}]}'),
        UserMessage('The tool search gave:\n{"results": ["Säge"]}'),
        UserMessage('The tool search failed:\n{"error": "busy"}'),
    )


@pytest.mark.slow
@given(st.lists(messages, max_size=4))
def test_no_call_and_no_result_is_left_for_a_model_that_knows_none(conversation: list[Message]):
    for message in to_plain_messages(conversation):
        assert not isinstance(message, ToolResult)
        assert not isinstance(message, AssistantMessage) or message.tool_calls == ()


def test_without_tools_the_model_just_talks():
    model = Mute("Plain words, no JSON.")
    result = asyncio.run(PromptedTools(model).run_step(StepRequest((UserMessage("Hello."),))))
    assert result.text == "Plain words, no JSON."
    assert model.asked[0].response_schema is None


def test_a_cut_off_answer_stays_cut_off_and_calls_nothing():
    result = step(Mute(json.dumps(GOOD)[:-3], finish="cut_off"))
    assert (result.finish, result.tool_calls) == ("cut_off", ())


@pytest.mark.parametrize("around", ["{}", "```json\n{}\n```", "Here you are:\n{}\nI hope that helps.", "  {}  "])
def test_a_fence_or_chatter_around_the_answer_does_not_matter(around: str):
    text = around.replace("{}", json.dumps(GOOD))
    assert parse_answer(text, TOOLS)[0] == "I look."


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "it is not JSON"),
        ("I would rather not.", "it is not JSON"),
        ('{"say": "x", "calls": [', "it is not JSON"),
        ('{"say": "x"}', "answer.calls: is missing"),
        ('{"say": 3, "calls": []}', "answer.say: must be string"),
        ('{"say": "x", "calls": [], "edit": 1}', "answer.edit: is not a known name"),
        ('{"say": "", "calls": [{"tool": "rm", "arguments": {}}]}', "There is no tool 'rm'"),
        ('{"say": "", "calls": [{"tool": "search", "arguments": {}}]}', "answer.query: is missing"),
        ('{"say": "", "calls": [{"tool": "search", "arguments": {"query": "a", "limit": 99}}]}', "at most 50"),
        ('{"say": "a", "say": "b", "calls": []}', "occurs twice"),
        ('{"say": "x", "calls": [{"tool": "search", "arguments": {"query": NaN}}]}', "not a JSON number"),
        ('{"say": "\\ud800", "calls": []}', "surrogate"),
        ('{"say": ' + "[" * 100_000, "nested too deeply"),
        ('{"say": "x", "calls": [{"tool": "search", "arguments": {"query": "a", "limit": 1e999}}]}', "too large"),
        ('{"say": 1' + "0" * 5000 + "}", "cannot be used"),
    ],
)
def test_what_does_not_follow_the_protocol_is_told_in_words_for_the_model(text: str, complaint: str):
    with pytest.raises(ProviderError) as caught:
        parse_answer(text, TOOLS, provider="mute")
    assert complaint in caught.value.message
    assert caught.value.kind == "invalid_output"
    assert caught.value.output == text[: ProviderError.MAX_OUTPUT_KEPT]


def test_more_calls_than_anybody_needs_are_refused():
    many = {"say": "", "calls": GOOD["calls"] * (MAX_CALLS + 1)}  # type: ignore[operator]
    with pytest.raises(ProviderError, match="at most 16"):
        parse_answer(json.dumps(many), TOOLS)


def spoil(text: str, chance: random.Random) -> str:
    """A good answer, spoilt as models and connections spoil them."""
    at = chance.randrange(len(text))
    ways = [
        lambda: text[:at],
        lambda: text[at:],
        lambda: text[:at] + chance.choice('{}[]",:\\\0\ud800é') + text[at:],
        lambda: text[:at] + text[at + 1 :],
        lambda: text[:at] + text[: chance.randrange(len(text))] + text[at:],
        lambda: text.replace('"', "'"),
        lambda: text.replace(":", ": " + "[" * chance.randrange(2000)),
        lambda: text.replace("search", chance.choice(["", "SEARCH", "search ", "../search", "delete_everything"])),
        lambda: f"<think>{text[:at]}</think>{text}",
        lambda: "".join(chance.sample(text, len(text))),
    ]
    return chance.choice(ways)()


def outcome(text: str) -> str:
    """`calls`, `words` or `refused`: there is nothing else."""
    try:
        _, calls = parse_answer(text, TOOLS)
    except ProviderError as failure:
        json.dumps(failure.as_dict()).encode()
        return "refused" if failure.kind == "invalid_output" else failure.kind
    schemas = {tool.name: tool.parameters for tool in TOOLS}
    assert all(violations(call.arguments, schemas[call.name]) == [] for call in calls)
    json.dumps([call.as_dict() for call in calls], ensure_ascii=False).encode()
    return "calls" if calls else "words"


@pytest.mark.covers("SB-guard-validate")
def test_five_hundred_spoilt_answers_are_steps_that_fit_or_typed_failures():
    chance = random.Random(4)
    written = json.dumps(GOOD)
    found = [outcome(spoil(written, chance)) for _ in range(50_000 if TORTURE else 500)]
    assert set(found) <= {"calls", "words", "refused"}
    assert found.count("refused") > len(found) / 3


@given(st.text() | json_values.map(json.dumps))
def test_any_text_at_all_is_an_answer_or_a_typed_failure(text: str):
    assert outcome(text) in ("calls", "words", "refused")


@given(st.integers(0, len(json.dumps(GOOD)) - 1))
def test_no_beginning_of_an_answer_is_an_answer(length: int):
    assert outcome(json.dumps(GOOD)[:length]) == "refused"


@pytest.mark.slow
@given(words, st.lists(words, max_size=3), words, words)
def test_every_answer_in_form_is_read_as_it_was_meant(say: str, queries: list[str], before: str, after: str):
    meant = {"say": say, "calls": [{"tool": "search", "arguments": {"query": query}} for query in queries]}
    text = before.replace("{", "") + json.dumps(meant) + after
    said, calls = parse_answer(text, (SEARCH,))
    assert (said, [call.arguments["query"] for call in calls]) == (say, queries)


def slow_first_object(text: str) -> str:
    """The naive twin: the shortest beginning, from the first brace on, that parses."""
    start = text.find("{")
    if start < 0:
        return text
    for end in range(start + 1, len(text) + 1):
        try:
            json.loads(text[start:end])
        except ValueError:
            continue
        return text[start:end]
    return text[start:]


@given(words, json_values, words)
def test_the_object_in_a_text_is_found_as_by_trying_every_end(before: str, value: Any, after: str):
    text = before + json.dumps({"value": value}, ensure_ascii=False) + after
    if "{" not in before:
        assert first_object(text) == slow_first_object(text)


@given(json_values)
def test_json_that_a_model_wrote_is_read_as_it_is(value: Any):
    assert parse_json(json.dumps(value)) == value
    assert parse_json(json.dumps(value, ensure_ascii=False)) == value
