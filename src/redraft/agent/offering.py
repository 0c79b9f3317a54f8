"""Which tools a job's model is shown, and how."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from redraft.errors import Refused
from redraft.providers.contract import ToolDefinition
from redraft.tools.registry import Registry
from redraft.workspace.modes import Writes

if TYPE_CHECKING:
    from redraft.agent.jobs import Job
    from redraft.workspace.modes import Mode

MAX_TITLE = 200
PURPOSES: dict[str, Literal["clarify", "edit"]] = {"clarify_user": "clarify", "propose_edits": "edit"}
# A job is one turn as it is: it needs no batch.
NEEDLESS = ("batch",)
# The work of subagents, which a client that is an agent itself does in its own way.
LONG = ("analyze_document", "transform_document")


def offered(registry: Registry, tool_config: dict[str, Any], mode: Mode) -> Registry:
    """The tools of a job: those of its profile that its mode has a use for. No other can be called."""
    profile = tool_config.get("profile", "default")
    if not isinstance(profile, str):
        raise Refused("`profile` is the name of a set of tools.", field="tool_config.profile")
    found = [tool for tool in registry.profile(profile).tools if tool.name not in NEEDLESS]
    found += [registry.get(name) for name in LONG if profile == "default"]
    return Registry(tool for tool in found if tool.risk == "read" or mode.writes is not Writes.NEVER)


def definitions(registry: Registry) -> list[ToolDefinition]:
    """The tools as a model is shown them."""
    return [
        ToolDefinition(tool.name, tool.description, tool.input_schema, PURPOSES.get(tool.name, "work"))
        for tool in registry.tools
    ]


def title_of(job: Job) -> str:
    """What the job's turn is called in the history."""
    return " ".join(job.instruction.split())[:MAX_TITLE] or "Ask"
