"""A session's conversation as updates, for an editor that loads it again.

A job is told from its recorded steps: every word of the model, every call with its answer. What was recorded of an old
job is deleted after a while; then the chat has its request, a line for each call, and its answer. A document that has
become a secret since is not shown.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from acp.helpers import start_tool_call, update_agent_message_text, update_user_message_text

from redraft.acp_server.prompt_run import closing_note
from redraft.acp_server.tool_calls import TextChange, ToolCallView, kind_of
from redraft.agent.run.truncate import preview_json
from redraft.agent.store.jobs import NO_ANSWER, Status
from redraft.errors import RedraftError
from redraft.providers.contract import ProviderStepResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acp.helpers import SessionUpdate

    from redraft.acp_server.client_session import ClientSession
    from redraft.agent.store.jobs import Job
    from redraft.agent.store.sessions import ChatEntry
    from redraft.providers.contract import ToolCall


def replay(session: ClientSession) -> list[SessionUpdate]:
    """Everything that was said and done in a session, in order."""
    store = session.folder.agent.store
    jobs = {job.id: job for job in store.jobs.of_session(session.id)}
    found: list[SessionUpdate] = []
    told: set[str] = set()
    for entry in store.sessions.get(session.id).chat:
        job = jobs.get(entry.job_id or "")
        if entry.role == "user":
            found.append(update_user_message_text(entry.text))
        elif job is not None and job.id not in told and (updates := list(_job_updates(session, job))):
            told.add(job.id)
            found += updates
        elif entry.job_id not in told:
            found.append(_entry_update(entry, len(found)))
        if entry.role == "assistant" and job is not None and job.status is Status.REVIEW:
            found.append(update_agent_message_text(f"\n\n{closing_note(session, job)}"))
    return found


def _entry_update(entry: ChatEntry, number: int) -> SessionUpdate:
    if entry.role != "tool":
        return update_agent_message_text(entry.text)
    status = "completed" if entry.data.get("ok") else "failed"
    tool = str(entry.data.get("tool", ""))
    return start_tool_call(f"{entry.job_id}-{number}", entry.text, kind=kind_of(tool), status=status)


def _job_updates(session: ClientSession, job: Job) -> Iterator[SessionUpdate]:
    """What a job said and did, by its recorded steps; nothing if they are gone."""
    records = _records(session, job)
    last_edit = {
        path: record["tool_call_id"] for record in records if record.get("ok") for path in _find_edited_paths(record)
    }
    changes = _turn_changes(session, job)
    said = ""
    for record in records:
        if "said" in record:
            said = record["said"]
            yield update_agent_message_text(said)
            continue
        call_id = record["tool_call_id"]
        view = ToolCallView(session.folder.path, job.id, call_id, record["tool"], record["arguments"])
        yield view.start()
        own = [change for change in changes if last_edit.get(change.path) == call_id]
        yield view.end("completed" if record["ok"] else "failed", record["result"], own)
        if answer := _person_answer(record):
            yield update_user_message_text(answer)
    if records and (rest := job.answer.removeprefix(said) if job.answer != said else ""):
        yield update_agent_message_text(rest)


def _records(session: ClientSession, job: Job) -> list[dict[str, Any]]:
    """The model's texts and its calls with their answers, in order, without secrets. A call that never ran is left
    out."""
    found: list[dict[str, Any]] = []
    calls: list[ToolCall] = []
    for step in session.folder.agent.store.steps.of(job.id):
        if step.kind == "model" and "result" in step.value:
            result = ProviderStepResult.from_dict(step.value["result"])
            calls = list(result.tool_calls)
            if result.text:
                found.append({"said": result.text})
        elif step.kind == "tool" and calls:
            call = calls.pop(0)
            found.append(
                {
                    "tool_call_id": call.id,
                    "tool": call.name,
                    "arguments": json.loads(preview_json(call.arguments)),
                    "ok": step.value["ok"],
                    "result": json.loads(preview_json(step.value["told"])),
                }
            )
    return session.folder.workspace.mask_records(found, job.created_at)


def _person_answer(record: dict[str, Any]) -> str:
    """What the person answered to a question of the model's."""
    answer = record["result"].get("answer") if record["tool"] == "clarify_user" and record["ok"] else None
    return "" if answer in (None, NO_ANSWER) else str(answer)


def _find_edited_paths(record: dict[str, Any]) -> list[str]:
    is_edit = "tool" in record and kind_of(record["tool"]) in ("edit", "delete", "move")
    return ToolCallView("", "", "", record["tool"], record["arguments"]).paths if is_edit else []


def _turn_changes(session: ClientSession, job: Job) -> list[TextChange]:
    """What the job's turn changed. It is shown at the last call that changed the document."""
    if job.turn is None:
        return []
    try:
        with session.folder.agent.environment.guard:
            texts = session.folder.workspace.turn_texts(job.turn)
    except RedraftError:  # the history no longer has it
        return []
    return [TextChange(path, old, new) for path, old, new in texts if old != new]
