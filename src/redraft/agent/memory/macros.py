"""Saved sequences of calls that run again as one turn, and a few built-in ones.

A macro is a name and a list of tool calls, whose texts may contain `{{date}}`, `{{time}}` and placeholders of its own.
Macros are stored with the person's state. The person runs them, in the current mode, and a macro can do nothing that
an agent could not.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from redraft.agent.environment import AUTHOR
from redraft.agent.memory.state_file import StateFile
from redraft.agent.store.events import iso
from redraft.errors import Refused
from redraft.tools.context import ToolContext
from redraft.tools.edits.batch import MAX_CALLS
from redraft.workspace.document import check_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from redraft.agent.store.agent_store import AgentStore
    from redraft.tools.registry import Registry
    from redraft.workspace.turns.modes import Mode
    from redraft.workspace.turns.turn import Confirm
    from redraft.workspace.workspace import Workspace

# What a job did, call by call, computed on demand from its recorded steps and events.


def actions_of(store: AgentStore, job_id: str) -> list[dict[str, Any]]:
    """Every call of a job that ran or was refused, in order, with its time."""
    steps = store.steps.of(job_id)
    asked = [
        call for step in steps if step.kind == "model" for call in step.value.get("result", {}).get("tool_calls", [])
    ]
    done = [step.value for step in steps if step.kind == "tool"]
    times = {
        event.data["tool_call_id"]: event.ts
        for event in store.events.after(job_id)
        if event.type == "tool.call.completed"
    }
    return [
        {
            "id": call["tool_call_id"],
            "tool": call["name"],
            "arguments": call["arguments"],
            "result": "success" if result["ok"] else "error",
            "error": None if result["ok"] else result["told"],
            "timestamp": None if (at := times.get(call["tool_call_id"])) is None else iso(at),
        }
        for call, result in zip(asked, done, strict=False)  # calls beyond the budget were never made
    ]


Call = dict[str, Any]
FILE = "agent-macros.json"
NAME = re.compile(r"[\w][\w .-]{0,60}\Z")
MAX_MACROS = 200
MARK = re.compile(r"\{\{(\w+)\}\}")
# Filled in automatically.
KNOWN = ("date", "time")
# Built in.
QUICK: dict[str, list[Call]] = {
    "daily-note": [
        {"tool": "create_document", "arguments": {"name": "{{date}}.md", "folder": "journal", "template": "journal"}}
    ],
    "meeting-notes": [
        {"tool": "create_document", "arguments": {"name": "Meeting {{date}}.md", "template": "meeting-notes"}}
    ],
    "todo-list": [{"tool": "create_document", "arguments": {"name": "{{title}}.md", "template": "todo-list"}}],
}


class Macros:
    """The macros of one folder."""

    def __init__(self, state: str) -> None:
        self._file = StateFile(state, FILE)

    def all(self) -> dict[str, list[Call]]:
        return {**QUICK, **self.load()}

    def load(self) -> dict[str, list[Call]]:
        """The macros that the person saved."""
        try:
            found = self._file.read()
        except (OSError, ValueError) as error:
            path = self._file.path
            raise Refused(f"The macros cannot be read: {error}.", code="invalid_settings", path=path) from error
        return cast("dict[str, list[Call]]", found) if isinstance(found, dict) else {}

    def shapes(self) -> list[dict[str, Any]]:
        """All macros as surfaces show them: whether each is saved, and which values a run may fill in."""
        saved = self.load()
        return [
            {"name": name, "saved": name in saved, "values": values_of(calls), "calls": calls}
            for name, calls in self.all().items()
        ]

    def get(self, name: str) -> list[Call]:
        """The calls of a macro."""
        calls = self.all().get(name)
        if calls is None:
            raise Refused(
                f"There is no macro {name[:60]!a}; known are {', '.join(self.all())}.", code="not_found", macro=name
            )
        return calls

    def save(self, name: str, calls: Sequence[Call], registry: Registry) -> None:
        """Save a sequence under a name, replacing any macro that has it."""
        if NAME.match(name) is None:
            raise Refused("A macro's name may have letters, digits, spaces, dots and dashes.", field="name")
        if not 1 <= len(calls) <= MAX_CALLS:
            raise Refused(f"A macro must have 1 to {MAX_CALLS} calls.", code="limit_exceeded", field="calls")
        for call in calls:
            if registry.get(call["tool"]).alone:
                raise Refused(f"`{call['tool']}` takes effect immediately and cannot be in a macro.", field="calls")
        check_text(json.dumps(list(calls), ensure_ascii=False))
        with self._file.lock():
            macros = {**self.load(), name: list(calls)}
            if len(macros) > MAX_MACROS:
                raise Refused(f"There are already {MAX_MACROS} macros.", code="limit_exceeded", field="name")
            self._file.write(macros)

    def remove(self, name: str) -> None:
        """Remove a saved macro; a built-in one of the same name becomes visible again."""
        with self._file.lock():
            macros = self.load()
            if name not in macros:
                raise Refused(f"No macro {name[:60]!a} was saved.", code="not_found", macro=name)
            del macros[name]
            self._file.write(macros)

    def run(
        self,
        name: str,
        workspace: Workspace,
        registry: Registry,
        values: Mapping[str, str],
        confirm: Confirm | None = None,
        *,
        mode: Mode | None = None,
    ) -> dict[str, Any]:
        """Run a macro as one turn: all of its calls or none. The default mode is that of the settings."""
        calls = self.get(name)
        now = datetime.fromtimestamp(workspace.now(), UTC).astimezone()
        known = {"date": f"{now:%Y-%m-%d}", "time": f"{now:%H:%M}", "title": name, **values}
        context = ToolContext(workspace, AUTHOR, mode=mode, confirm=confirm)
        return registry.call("batch", {"calls": _fill_values(calls, known), "title": f"Macro {name}"}, context)


def calls_of_job(store: AgentStore, job_id: str, registry: Registry) -> list[Call]:
    """What a job did to the documents, as a sequence to save: its successful writes."""
    writing = {tool.name for tool in registry.tools if tool.risk != "read" and not tool.alone}
    return [
        {"tool": action["tool"], "arguments": action["arguments"]}
        for action in actions_of(store, job_id)
        if action["result"] == "success" and action["tool"] in writing
    ]


def values_of(calls: Sequence[Call]) -> list[str]:
    """The placeholders that need a value, in order."""
    found = MARK.findall(json.dumps(calls, ensure_ascii=False))
    return [name for name in dict.fromkeys(found) if name not in KNOWN]


def _fill_values(value: Any, known: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return MARK.sub(lambda mark: known.get(mark[1], mark[0]), value)
    if isinstance(value, dict):
        return {name: _fill_values(inner, known) for name, inner in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_fill_values(inner, known) for inner in cast("list[Any]", value)]
    return value
