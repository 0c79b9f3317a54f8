"""What is said between a person, a model and its tools, in one canonical form for every provider.

All values are frozen and survive JSON: a conversation is stored durably, so `message_from_dict(message.as_dict())` is
the message again. A tool is a name, a description and a JSON schema here; what it does is not this room's business.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias, cast

from redraft.errors import Damaged

JsonObject: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool as a model is shown it.

    `purpose` says what a call of it means for the step: ordinary work, a question to the person, or proposed edits.
    """

    name: str
    description: str
    parameters: JsonObject
    purpose: Literal["work", "clarify", "edit"] = "work"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call that a model asks for, with its arguments already parsed."""

    id: str
    name: str
    arguments: JsonObject

    def as_dict(self) -> JsonObject:
        return {"tool_call_id": self.id, "name": self.name, "arguments": self.arguments}

    @classmethod
    def from_dict(cls, data: object) -> ToolCall:
        table = _table(data)
        return cls(_text(table, "tool_call_id"), _text(table, "name"), _object(table, "arguments"))


@dataclass(frozen=True, slots=True)
class SystemMessage:
    """Standing orders to the model, which reads them first wherever they stand in the conversation: not every provider
    has a place for them further down, and a disguise as the person's words would be one that a document could copy."""

    role: ClassVar[str] = "system"
    text: str

    def as_dict(self) -> JsonObject:
        return {"role": self.role, "text": self.text}


@dataclass(frozen=True, slots=True)
class UserMessage:
    """What the person said, or what is shown to the model in their name."""

    role: ClassVar[str] = "user"
    text: str

    def as_dict(self) -> JsonObject:
        return {"role": self.role, "text": self.text}


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """What a model said and asked for.

    `opaque` is what the adapter that made the message needs to send it back whole (signed thoughts, item ids), under
    the adapter's own key. Any other adapter ignores it, so a conversation can change its model at any message.
    """

    role: ClassVar[str] = "assistant"
    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    opaque: JsonObject = field(default_factory=dict[str, Any])

    def as_dict(self) -> JsonObject:
        calls = [call.as_dict() for call in self.tool_calls]
        return {"role": self.role, "text": self.text, "tool_calls": calls, "opaque": self.opaque}


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool call gave: a result where `ok`, else an error in the one shape that every failure has."""

    role: ClassVar[str] = "tool"
    id: str
    name: str
    ok: bool
    result: Any = None
    error: JsonObject | None = None

    def as_dict(self) -> JsonObject:
        return {"role": self.role, **self.canonical()}

    def canonical(self) -> JsonObject:
        """The result alone, in the shape of the tool-call protocol."""
        return {
            "tool_call_id": self.id,
            "name": self.name,
            "ok": self.ok,
            "result": self.result,
            "error": self.error,
        }

    @property
    def told(self) -> Any:
        """What the model reads: the result, or the error."""
        return self.result if self.ok else (self.error or {"error": "failed"})


Message: TypeAlias = SystemMessage | UserMessage | AssistantMessage | ToolResult


def message_from_dict(data: object) -> Message:
    """The message that `as_dict` wrote; `Damaged` where it is none."""
    table = _table(data)
    role = table.get("role")
    if role == "system":
        return SystemMessage(_text(table, "text"))
    if role == "user":
        return UserMessage(_text(table, "text"))
    if role == "assistant":
        calls = tuple(ToolCall.from_dict(call) for call in items(table, "tool_calls"))
        return AssistantMessage(_text(table, "text"), calls, _object(table, "opaque"))
    if role == "tool":
        ok = table.get("ok")
        if not isinstance(ok, bool):
            raise damaged("ok")
        error = None if table.get("error") is None else _object(table, "error")
        return ToolResult(_text(table, "tool_call_id"), _text(table, "name"), ok, table.get("result"), error)
    raise damaged("role")


def _table(data: object) -> JsonObject:
    if not isinstance(data, dict):
        raise damaged("message")
    return cast("JsonObject", data)


def _text(table: JsonObject, name: str) -> str:
    value = table.get(name)
    if not isinstance(value, str):
        raise damaged(name)
    return value


def _object(table: JsonObject, name: str) -> JsonObject:
    value = table.get(name)
    if not isinstance(value, dict):
        raise damaged(name)
    return cast("JsonObject", value)


def items(table: JsonObject, name: str) -> list[object]:
    value = table.get(name)
    if not isinstance(value, list):
        raise damaged(name)
    return cast("list[object]", value)


def damaged(name: str) -> Damaged:
    return Damaged(f"A stored message cannot be read: {name}.", field=name)
