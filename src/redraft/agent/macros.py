"""Saved sequences of calls that run again as one turn, and a few that are there from the start.

A macro is a name and calls of tools whose texts may hold `{{date}}`, `{{time}}` and names of its own. It lies with the
person's state, is run by the person and in the mode that holds, and can do nothing that an agent could not.
"""

from __future__ import annotations

import json
import os
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from redraft.agent.records import actions_of
from redraft.agent.room import AUTHOR
from redraft.errors import Refused
from redraft.tools.context import ToolContext

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from redraft.agent.store import AgentStore
    from redraft.tools.registry import Registry
    from redraft.workspace.turn import Confirm
    from redraft.workspace.workspace import Workspace

Call = dict[str, Any]
FILE = "agent-macros.json"
NAME = re.compile(r"[\w][\w .-]{0,60}\Z")
MARK = re.compile(r"\{\{(\w+)\}\}")
# What is at hand without having been saved.
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
        self.path = os.path.join(state, FILE)

    def all(self) -> dict[str, list[Call]]:
        return {**QUICK, **self._saved()}

    def _saved(self) -> dict[str, list[Call]]:
        try:
            with open(self.path, encoding="utf-8") as file:
                found = json.load(file)
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise Refused(f"The macros cannot be read: {error}.", code="invalid_settings", path=self.path) from error
        return cast("dict[str, list[Call]]", found) if isinstance(found, dict) else {}

    def save(self, name: str, calls: Sequence[Call]) -> None:
        """Keep a sequence under a name, in the place of what had it before."""
        if NAME.match(name) is None or not calls:
            raise Refused("A macro has a plain name and at least one call.", field="name")
        new = f"{self.path}.new"
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump({**self._saved(), name: list(calls)}, file, indent=2, ensure_ascii=False)
        os.replace(new, self.path)

    def run(
        self,
        name: str,
        workspace: Workspace,
        registry: Registry,
        values: Mapping[str, str],
        confirm: Confirm | None = None,
    ) -> dict[str, Any]:
        """Run a macro as one turn: all of its calls, or nothing."""
        calls = self.all().get(name)
        if calls is None:
            raise Refused(f"There is no macro {name[:60]!a}; known are {', '.join(self.all())}.", code="not_found")
        now = datetime.fromtimestamp(workspace.engine.clock(), UTC).astimezone()
        known = {"date": f"{now:%Y-%m-%d}", "time": f"{now:%H:%M}", "title": name, **values}
        context = ToolContext(workspace, AUTHOR, confirm=confirm)
        return registry.call("batch", {"calls": _filled(calls, known), "title": f"Macro {name}"}, context)


def calls_of_job(store: AgentStore, job_id: str, registry: Registry) -> list[Call]:
    """What a job did to the documents, as a sequence to save: its successful calls that write."""
    writing = {tool.name for tool in registry.tools if tool.risk != "read" and not tool.alone}
    return [
        {"tool": action["tool"], "arguments": action["arguments"]}
        for action in actions_of(store, job_id)
        if action["result"] == "success" and action["tool"] in writing
    ]


def _filled(value: Any, known: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return MARK.sub(lambda mark: known.get(mark[1], mark[0]), value)
    if isinstance(value, dict):
        return {name: _filled(inner, known) for name, inner in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_filled(inner, known) for inner in cast("list[Any]", value)]
    return value
