"""What a job did, as one record: every action with its result, every change, and what became of it (midlight 2.1).

Made from the recorded steps, the events and the history whenever it is asked for; nothing of it is kept twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from redraft.agent.events import iso

if TYPE_CHECKING:
    from redraft.agent.jobs import Job
    from redraft.agent.store import AgentStore
    from redraft.history.turns import TurnRecord
    from redraft.workspace.workspace import Workspace

STATES = {"proposed": "pending", "applied": "accepted", "discarded": "undone", "undone": "undone"}


def change_record(store: AgentStore, workspace: Workspace, job: Job) -> dict[str, Any] | None:
    """The record of a job that changed something; None where it did not. Its conversation is the session, its message
    the job's request."""
    if job.turn is None:
        return None
    turn = workspace.show(job.turn)
    return {
        "id": f"change_{turn.id}",
        "conversationId": job.session_id,
        "messageId": job.id,
        "timestamp": iso(turn.created),
        "checkpointId": turn.id,
        "actions": actions_of(store, job.id),
        "changes": _changes(workspace, turn),
        "status": STATES.get(str(turn.state), "pending"),
    }


def actions_of(store: AgentStore, job_id: str) -> list[dict[str, Any]]:
    """Each call of a job that was carried out or refused, in order, with when it was."""
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
        for call, result in zip(asked, done, strict=False)  # a call beyond the budget was never made
    ]


def _changes(workspace: Workspace, turn: TurnRecord) -> list[dict[str, Any]]:
    texts = {} if turn.pruned else {path: (before, after) for path, before, after in workspace.turn_texts(turn.id)}
    kinds = {step.path: step.action for step in turn.files}
    found: list[dict[str, Any]] = []
    for path in turn.paths:
        before, after = texts.get(path, ("", ""))
        kind = kinds.get(path) or ("created" if not before else "deleted" if not after else "modified")
        found.append({"path": path, "type": kind, "beforeContent": before, "afterContent": after})
    return found
