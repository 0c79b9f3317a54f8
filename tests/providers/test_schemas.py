"""Our small validator agrees with the complete one on every schema of the part that it knows."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.providers.json_output import MAX_VIOLATIONS, violations
from tests.providers.shapes import TOOLS, json_values

TYPES = ("string", "boolean", "null", "object", "array", "number", "integer")
names = st.sampled_from(["a", "b", "c"])
small = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([0.0, 1.0, 1.5, "", "a", "ab"])
values: st.SearchStrategy[Any] = st.recursive(
    small, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3), max_leaves=6
)


def _with(**keywords: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=keywords)


leaf_schemas = _with(
    type=st.sampled_from(TYPES) | st.lists(st.sampled_from(TYPES), min_size=1, max_size=3, unique=True),
    enum=st.lists(values, min_size=1, max_size=3),
    const=values,
    minimum=st.integers(-2, 2),
    maximum=st.integers(-2, 2),
    minLength=st.integers(0, 2),
    maxLength=st.integers(0, 2),
    minItems=st.integers(0, 2),
    maxItems=st.integers(0, 2),
    minProperties=st.integers(0, 2),
    maxProperties=st.integers(0, 2),
)
schemas: st.SearchStrategy[Any] = st.recursive(
    leaf_schemas | st.booleans(),
    lambda inner: st.one_of(
        _with(
            type=st.sampled_from(TYPES),
            properties=st.dictionaries(names, inner, max_size=3),
            required=st.lists(names, unique=True, max_size=2),
            additionalProperties=inner,
            items=inner,
            prefixItems=st.lists(inner, min_size=1, max_size=2),
        ),
        _with(
            anyOf=st.lists(inner, min_size=1, max_size=3),
            oneOf=st.lists(inner, min_size=1, max_size=3),
            allOf=st.lists(inner, min_size=1, max_size=2),
        ),
    ),
    max_leaves=6,
)


def twin(value: object, schema: Any) -> bool:
    """The complete validator, in the tests only."""
    return jsonschema.Draft202012Validator(schema).is_valid(value)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.covers("SB-guard-validate")
@given(values, schemas)
def test_a_value_fits_exactly_where_the_complete_validator_says_so(value: object, schema: Any):
    assert (violations(value, schema) == []) == twin(value, schema)


@given(json_values)
def test_any_value_can_be_held_against_a_tools_schema(value: object):
    for tool in TOOLS:
        assert (violations(value, tool.parameters) == []) == twin(value, tool.parameters)


def test_references_within_the_schema_are_followed():
    tree = {
        "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}, "required": ["name"]}},
        "$ref": "#/$defs/node",
    }
    assert violations({"name": "a", "next": {"name": "b"}}, tree) == []
    assert violations({"name": "a", "next": {"next": {}}}, tree) == [
        "answer.next.name: is missing",
        "answer.next.next.name: is missing",
    ]


def test_a_schema_that_refers_to_itself_does_not_hang():
    assert violations({}, {"$ref": "#"}) == []


def test_complaints_say_where_and_what_and_are_few():
    schema = {"type": "array", "items": {"type": "integer", "maximum": 3}}
    assert violations([1, "two", 9], schema) == ["answer[1]: must be integer", "answer[2]: must be at most 3"]
    assert len(violations(["x"] * 100, schema)) == MAX_VIOLATIONS
