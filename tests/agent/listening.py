"""A model behind an address of this machine that plays a script and keeps every prompt, for programs under test.

What a model was told is read from the wire, as a provider would see it, and not from anything that the program keeps.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.providers.endpoint import Answer, Endpoint, stream

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

# For the environment of the program: models on the loopback alone.
CALLS = {"REDRAFT_MODEL_CALLS": "loopback"}


def settings(endpoint: Endpoint, more: str = "", side: str = "local") -> str:
    """Settings with the one model `wire`."""
    return (
        f'{more}\n[models.wire]\nkind = "compatible"\nmodel = "scripted"\nbase_url = "{endpoint.url}/v1"\n'
        f'[routing]\nagent_mode = "{side}"\n{side} = "wire"\n'
    )


def configure(folder: Path, endpoint: Endpoint, more: str = "", side: str = "local") -> None:
    config = folder.parent / "config" / "redraft"
    config.mkdir(parents=True, exist_ok=True)
    (config / "settings.toml").write_text(settings(endpoint, more, side), encoding="utf-8")


def spoken(text: str = "", *calls: tuple[str, dict[str, Any]], finish: str | None = "", number: int = 0) -> Answer:
    """A step, streamed as OpenAI's chat does it. `finish` is the end mark; None leaves it out."""
    told = [
        {"index": at, "id": f"c{number}_{at}", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for at, (name, arguments) in enumerate(calls)
    ]
    delta: dict[str, Any] = {"role": "assistant", "content": text, **({"tool_calls": told} if told else {})}
    reason = finish if finish != "" else "tool_calls" if told else "stop"
    chunks = [_chunk(delta, None)] if reason is None else [_chunk(delta, None), _chunk({}, reason)]
    answer = stream(*chunks)
    answer.body += b"" if reason is None else b"data: [DONE]\n\n"
    return answer


def _chunk(delta: dict[str, Any], reason: str | None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "scripted", "choices": [choice]}


def play(endpoint: Endpoint, *steps: Answer) -> None:
    endpoint.asked.clear()
    endpoint.answers[:] = steps


def prompts(endpoint: Endpoint) -> list[list[dict[str, Any]]]:
    """The messages of every request, oldest first."""
    return [asked.body["messages"] for asked in endpoint.asked]


def told_by_tools(endpoint: Endpoint) -> list[Any]:
    """What the tools of the last conversation answered."""
    return [json.loads(message["content"]) for message in prompts(endpoint)[-1] if message["role"] == "tool"]


def said_by(messages: Iterable[dict[str, Any]], role: str) -> str:
    return "\n".join(str(message["content"]) for message in messages if message["role"] == role)
