"""What agents write on their standard output: Claude's JSON object, its array or its stream, Codex's events, or plain
text. Pure.

An answer that reports an error, has no text or is cut off is a failure and not an answer.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Sequence

Event = dict[str, Any]
_FAILURES = ("turn.failed", "error")


class OutputUnusable(Exception):
    """The output is no answer; the message continues a sentence that begins with the program's name."""


@dataclass(frozen=True, slots=True)
class AgentOutput:
    """An answer, and the conversation to continue with, if the program named one."""

    text: str
    session: str | None = None


def parse_output(output: str, *, structured: bool) -> AgentOutput:
    """The answer in a program's output; raises `OutputUnusable`. `structured` means that plain text is none."""
    events = _events(output)
    found = _claude_result(events) or _codex_result(events)
    if found is None:
        if structured:
            raise OutputUnusable("wrote an answer that cannot be read")
        found = AgentOutput(output.strip())
    if not found.text.strip():
        raise OutputUnusable("answered with nothing")
    return found


def _events(output: str) -> list[Event]:
    """The JSON objects in an output: one, several in an array, or one on each line."""
    try:
        found = json.loads(output)
    except (ValueError, RecursionError):
        return [event for line in output.splitlines() if line.startswith("{") for event in _event(line)]
    entries = cast("list[object]", found) if isinstance(found, list) else [found]
    return [cast("Event", entry) for entry in entries if isinstance(entry, dict)]


def _event(line: str) -> Sequence[Event]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return ()
    return (cast("Event", found),) if isinstance(found, dict) else ()


def _claude_result(events: Sequence[Event]) -> AgentOutput | None:
    """The result with which Claude ends; None if these are not its events."""
    ended = [event for event in events if event.get("type", "result") == "result" and _is_result(event)]
    if not ended:
        if any(event.get("type") == "system" and "session_id" in event for event in events):
            raise OutputUnusable("stopped before its answer was complete")
        return None
    event = ended[-1]
    text = event.get("result")
    if event.get("is_error") or event.get("subtype", "success") != "success" or not isinstance(text, str):
        raise OutputUnusable(f"reported an error: {text or event.get('errors') or event.get('subtype')}")
    return AgentOutput(text, _text(event.get("session_id")))


def _is_result(event: Event) -> bool:
    return "result" in event or "is_error" in event


def _codex_result(events: Sequence[Event]) -> AgentOutput | None:
    """The last message of Codex's turn; None if these are not its events."""
    kinds = {event.get("type") for event in events}
    if "thread.started" not in kinds and "turn.started" not in kinds:
        return None
    if "turn.completed" not in kinds:
        told = [_table(event.get("error")) or event for event in events if event.get("type") in _FAILURES]
        why = _text(told[-1].get("message")) if told else None
        raise OutputUnusable(f"reported an error: {why}" if why else "stopped before its answer was complete")
    thread = next((event.get("thread_id") for event in events if event.get("type") == "thread.started"), None)
    items = [_table(event.get("item")) for event in events if event.get("type") == "item.completed"]
    messages = [item for item in items if item.get("type") == "agent_message"]
    return AgentOutput(_text(messages[-1].get("text")) or "" if messages else "", _text(thread))


def _table(value: object) -> Event:
    return cast("Event", value) if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
