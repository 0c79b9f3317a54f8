"""What an agent program says and does while it works, as events of its job: words, thoughts, its plan, its calls with
their diffs, what it offers, and what it has used.

Everything here is as the program says it. Nothing is believed: what it really changed is found in its view.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from redraft.files.secret_detection import mask_credentials
from redraft.text.patch.unified_diff import format_patch

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from redraft.agent.store.events import JobEventLog
    from redraft.agent.store.jobs import Job

MOST_SAID = 100_000
MOST_THOUGHT = 20_000
MOST_TITLE = 200
MOST_SHOWN = 2000
MOST_ENTRIES = 50
MOST_CALLS = 2000
MOST_DIFFS = 5
# Longer sides of a diff are not compared: the review shows what was changed.
MOST_COMPARED = 100_000
DONE = ("completed", "failed")


class AgentUpdates:
    """Reports the updates of one job. `folder` is where the program sees the folder."""

    def __init__(self, events: JobEventLog, job: Job, folder: str) -> None:
        self._events = events
        self._job = job
        self._folder = folder
        self._said: list[str] = []
        self._length = 0
        self._message: list[str] = []
        self._thought: list[str] = []
        self._thought_length = 0
        self._calls: dict[str, dict[str, Any]] = {}
        self._has_begun = False
        self._version = job.agent
        self._price: str | None = None
        self.commands: list[dict[str, str]] = []

    @property
    def text(self) -> str:
        """All that it said."""
        return "".join(self._said)

    def begin(self, version: str, resumed: bool, offered: Mapping[str, Any]) -> None:
        self._version = _short(version) or self._job.agent
        self._tell("agent.ready", agent=self._job.agent, version=self._version, resumed=resumed, **offered)
        self._tell("step.started", step=1, of=1)
        self._has_begun = True

    def end(self, usage: Any = None) -> None:
        """The prompt is answered."""
        self._end_message()
        found = {}
        if usage is not None:
            found = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
        self._tell("step.completed", provider=self._job.agent, model=self._version, usage=found, price_usd=self._price)

    def hear(self, update: Any) -> None:
        """Before the prompt, a program that loads a session repeats it: that was reported then."""
        if not self._has_begun and update.session_update != "available_commands_update":
            return
        match update.session_update:
            case "agent_message_chunk":
                self._hear_words(update)
            case "agent_thought_chunk":
                self._hear_thought(update)
            case "tool_call":
                self._hear_call(update)
            case "tool_call_update":
                self._hear_progress(update)
            case "plan":
                entries = [{"content": _short(each.content), "status": each.status} for each in update.entries]
                self._tell("plan.updated", entries=entries[:MOST_ENTRIES])
            case "usage_update":
                cost = None if update.cost is None else f"{update.cost.amount:.6f}"
                currency = "" if update.cost is None else _short(update.cost.currency, 10)
                self._price = cost if currency == "USD" else None
                self._tell("agent.usage", used=update.used, size=update.size, cost=cost, currency=currency)
            case "available_commands_update":
                self.commands = [
                    {"name": _short(each.name), "description": _short(each.description)}
                    for each in update.available_commands[:MOST_ENTRIES]
                ]
                self._tell("agent.commands", commands=self.commands)
            case "current_mode_update":
                self._tell("agent.mode", mode=_short(update.current_mode_id))
            case _:
                pass

    def name_call(self, call: Any) -> tuple[str, str, list[str]]:
        """The title, the kind and the documents of a call that it asks about, which it may have announced before."""
        known = self._calls.get(call.tool_call_id, {})
        title = _short(str(call.title or known.get("title") or call.kind or "go on"))
        kind = str(call.kind or known.get("kind") or "other")
        paths = self._paths(call) or known.get("paths", [])
        if not known.get("diffs") and (diffs := self._diffs(call)):
            title = f"{title}\n{diffs[0]['patch']}"
        return title, kind, paths

    def _tell(self, type_: str, **data: Any) -> None:
        self._events.append(self._job.id, type_, **data)

    def _hear_words(self, update: Any) -> None:
        if update.content.type != "text":
            return
        self._end_thought()
        text = update.content.text[: MOST_SAID - self._length]
        self._length += len(text)
        self._said.append(text)
        self._message.append(text)
        self._events.send_delta(self._job.id, self._events.last_cursor(self._job.id), text)

    def _hear_thought(self, update: Any) -> None:
        if update.content.type != "text":
            return
        self._end_message()
        text = update.content.text[: MOST_THOUGHT - self._thought_length]
        self._thought_length += len(text)
        self._thought.append(text)

    def _end_message(self) -> None:
        self._end_thought()
        if text := "".join(self._message).strip():
            self._tell("assistant.message", text=_short(text, MOST_SHOWN))
        self._message.clear()

    def _end_thought(self) -> None:
        if text := "".join(self._thought).strip():
            self._tell("agent.thought", text=_short(text, MOST_SHOWN))
        self._thought.clear()

    def _hear_call(self, update: Any) -> None:
        self._end_message()
        if update.tool_call_id in self._calls or len(self._calls) >= MOST_CALLS:
            return
        call = {"title": _short(update.title), "kind": update.kind or "other", "paths": self._paths(update)}
        self._calls[update.tool_call_id] = call
        self._tell(
            "tool.call.requested",
            tool=call["title"],
            tool_call_id=_short(update.tool_call_id),
            arguments=_short(str(update.raw_input or ""), MOST_SHOWN),
            kind=call["kind"],
            paths=call["paths"],
        )
        self._hear_progress(update)

    def _hear_progress(self, update: Any) -> None:
        call = self._calls.get(update.tool_call_id)
        if call is None or call.get("ok") is not None:
            return
        call["diffs"] = self._diffs(update) or call.get("diffs", [])
        call["told"] = _told(update) or call.get("told", "")
        if update.status not in DONE:
            return
        call["ok"] = update.status == "completed"
        self._tell(
            "tool.call.completed",
            tool=call["title"],
            tool_call_id=_short(update.tool_call_id),
            ok=call["ok"],
            summary=call["told"],
            diffs=call["diffs"],
        )

    def _paths(self, update: Any) -> list[str]:
        places: list[Any] = update.locations or []
        return [self._inside(each.path) for each in places[:MOST_DIFFS]]

    def _diffs(self, update: Any) -> list[dict[str, str]]:
        content: list[Any] = update.content or []
        found = [each for each in content if each.type == "diff"][:MOST_DIFFS]
        return [self._patch(each.path, each.old_text or "", each.new_text) for each in found]

    def _patch(self, path: str, old: str, new: str) -> dict[str, str]:
        name = self._inside(path)
        if len(old) + len(new) > MOST_COMPARED:
            return {"path": name, "patch": ""}
        return {"path": name, "patch": _short(format_patch(name, old, new), MOST_SHOWN)}

    def _inside(self, path: str) -> str:
        return _short(path.removeprefix(self._folder.rstrip("/") + "/"))


def _told(update: Any) -> str:
    """What a call answered, in words."""
    content: list[Any] = update.content or []
    texts: list[Any] = [each.content for each in content if each.type == "content"]
    shown = [str(each.text) for each in texts if each.type == "text"]
    return _short("\n".join(shown), MOST_SHOWN)


def _short(text: str, most: int = MOST_TITLE) -> str:
    return mask_credentials(text if len(text) <= most else f"{text[: most - 1]}…")


def describe_offer(modes: Any, options: Iterable[Any]) -> dict[str, Any]:
    """The modes, models and other options that a program offers, with what is chosen."""
    shown: list[dict[str, Any]] = []
    if modes is not None and modes.available_modes:
        values = [{"value": _short(each.id), "name": _short(each.name)} for each in modes.available_modes]
        shown.append({"id": "mode", "name": "Mode", "current": modes.current_mode_id, "values": values[:MOST_ENTRIES]})
    for option in options:
        if option.type != "select" or any(each["id"] == option.id for each in shown):
            continue
        flat = [inner for each in option.options for inner in getattr(each, "options", None) or [each]]
        values = [{"value": _short(each.value), "name": _short(each.name)} for each in flat[:MOST_ENTRIES]]
        known = {"id": _short(option.id), "name": _short(option.name), "current": option.current_value}
        shown.append({**known, "values": values})
    return {"options": shown[:10]}
