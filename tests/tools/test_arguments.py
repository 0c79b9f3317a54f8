"""Arguments as models send them: understood where they can mean one thing, refused by name where they cannot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.errors import Refused
from redraft.tools.parameters import Field, input_schema, parse


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """A nested object."""

    line: int
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Everything:
    """One field of each kind."""

    text: Annotated[str, Field("Some words.", ("words",))]
    start_line: Annotated[int, Field("A line.", minimum=0, maximum=99)] = 7
    sure: bool = False
    kind: Literal["to-do", "journal"] | None = None
    spots: tuple[Spot, ...] = ()
    names: tuple[str, ...] = ()
    spot: Spot | None = None
    extra: dict[str, Any] | None = None


def taken(**arguments: Any) -> Everything:
    return parse(Everything, {"text": "t", **arguments})


def refusal(arguments: dict[Any, Any]) -> Refused:
    with pytest.raises(Refused) as caught:
        parse(Everything, arguments)
    return caught.value


@pytest.mark.parametrize(
    ("arguments", "field", "value"),
    [
        ({"start_line": "12"}, "start_line", 12),
        ({"start_line": 12.0}, "start_line", 12),
        ({"startLine": 3}, "start_line", 3),
        ({"start_line": None}, "start_line", 7),
        ({"sure": "True"}, "sure", True),
        ({"kind": "TO_DO"}, "kind", "to-do"),
        ({"spot": {"line": "4"}}, "spot", Spot(line=4)),
        ({"spot": '{"line": 4}'}, "spot", Spot(line=4)),
        ({"spots": {"line": 4}}, "spots", (Spot(line=4),)),
        ({"spots": '[{"line": 4}]'}, "spots", (Spot(line=4),)),
        ({"names": "one"}, "names", ("one",)),
        ({"extra": {"a": [1, {"b": None}]}}, "extra", {"a": [1, {"b": None}]}),
    ],
)
def test_what_can_mean_one_thing_is_understood(arguments: dict[str, Any], field: str, value: object):
    assert getattr(taken(**arguments), field) == value


def test_another_name_for_an_argument_is_understood():
    assert parse(Everything, {"words": "hello"}).text == "hello"


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({}, "text"),
        ({"text": 5}, "text"),
        ({"text": None}, "text"),
        ({"text": "a", "words": "b"}, "text"),
        ({"text": "a", "start_line": "twelve"}, "start_line"),
        ({"text": "a", "start_line": 1.5}, "start_line"),
        ({"text": "a", "start_line": True}, "start_line"),
        ({"text": "a", "start_line": 10**20}, "start_line"),
        ({"text": "a", "start_line": -1}, "start_line"),
        ({"text": "a", "start_line": 100}, "start_line"),
        ({"text": "a", "sure": 1}, "sure"),
        ({"text": "a", "kind": "poem"}, "kind"),
        ({"text": "a", "spot": "somewhere"}, "spot"),
        ({"text": "a", "spot": {"line": "x"}}, "spot.line"),
        ({"text": "a", "spots": [{"line": 1}, {}]}, "spots[1].line"),
        ({"text": "a", "names": [1]}, "names[0]"),
        ({"text": "a", "extra": [1]}, "extra"),
    ],
)
def test_what_is_wrong_is_refused_by_name(arguments: dict[str, Any], field: str):
    error = refusal(arguments)
    assert (error.code, error.details["field"]) == ("invalid_argument", field)


def test_an_unknown_argument_is_refused_with_the_nearest_known_one():
    assert "did you mean `start_line`?" in refusal({"text": "a", "start_lin": 1}).message


@pytest.mark.parametrize("value", ["\ud800", {"\udfff": 1}, ["x", "\udc00"]])
def test_text_that_cannot_be_sent_on_is_refused(value: Any):
    assert refusal({"text": "a", "extra": value}).code == "invalid_text"


def test_nesting_without_need_is_refused():
    deep: Any = 1
    for _ in range(50):
        deep = [deep]
    assert refusal({"text": "a", "extra": deep}).code == "invalid_argument"


@pytest.mark.parametrize("arguments", [{"text": b"bytes"}, {1: 2}, {"text": object()}])
def test_what_is_no_json_is_refused(arguments: dict[Any, Any]):
    assert refusal(arguments).code == "invalid_argument"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
NAMES = st.sampled_from([*(entry for entry in Everything.__slots__), "words", "startLine", "x"])


@given(st.dictionaries(NAMES | st.text(max_size=12), JSON, max_size=6))
def test_any_json_is_taken_or_refused(arguments: dict[str, Any]):
    found = taken_or_code(arguments)
    if isinstance(found, Everything):
        assert isinstance(found.text, str)
        assert 0 <= found.start_line <= 99
    else:
        assert found in ("invalid_argument", "invalid_text")


def taken_or_code(arguments: dict[str, Any]) -> Everything | str:
    try:
        return parse(Everything, arguments)
    except Refused as error:
        return error.code


def test_the_schema_says_what_is_taken():
    schema = input_schema(Everything)
    assert schema["required"] == ["text"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["text"] == {"type": "string", "description": "Some words."}
    assert schema["properties"]["start_line"] == {
        "type": "integer",
        "description": "A line.",
        "minimum": 0,
        "maximum": 99,
        "default": 7,
    }
    assert schema["properties"]["kind"] == {"type": "string", "enum": ["to-do", "journal"]}
    assert schema["properties"]["spots"]["items"]["required"] == ["line"]
