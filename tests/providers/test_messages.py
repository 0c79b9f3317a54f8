"""Conversations survive storage: what was written is what is read, and nothing else is."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from redraft.errors import Damaged
from redraft.providers.contract import (
    Message,
    ProviderStepResult,
    ToolCall,
    ToolResult,
    message_from_dict,
)
from tests.providers.shapes import json_values, messages, results, tool_calls


@given(messages)
def test_a_message_survives_json(message: Message):
    assert message_from_dict(json.loads(json.dumps(message.as_dict()))) == message


@pytest.mark.slow
@given(results)
def test_a_result_survives_json(result: ProviderStepResult):
    assert ProviderStepResult.from_dict(json.loads(json.dumps(result.as_dict()))) == result


@pytest.mark.covers("SB-call-shape")
@given(tool_calls)
def test_a_call_has_the_canonical_shape(call: ToolCall):
    assert call.as_dict() == {"tool_call_id": call.id, "name": call.name, "arguments": call.arguments}


@pytest.mark.covers("SB-result-shape")
def test_a_result_has_the_canonical_shape():
    found = ToolResult("tc_1", "search_project", True, {"results": []})
    assert found.canonical() == {
        "tool_call_id": "tc_1",
        "name": "search_project",
        "ok": True,
        "result": {"results": []},
        "error": None,
    }


@given(json_values)
def test_what_is_no_message_is_damaged_and_never_a_crash(value: Any):
    with pytest.raises(Damaged):
        message_from_dict(value)


def message_or_none(data: object) -> Message | None:
    try:
        return message_from_dict(data)
    except Damaged:
        return None


@given(messages, json_values)
def test_a_message_with_one_field_spoilt_is_read_or_damaged(message: Message, value: Any):
    table = message.as_dict()
    for name in table:
        spoilt = {**table, name: value}
        read = message_or_none(spoilt)
        assert read is None or message_from_dict(read.as_dict()) == read


@pytest.mark.slow
@given(results)
def test_a_result_without_a_field_is_damaged(result: ProviderStepResult):
    table = result.as_dict()
    for name in table:
        with pytest.raises(Damaged):
            ProviderStepResult.from_dict({other: table[other] for other in table if other != name})


def test_the_model_reads_the_error_of_a_call_that_failed():
    error = {"error": "not_found", "message": "There is no such document."}
    assert ToolResult("1", "read", False, None, error).content == error
