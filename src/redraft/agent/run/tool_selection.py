"""Which tools a job's model gets, and how they are described."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from redraft.errors import Refused
from redraft.providers.contract import ToolDefinition
from redraft.tools.registry import Registry
from redraft.workspace.turns.modes import WriteTime

if TYPE_CHECKING:
    from redraft.agent.store.jobs import Job
    from redraft.workspace.turns.modes import Mode

MAX_TITLE = 200
PURPOSES: dict[str, Literal["clarify", "edit"]] = {"clarify_user": "clarify", "propose_edits": "edit"}


def select_tools(registry: Registry, tool_config: dict[str, Any], mode: Mode) -> Registry:
    """The tools of a job: those of its profile that its mode can use. No other can be called."""
    profile = tool_config.get("profile", "default")
    if not isinstance(profile, str):
        raise Refused("`profile` must be the name of a set of tools.", field="tool_config.profile")
    found = list(registry.profile(profile).tools)
    if profile == "default":  # an outside agent does in its own way what subagents do here
        found += [tool for tool in registry.tools if "model" in tool.needs]
    return Registry(tool for tool in found if tool.risk == "read" or mode.writes is not WriteTime.NEVER)


def tool_definitions(registry: Registry) -> list[ToolDefinition]:
    """The tools as definitions for a model."""
    return [
        ToolDefinition(tool.name, tool.description, tool.input_schema, PURPOSES.get(tool.name, "work"))
        for tool in registry.tools
    ]


def title_of(job: Job) -> str:
    """The title of the job's turn in the history."""
    return " ".join(job.instruction.split())[:MAX_TITLE] or "Ask"
