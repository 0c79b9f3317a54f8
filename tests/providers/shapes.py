"""What the property tests of providers draw: conversations, tools, JSON and schemas."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from redraft.providers.contract import (
    AssistantMessage,
    ProviderStepResult,
    SystemMessage,
    ToolCall,
    ToolDefinition,
    ToolResult,
    Usage,
    UserMessage,
)

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
scalars = (
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | words
)
json_values: st.SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)
json_objects = st.dictionaries(words, json_values, max_size=3)
tool_calls = st.builds(ToolCall, words, words, json_objects)
messages = st.one_of(
    st.builds(SystemMessage, words),
    st.builds(UserMessage, words),
    st.builds(AssistantMessage, words, st.lists(tool_calls, max_size=3).map(tuple), json_objects),
    st.builds(ToolResult, words, words, st.just(True), json_values),
    st.builds(ToolResult, words, words, st.just(False), st.none(), json_objects),
)
usages = st.builds(Usage, *[st.integers(0, 10**9)] * 5)
results = st.builds(
    ProviderStepResult,
    text=words,
    tool_calls=st.lists(tool_calls, max_size=2).map(tuple),
    finish=st.sampled_from(["stop", "tool_calls", "refused"]),
    usage=usages,
    price_usd=st.none() | st.decimals(0, 100, places=6),
    latency_ms=st.floats(0, 1e6),
    provider=words,
    model=words,
    data=json_values,
    attempts=st.integers(1, 9),
    session=st.none() | words,
    opaque=json_objects,
)

SEARCH = ToolDefinition(
    "search",
    "Find passages.",
    {
        "type": "object",
        "properties": {"query": {"type": "string"}, "limit": {"type": "integer", "minimum": 1, "maximum": 50}},
        "required": ["query"],
        "additionalProperties": False,
    },
)
ASK = ToolDefinition(
    "clarify_user",
    "Ask the person.",
    {"type": "object", "properties": {"question": {"type": "string"}}, "required": ["question"]},
    purpose="clarify",
)
EDIT = ToolDefinition(
    "propose_edits",
    "Propose edits.",
    {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    purpose="edit",
)
TOOLS = (SEARCH, ASK, EDIT)
