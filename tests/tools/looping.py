"""A tool called by the agent's own loop: a job whose model makes one call, and what it was told of it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from redraft.agent.agent import Agent
from redraft.agent.run.prompts import label_result
from redraft.agent.run.tool_selection import select_tools
from redraft.agent.store.agent_store import AgentStore
from redraft.agent.store.jobs import Status
from redraft.providers.contract import ToolResult
from redraft.tools.registry import load_registry
from redraft.workspace.turns.modes import mode_by_name
from tests.agent.desk import PATIENCE, Playing, says

if TYPE_CHECKING:
    from redraft.agent.store.jobs import Job
    from redraft.workspace.workspace import Workspace

EVERY_TOOL = {"profile": "all"}


class Alone(Playing):
    """A model that plays a script and has no subagents: whole documents are then worked on as without any model."""

    provider_name = "offline"


def offered_to_a_job() -> set[str]:
    return {tool.name for tool in select_tools(load_registry(), EVERY_TOOL, mode_by_name("apply")).tools}


def told_in_a_job(workspace: Workspace, tool: str, arguments: dict[str, Any], answer: str = "") -> dict[str, Any]:
    """What the model was told of its one call, when the job is over and its turn is carried out. The person agrees to
    whatever they are asked to, and answers a question so."""
    model = Alone([says("", {"tool": tool, "arguments": arguments}), says("Done.")])
    with AgentStore(workspace.state) as store:
        agent = Agent(workspace, store, load_registry(), model)
        try:
            job = agent.start(store.sessions.create().id, "Please.", tool_config=EVERY_TOOL)
            _attend(agent, job, answer)
            assert store.jobs.get(job.id).status is Status.COMPLETED
        finally:
            agent.close()
    (result,) = [message for message in model.requests[-1].messages if isinstance(message, ToolResult)]
    return {name: value for name, value in result.content.items() if name not in label_result({})}


def _attend(agent: Agent, job: Job, answer: str) -> None:
    end = time.monotonic() + PATIENCE
    answered = ""
    while agent.is_running_here(job.id):
        assert time.monotonic() < end
        question = agent.store.jobs.get(job.id).question
        if question is not None and question.id != answered:
            answered = question.id
            if question.kind == "clarification":
                agent.answer(job.id, question.id, answer)
            else:
                agent.confirm(job.id, question.id, allow=True)
        time.sleep(0.002)
