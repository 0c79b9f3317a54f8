"""`agent-doc/config.toml`, the person's own: which agent answers, and how each is started. Pure.

Unknown keys are ignored: the file may be shared with another program of the same name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from redraft.errors import RedraftError

if TYPE_CHECKING:
    from collections.abc import Mapping

CLAUDE, CODEX = "claude", "codex"
ACP = "acp"


@dataclass(frozen=True, slots=True)
class AgentEntry:
    """How an agent is started; with the protocol `acp`, as the person's settings for `redraft ask` say. The two paths
    are reserved: they are parsed but not used yet."""

    command: str = ""
    args: tuple[str, ...] | None = None
    result_path: str = ""
    session_path: str = ""
    protocol: str = ""


@dataclass(frozen=True, slots=True)
class AgentDocConfig:
    """What the person has configured."""

    default_agent: str = ""
    agents: dict[str, AgentEntry] = field(default_factory=dict[str, AgentEntry])

    def agent(self, flag: str | None, in_document: str | None) -> str:
        """Who answers: from the flag, else the document, else this file, else `claude`."""
        return flag or in_document or self.default_agent or CLAUDE


def parse_config(table: Mapping[str, Any], source: str) -> AgentDocConfig:
    """The settings in a parsed file."""
    agents = table.get("agents", {})
    if not isinstance(agents, dict):
        raise _invalid(source, "agents", "a table")
    entries = cast("dict[str, object]", agents)
    return AgentDocConfig(
        _text(table, "default_agent", "default_agent", source),
        {name: _entry(name, entry, source) for name, entry in entries.items()},
    )


def _entry(name: str, given: object, source: str) -> AgentEntry:
    if not isinstance(given, dict):
        raise _invalid(source, f"agents.{name}", "a table")
    table = cast("dict[str, Any]", given)
    args = table.get("args")
    if args is not None and not (isinstance(args, list) and all(isinstance(word, str) for word in cast("Any", args))):
        raise _invalid(source, f"agents.{name}.args", "a list of strings")
    texts = {
        key: _text(table, key, f"agents.{name}.{key}", source)
        for key in ("command", "result_path", "session_path", "protocol")
    }
    if texts["protocol"] not in ("", ACP):
        raise _invalid(source, f"agents.{name}.protocol", f"{ACP!r}, or not given")
    return AgentEntry(args=None if args is None else tuple(cast("list[str]", args)), **texts)


def _text(table: Mapping[str, Any], key: str, shown: str, source: str) -> str:
    value = table.get(key, "")
    if not isinstance(value, str):
        raise _invalid(source, shown, "a string")
    return value


def _invalid(source: str, name: str, what: str) -> RedraftError:
    return RedraftError(f"{source}: {name} must be {what}.", code="invalid_settings", path=source)
