"""The piece of work that any worker can do: one question to a model, as JSON and back."""

from __future__ import annotations

import asyncio
import json

import pytest

from agent.desk import Playing
from redraft.agent.durable import Durable, piece_id
from redraft.agent.pieces import model_step, piece_of, request_of
from redraft.errors import Refused
from redraft.providers.contract import ProviderError, ProviderStepResult, StepRequest, SystemMessage, UserMessage

SCHEMA = {"type": "object", "properties": {"words": {"type": "integer"}}, "required": ["words"]}
REQUEST = StepRequest(
    (SystemMessage("Count."), UserMessage("Two words")), max_output_tokens=50, response_schema=SCHEMA, timeout=3.0
)


def test_a_request_survives_being_a_piece():
    assert request_of(json.loads(json.dumps(piece_of(REQUEST, "small")))) == REQUEST


def test_the_handler_asks_the_model_that_the_piece_names():
    model = Playing([{"text": '{"words": 2}', "usage": {"input_tokens": 5}}])
    told = asyncio.run(_handled(model, piece_of(REQUEST)))
    result = ProviderStepResult.from_dict(told)
    assert (result.data, result.usage.input_tokens) == ({"words": 2}, 5)
    assert model.requests == [REQUEST]


async def _handled(model: Playing, item: object) -> dict[str, object]:
    return await model_step(model)(item)


def test_a_model_that_fails_fails_the_piece():
    with pytest.raises(ProviderError):
        asyncio.run(_handled(Playing([{"error": "overloaded"}]), piece_of(REQUEST)))


def test_a_piece_is_known_by_its_run_its_step_and_what_it_says():
    names = {piece_id(run, step, item) for run in "ab" for step in "cd" for item in ({"n": 1}, {"n": 2}, {"n": "1"})}
    assert len(names) == 12
    assert piece_id("a", "c", {"x": 1, "y": 2}) == piece_id("a", "c", {"y": 2, "x": 1})
    assert all(name.startswith(("a:", "b:")) for name in names)


def test_a_step_that_no_handler_knows_is_refused_before_anything_is_shared():
    durable = Durable("sqlite:///nowhere.db", {})
    with pytest.raises(Refused):
        next(durable.fan_out("run", "unknown", [1]))
