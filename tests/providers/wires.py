"""The four wire formats, written by hand: what each provider answers, whole and as a stream.

Kept apart from the adapter on purpose: these are the shapes of the providers' documentation, and the adapter has to
meet them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.providers.endpoint import Answer, answer, stream

if TYPE_CHECKING:
    from collections.abc import Callable

Calls = list[tuple[str, dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Wire:
    """One provider's format: how it answers, and where it is told a conversation's last tool results."""

    kind: str
    path: str
    model: str
    whole: Callable[[str, Calls, bool], Answer]
    streamed: Callable[[str, Calls, bool], Answer]
    refusal: Callable[[int, str], object]


def _anthropic(text: str, calls: Calls, cut: bool) -> dict[str, Any]:
    blocks: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    blocks += [
        {"type": "tool_use", "id": f"toolu_{n}", "name": name, "input": args} for n, (name, args) in enumerate(calls)
    ]
    reason = "max_tokens" if cut else "tool_use" if calls else "end_turn"
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-haiku-4-5",
        "content": blocks,
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 2},
    }


def _anthropic_stream(text: str, calls: Calls, cut: bool) -> Answer:
    message = _anthropic(text, calls, cut)
    events: list[Any] = [{"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}]
    start: dict[str, Any]
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            start, kind, written = {"type": "text", "text": ""}, "text", block["text"]
        else:
            start, kind, written = dict(block, input=None), "input_json", json.dumps(block["input"])
            start["input"] = {}
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        for piece in _halves(written):
            named = {"text": piece} if kind == "text" else {"partial_json": piece}
            delta = {"type": f"{kind}_delta", **named}
            events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    events.append({"type": "message_delta", "delta": end, "usage": {"output_tokens": 5}})
    events.append({"type": "message_stop"})
    return stream(*events, names=True)


def _chat(text: str, calls: Calls, cut: bool) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    if calls:
        message["tool_calls"] = [
            {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(args)}}
            for n, (name, args) in enumerate(calls)
        ]
    reason = "length" if cut else "tool_calls" if calls else "stop"
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-5-mini",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }


def _chat_stream(text: str, calls: Calls, cut: bool) -> Answer:
    whole = _chat(text, calls, cut)
    [choice] = whole["choices"]
    base = {key: whole[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}

    def chunk(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        return {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}

    events: list[Any] = [chunk({"role": "assistant", "content": piece}) for piece in _halves(text)]
    for n, call in enumerate(choice["message"].get("tool_calls", ())):
        function = call["function"]
        events.append(chunk({"tool_calls": [{**call, "index": n, "function": {**function, "arguments": ""}}]}))
        for piece in _halves(function["arguments"]):
            events.append(chunk({"tool_calls": [{"index": n, "function": {"arguments": piece}}]}))  # noqa: PERF401
    events.append(chunk({}, choice["finish_reason"]))
    events.append({**base, "choices": [], "usage": whole["usage"]})
    played = stream(*events)
    played.body += b"data: [DONE]\n\n"
    return played


def _responses(text: str, calls: Calls, cut: bool) -> dict[str, Any]:
    said: dict[str, Any] = {"type": "output_text", "text": text, "annotations": []}
    items: list[dict[str, Any]] = []
    if text:
        items.append({"type": "message", "id": "m_1", "role": "assistant", "status": "completed", "content": [said]})
    items += [
        {
            "type": "function_call",
            "id": f"fc_{n}",
            "call_id": f"call_{n}",
            "name": name,
            "arguments": json.dumps(args),
            "status": "completed",
        }
        for n, (name, args) in enumerate(calls)
    ]
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "status": "incomplete" if cut else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "model": "gpt-5-mini",
        "output": items,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": 10,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 5,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 15,
        },
    }


def _responses_stream(text: str, calls: Calls, cut: bool) -> Answer:
    whole = _responses(text, calls, cut)
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {**whole, "status": "in_progress", "output": []}}
    ]
    for index, item in enumerate(whole["output"]):
        begun: dict[str, Any] = {**item, "content": []} if item["type"] == "message" else {**item, "arguments": ""}
        place = {"output_index": index, "item_id": item["id"]}
        events.append({"type": "response.output_item.added", "output_index": index, "item": begun})
        if item["type"] == "message":
            part: dict[str, Any] = {"type": "output_text", "text": "", "annotations": []}
            events.append({"type": "response.content_part.added", **place, "content_index": 0, "part": part})
            kind, written = "response.output_text.delta", text
        else:
            kind, written = "response.function_call_arguments.delta", item["arguments"]
        events += [{"type": kind, **place, "content_index": 0, "delta": piece} for piece in _halves(written)]
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    events.append({"type": "response.incomplete" if cut else "response.completed", "response": whole})
    numbered = [{**event, "sequence_number": number} for number, event in enumerate(events)]
    return stream(*numbered, names=True)


def _google(text: str, calls: Calls, cut: bool) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"text": text}] if text else []
    parts += [{"functionCall": {"name": name, "args": args}} for name, args in calls]
    return {
        "candidates": [
            {"content": {"role": "model", "parts": parts}, "finishReason": "MAX_TOKENS" if cut else "STOP", "index": 0}
        ],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
        "modelVersion": "gemini-2.5-flash",
    }


def _google_stream(text: str, calls: Calls, cut: bool) -> Answer:
    events: list[dict[str, Any]] = []
    for piece in _halves(text):
        begun = _google(piece, [], cut=False)
        del begun["candidates"][0]["finishReason"]
        events.append(begun)
    return stream(*events, _google("", calls, cut))


def _halves(text: str) -> list[str]:
    middle = len(text) // 2
    return [piece for piece in (text[:middle], text[middle:]) if piece]


def whole(write: Callable[[str, Calls, bool], dict[str, Any]]) -> Callable[[str, Calls, bool], Answer]:
    def played(text: str, calls: Calls, cut: bool) -> Answer:
        return answer(write(text, calls, cut))

    return played


GOOGLE_WORDS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
}
WIRES = [
    Wire(
        "anthropic",
        "",
        "claude-haiku-4-5",
        whole(_anthropic),
        _anthropic_stream,
        lambda status, said: {"type": "error", "error": {"type": "api_error", "message": said}},
    ),
    Wire(
        "openai",
        "/v1",
        "gpt-5-mini",
        whole(_chat),
        _chat_stream,
        lambda status, said: {"error": {"message": said, "type": "server_error", "code": None}},
    ),
    Wire(
        "openai_responses",
        "/v1",
        "gpt-5-mini",
        whole(_responses),
        _responses_stream,
        lambda status, said: {"error": {"message": said, "type": "server_error", "code": None}},
    ),
    Wire(
        "google",
        "",
        "gemini-2.5-flash",
        whole(_google),
        _google_stream,
        lambda status, said: {"error": {"code": status, "message": said, "status": GOOGLE_WORDS[status]}},
    ),
    Wire(
        "compatible",
        "/v1",
        "llama3.2",
        whole(_chat),
        _chat_stream,
        lambda status, said: {"error": {"message": said, "type": "server_error", "code": None}},
    ),
]
