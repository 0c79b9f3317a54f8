"""What an agent program may ask of the person: permission for a call, and the fields of a form.

Permission is asked as for the built-in agent: a rule of the person's answers it, or else the person does, once, for
this job, or for good. What a program asks to be told is one question for each field.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from redraft.agent.memory.permissions import verdict_of
from redraft.agent.store.jobs import NO_ANSWER
from redraft.errors import RedraftError
from redraft.workspace.turns.modes import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from redraft.agent.hosted.agent_updates import AgentUpdates
    from redraft.agent.memory.permissions import PermissionRules
    from redraft.agent.run.approvals import JobQuestions

# What the protocol calls a kind of call, as the action that rules speak of.
ACTIONS = {"edit": "modify", "delete": "destroy", "move": "move"}
MOST_FIELDS = 10
MOST_WORDS = 500


class AgentRequests:
    """Called by the protocol's library, by the names that it looks for."""

    def __init__(
        self, agent: str, rules: PermissionRules, questions: JobQuestions, updates: Callable[[], AgentUpdates]
    ) -> None:
        self._agent = agent
        self._rules = rules
        self._questions = questions
        self._updates = updates
        self._asking = asyncio.Lock()
        self._allowed: set[str] = set()

    async def session_update(self, session_id: str, update: Any, **_more: Any) -> None:
        self._updates().hear(update)

    async def request_permission(self, session_id: str, tool_call: Any, options: Any, **_more: Any) -> dict[str, Any]:
        try:
            async with self._asking:
                allow = await self._allows(tool_call)
        except RedraftError:  # the job is being stopped
            return {"outcome": {"outcome": "cancelled"}}
        # Never its own "always": whether it asks again is decided here, where the person can see and change it.
        kinds = ("allow_once", "allow_always") if allow else ("reject_once", "reject_always")
        chosen = next((each.option_id for kind in kinds for each in options if each.kind == kind), None)
        if chosen is None:
            return {"outcome": {"outcome": "cancelled"}}
        return {"outcome": {"outcome": "selected", "optionId": chosen}}

    async def _allows(self, tool_call: Any) -> bool:
        title, kind, paths = self._updates().name_call(tool_call)
        tool = f"{self._agent}:{kind}"
        verdict = verdict_of(self._rules.all(), tool, ACTIONS.get(kind, kind), paths or ["*"])
        if verdict is Verdict.DENY:
            return False
        if verdict is Verdict.ALLOW or (tool in self._allowed and verdict is None):
            return True
        reply = await self._questions.ask_permission(f"{self._agent} wants to: {title}", kind, tuple(paths), tool)
        if reply.get("allow") is True and reply.get("for_job") is True:
            self._allowed.add(tool)
        return reply.get("allow") is True

    async def create_elicitation(self, message: str, mode: Any, **_more: Any) -> dict[str, Any]:
        schema = getattr(mode, "requested_schema", None)
        if schema is None:
            return {"action": "decline"}  # it wants a page to be opened
        content: dict[str, Any] = {}
        try:
            async with self._asking:
                fields: dict[str, Any] = schema.properties or {}
                for name, wanted in list(fields.items())[:MOST_FIELDS]:
                    answer = await self._questions.clarify(_question(message, name, wanted))
                    value = None if answer == NO_ANSWER else _value(wanted, answer)
                    if value is not None:
                        content[name] = value
                    elif name in (schema.required or []):
                        return {"action": "decline"}
        except RedraftError:
            return {"action": "cancel"}
        return {"action": "accept", "content": content}


def _question(message: str, name: str, wanted: Any) -> str:
    """The question for one field, with its choices."""
    label = str(wanted.title or wanted.description or name)
    words = [message[:MOST_WORDS], *([label[:MOST_WORDS]] if label not in message else [])]
    if choices := _choices(wanted):
        words.append("One of: " + ", ".join(title for _, title in choices))
    return "\n".join(words)


def _choices(wanted: Any) -> list[tuple[str, str]]:
    """The values that a field may have, with what they are called."""
    items = getattr(wanted, "items", None)
    named: list[Any] = getattr(wanted, "one_of", None) or getattr(items, "any_of", None) or []
    plain: list[Any] = getattr(wanted, "enum", None) or getattr(items, "enum", None) or []
    return [(each.const, each.title or each.const) for each in named] + [(str(each), str(each)) for each in plain]


def _value(wanted: Any, answer: str) -> Any:
    """The answer in the type that the field wants; None if it does not fit."""
    known = {word.casefold(): value for value, title in _choices(wanted) for word in (value, title)}
    try:
        match wanted.type:
            case "boolean":
                return answer.strip().casefold() in ("yes", "y", "true", "1", "ok")
            case "integer":
                return int(answer)
            case "number":
                return float(answer)
            case "array":
                return [known[word.strip().casefold()] for word in answer.split(",")]
            case _:
                return known[answer.strip().casefold()] if known else answer
    except (KeyError, ValueError):
        return None
